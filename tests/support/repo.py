"""Git repositories for tests, built so that nothing of the machine or its user leaks in."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree

_FOREIGN = (
    "GIT_",
    "GITHUB_",
    "GITLAB_",
    "GITEA_",
    "CI_",
    "AZURE_",
    "SYSTEM_",
    "BITBUCKET_",
    "BITRISEIO_",
    "BUILDKITE_",
    "CF_",
    "CHANGE_",
    "CIRCLE_",
    "CIRRUS_",
    "CODEBUILD_",
    "DRONE_",
    "APPVEYOR_",
    "PULL_",
    "SEMAPHORE_",
    "TRAVIS_",
)
_FIRST_COMMIT = 1_767_225_600  # 2026-01-01T00:00:00Z; each commit is a minute later


def hermetic_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Give an environment in which git reads no settings but the repository's own.

    Variables of git and of CI hosts are left out, names and dates of commits are fixed.
    """
    kept = {
        name: value
        for name, value in environment.items()
        if not name.upper().startswith(_FOREIGN) and name.upper() != "CI"
    }
    return kept | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "XDG_CONFIG_HOME": os.devnull,  # git reads ignore and attributes files from there
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "Ada Author",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Cy Committer",
        "GIT_COMMITTER_EMAIL": "cy@example.org",
        "GIT_AUTHOR_DATE": f"{_FIRST_COMMIT} +0000",
        "GIT_COMMITTER_DATE": f"{_FIRST_COMMIT} +0000",
        "LC_ALL": "C.UTF-8",
    }


class Repo:
    """A repository with a work tree; made at ``path`` unless one is there already."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.environment = hermetic_environment()
        self._commits = 0
        if not (path / ".git").exists():
            path.mkdir(parents=True, exist_ok=True)
            self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, input: bytes = b"", **environment: str) -> str:  # noqa: A002
        """Run git in the work tree and return what it printed, without the last newline.

        Raises:
            AssertionError: git failed; the message holds what it said.
        """
        date = f"{_FIRST_COMMIT + 60 * self._commits} +0000"
        dated = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],  # noqa: S607
            cwd=self.path,
            env=self.environment | dated | environment,
            input=input,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, f"git {arguments}: {os.fsdecode(done.stderr)}"
        return os.fsdecode(done.stdout).removesuffix("\n")

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write files, making folders as needed; None deletes. Text becomes UTF-8, untouched."""
        for name, content in files.items():
            path = self.path / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def replace(self, tree: Mapping[str, str | bytes]) -> None:
        """Make the work tree hold these files and nothing else."""
        for entry in self.path.iterdir():
            if entry.name == ".git":
                continue
            if entry.is_dir() and not entry.is_symlink():
                rmtree(entry)
            else:
                entry.unlink()
        self.write(tree)

    def commit(
        self, message: str = "change", files: Mapping[str, str | bytes | None] | None = None
    ) -> str:
        """Write ``files``, commit the whole work tree (changed or not), return the commit id."""
        self.write(files or {})
        self._commits += 1
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--no-verify", "--message", message)
        return self.head

    def branch(self, name: str, start: str = "HEAD") -> None:
        """Make a branch (or reset it) and switch to it."""
        self.git("checkout", "--quiet", "-B", name, start, "--")

    def switch(self, revision: str) -> None:
        """Check out a branch, or another revision with a detached HEAD."""
        self.git("checkout", "--quiet", revision, "--")

    def merge(self, *revisions: str, message: str = "merge") -> str:
        """Merge into the current branch, always with a merge commit; return its id."""
        self._commits += 1
        self.git("merge", "--quiet", "--no-ff", "--no-verify", "--message", message, *revisions)
        return self.head

    def remote_branch(self, name: str, revision: str = "HEAD") -> None:
        """Pretend that ``origin`` was fetched with this branch at a revision."""
        self.git("update-ref", f"refs/remotes/origin/{name}", revision)

    def clone(self, path: Path, *options: str) -> "Repo":
        """Clone to another folder by ``file://``, so that ``--depth`` is honoured."""
        self.git("clone", "--quiet", *options, self.path.as_uri(), str(path))
        return Repo(path)

    @property
    def head(self) -> str:
        """The id of the commit that is checked out."""
        return self.git("rev-parse", "HEAD")

    def status(self) -> str:
        """Say what differs from HEAD, ignored files too."""
        return self.git("--no-optional-locks", "status", "--porcelain", "--ignored")


def two_commits(
    path: Path, base: Mapping[str, str | bytes], head: Mapping[str, str | bytes]
) -> Repo:
    """Build a repository: ``base`` on main and origin/main, ``head`` on a branch ``patch``."""
    repo = Repo(path)
    repo.commit("base", base)
    repo.remote_branch("main")
    repo.branch("patch")
    repo.replace(head)
    repo.commit("head")
    return repo
