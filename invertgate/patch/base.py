"""Find the commit that a patch is compared with: the merge base, or a sentence on what to do."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from invertgate.errors import NoBaseError
from invertgate.patch.git import Repository, refusal


@dataclass(frozen=True, slots=True)
class Base:
    """The merge base, and how it was found."""

    commit: str
    name: str
    """In words (``merge base with origin/main``)."""
    head: str
    """The commit that is judged, or on which the working tree stands."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """What a CI host says about the target of the change that it builds."""

    name: str
    is_commit: bool = False
    """It holds a commit id, else the name of a branch."""
    only_if: str = ""
    """It means the target only while this variable holds something, and not "false"."""


_HOSTS: Final[tuple[tuple[Variable, ...], ...]] = (
    (Variable("GITHUB_BASE_REF"),),  # Gitea and Forgejo set it too
    (
        Variable("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", is_commit=True),  # merged results only
        Variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", is_commit=True),
        Variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
    ),
    (
        Variable("CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA", is_commit=True),
        Variable("CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME"),
    ),
    (
        Variable("BITBUCKET_PR_DESTINATION_BRANCH"),
        Variable("BITBUCKET_PR_DESTINATION_COMMIT", is_commit=True),
    ),
    (Variable("SYSTEM_PULLREQUEST_TARGETBRANCH"),),  # Azure Pipelines
    (Variable("BUILDKITE_PULL_REQUEST_BASE_BRANCH", only_if="BUILDKITE_PULL_REQUEST"),),
    (Variable("CHANGE_TARGET"),),  # Jenkins
    (Variable("TRAVIS_BRANCH", only_if="TRAVIS_PULL_REQUEST"),),
    (Variable("DRONE_TARGET_BRANCH", only_if="DRONE_PULL_REQUEST"),),
    (Variable("CI_COMMIT_TARGET_BRANCH"),),  # Woodpecker
    (Variable("APPVEYOR_REPO_BRANCH", only_if="APPVEYOR_PULL_REQUEST_NUMBER"),),
    (Variable("SEMAPHORE_GIT_BRANCH", only_if="SEMAPHORE_GIT_PR_NUMBER"),),
    (Variable("CIRRUS_BASE_BRANCH"), Variable("CIRRUS_BASE_SHA", is_commit=True)),
    (Variable("CODEBUILD_WEBHOOK_BASE_REF"),),
    (Variable("CF_PULL_REQUEST_TARGET"),),  # Codefresh
    (Variable("BITRISEIO_GIT_BRANCH_DEST"),),
    (Variable("PULL_BASE_REF", only_if="PULL_NUMBER"),),  # Prow
)
_DEFAULTS: Final = ("HEAD", "main", "master")
_DEPTH: Final = "in CI, check out the whole history (GitHub: fetch-depth: 0, GitLab: GIT_DEPTH: 0)"


@dataclass(frozen=True, slots=True)
class _Offer:
    """A revision that may be the base, and what a reader calls it."""

    revision: str
    name: str
    said_by: str = ""


def find_base(repository: Repository, base: str | None, head: str | None) -> Base:
    """Find the merge base of a head and the first base that is named.

    Args:
        repository: Its environment is asked for what a CI host says.
        base: A revision that the user or the configuration names; empty if neither does.
        head: The revision that is judged; empty for the working tree.

    Raises:
        NoBaseError: There is none; the message says what to do.
    """
    named = _named(base) if base else tuple(_said_by_host(repository.environment))
    defaults = tuple(_remote(branch) for branch in _DEFAULTS)
    head_commit, *commits = _resolved(repository, head or "HEAD", (*named, *defaults))
    if head_commit is None:
        raise NoBaseError(_no_head(head))
    found = _first_known(named or defaults, commits)
    if found is None and not named:
        found = _local_branch(repository, head, head_commit)
    if found is None:
        raise NoBaseError(_nothing_to_compare_with(repository, base, named))
    offer, commit = found
    merge_bases = _merge_bases(repository, head or "HEAD", head_commit, offer.name, commit)
    notes = (
        *_choice(merge_bases, offer.name),
        *_locality(offer),
        *_age(
            repository,
            merge_bases[0],
            head_commit,
            offer,
            _first_known(defaults, commits[len(named) :]),
        ),
    )
    said_by = f" ({offer.said_by})" if offer.said_by else ""
    return Base(merge_bases[0], f"merge base with {offer.name}{said_by}", head_commit, notes)


def _named(base: str) -> tuple[_Offer, ...]:
    # A CI checkout often has origin/main and no main; "--base main" means the same there.
    return (_Offer(base, base), _Offer(f"refs/remotes/origin/{base}", f"origin/{base}"))


def _said_by_host(environment: Mapping[str, str]) -> Iterator[_Offer]:
    for variables in _HOSTS:
        said = [variable for variable in variables if _counts(variable, environment)]
        for variable in said:
            value = environment[variable.name].strip()
            if variable.is_commit:
                yield _Offer(value, value[:12], variable.name)
                continue
            branch = value.removeprefix("refs/heads/")
            yield _Offer(f"refs/remotes/origin/{branch}", f"origin/{branch}", variable.name)
            yield _Offer(f"refs/heads/{branch}", branch, variable.name)
        if said:
            return


def _counts(variable: Variable, environment: Mapping[str, str]) -> bool:
    condition = environment.get(variable.only_if, "") if variable.only_if else "true"
    return bool(environment.get(variable.name, "").strip()) and condition not in {"", "false"}


def _remote(branch: str) -> _Offer:
    return _Offer(f"refs/remotes/origin/{branch}", f"origin/{branch}")


def _resolved(repository: Repository, head: str, offers: tuple[_Offer, ...]) -> list[str | None]:
    # One question a line: what holds a line break names nothing, and must not be two questions.
    revisions = [head, *(offer.revision for offer in offers)]
    return repository.commits("" if "\n" in name else name for name in revisions)


def _first_known(
    offers: tuple[_Offer, ...], commits: list[str | None]
) -> tuple[_Offer, str] | None:
    pairs = zip(offers, commits, strict=False)
    return next(((offer, commit) for offer, commit in pairs if commit is not None), None)


def _local_branch(
    repository: Repository, head: str | None, head_commit: str
) -> tuple[_Offer, str] | None:
    """Fall back on the trunk of a repository that was never pushed, unless it is what is judged."""
    offers = tuple(_Offer(f"refs/heads/{branch}", branch, "local") for branch in _DEFAULTS[1:])
    commits = repository.commits(offer.revision for offer in offers)
    current = repository.ask("symbolic-ref", "--quiet", "HEAD").stdout.decode(errors="replace")
    branch = "" if head else current.strip()
    for offer, commit in zip(offers, commits, strict=True):
        if branch == offer.revision:
            return None
        if commit is not None and (branch or commit != head_commit):
            return offer, commit
    return None


def _merge_bases(
    repository: Repository, head: str, head_commit: str, name: str, commit: str
) -> list[str]:
    if head_commit == commit:
        return [commit]
    done = repository.ask("merge-base", "--all", head_commit, commit)
    bases = done.stdout.decode().split()
    if done.code == 0 and bases:
        return bases
    if done.code not in {0, 1}:
        raise NoBaseError(f"git merge-base failed: {refusal(done.stderr)}")
    if repository.shallow:
        raise NoBaseError(
            f"this shallow clone does not reach the merge base of {head} and {name}; "
            f"run git fetch --unshallow, or {_DEPTH}"
        )
    raise NoBaseError(
        f"{head} and {name} share no commit; name a base that they share with --base REV"
    )


def _choice(merge_bases: list[str], name: str) -> Iterator[str]:
    if len(merge_bases) > 1:
        chosen, *others = (commit[:12] for commit in merge_bases)
        yield (
            f"{len(merge_bases)} merge bases with {name}; "
            f"compared with {chosen}, not with {', '.join(others)}"
        )


def _locality(offer: _Offer) -> Iterator[str]:
    if offer.said_by == "local":
        yield f"there is no origin to compare with; compared with the local branch {offer.name}"


def _age(
    repository: Repository,
    merge_base: str,
    head_commit: str,
    offer: _Offer,
    default: tuple[_Offer, str] | None,
) -> Iterator[str]:
    """Warn of a commit id that a CI event recorded before the head took in more of the trunk."""
    if default is None or not re.fullmatch(r"[0-9a-f]{7,64}", offer.revision):
        return
    trunk, tip = default
    newer = repository.ask("merge-base", head_commit, tip).stdout.decode().strip()
    if newer in {"", merge_base}:
        return
    if repository.ask("merge-base", "--is-ancestor", merge_base, newer).code == 0:
        yield (
            f"{offer.name} is older than the merge base with {trunk.name} ({newer[:12]}): "
            f"what {trunk.name} brought in between is judged too"
        )


def _no_head(head: str | None) -> str:
    if head:
        return f"--head {head} names no commit here; fetch it, or correct the name"
    return "the repository has no commit yet; commit something first"


def _nothing_to_compare_with(
    repository: Repository, base: str | None, named: tuple[_Offer, ...]
) -> str:
    unshallow = "git fetch --unshallow" if repository.shallow else "git fetch origin"
    if base:
        return (
            f"the base {' '.join(base.split())} names no commit here; run {unshallow}, or {_DEPTH}"
        )
    if named:
        return (
            f"{named[0].said_by} names {named[0].name} as the base, which is not in this clone; "
            f"run {unshallow}, or {_DEPTH}"
        )
    return (
        "nothing to compare with: no --base, and no origin/HEAD, origin/main or origin/master; "
        f"pass --base REV (HEAD for what is not committed), run {unshallow}, or {_DEPTH}"
    )
