"""What is read of files that differ between a merge base and a head."""

import os
from pathlib import Path

import pytest

from invertgate.errors import NoBaseError
from invertgate.model import ChangedFile, Patch
from invertgate.patch.changes import read
from invertgate.patch.scope import Rules
from support.repo import Repo, two_commits

IF = "def f(x):\n    if x:\n        return 1\n    return 2\n"
MORE = IF + "\n\ndef g(y):\n    if y:\n        return 3\n    return 4\n"


def judge(repo: Repo, *, head: str | None = None, rules: Rules | None = None) -> Patch:
    return read(repo.path, head=head, rules=rules, environment=repo.environment)


def one(patch: Patch) -> ChangedFile:
    [file] = patch.files
    return file


def reasons(patch: Patch) -> dict[str, str]:
    return {left.path: left.reason for left in patch.left_out}


@pytest.fixture
def trunk(tmp_path: Path) -> Repo:
    """A work tree on main, which origin has too."""
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"f.py": IF, "doc.txt": "text\n"})
    repo.remote_branch("main")
    return repo


def test_changed_file_has_both_contents_and_its_added_lines(trunk: Repo) -> None:
    trunk.commit("more", {"f.py": MORE})

    file = one(judge(trunk))

    assert (file.path, file.base_path) == ("f.py", "f.py")
    assert (file.base, file.head) == (IF.encode(), MORE.encode())
    assert file.added == {5, 6, 7, 8, 9, 10}
    assert file.is_row_source


def test_new_file_has_no_base_and_all_lines_added(trunk: Repo) -> None:
    trunk.commit("new", {"g.py": IF})

    file = one(judge(trunk))

    assert (file.path, file.base_path, file.base) == ("g.py", None, None)
    assert file.added == {1, 2, 3, 4}


def test_empty_new_file_has_no_lines(trunk: Repo) -> None:
    trunk.commit("new", {"g.py": ""})

    assert one(judge(trunk)).added == frozenset()


def test_deleted_file_only_lends(trunk: Repo) -> None:
    trunk.commit("gone", {"f.py": None})

    file = one(judge(trunk))

    assert (file.path, file.base_path, file.base) == ("f.py", "f.py", IF.encode())
    assert file.head is None
    assert not file.is_row_source


@pytest.mark.parametrize("how", ["unstaged", "staged", "intent to add", "untracked"])
def test_working_tree_is_judged_as_it_lies_there(trunk: Repo, how: str) -> None:
    trunk.write({"new.py": IF} if how in {"intent to add", "untracked"} else {"f.py": MORE})
    if how == "staged":
        trunk.git("add", "f.py")
    if how == "intent to add":
        trunk.git("add", "--intent-to-add", "new.py")

    file = one(judge(trunk))

    assert file.head == (trunk.path / file.path).read_bytes()
    assert (
        file.added >= {1, 2, 3, 4} if file.path == "new.py" else file.added == {5, 6, 7, 8, 9, 10}
    )


def test_staged_and_then_edited_file_is_judged_as_edited(trunk: Repo) -> None:
    trunk.write({"f.py": MORE})
    trunk.git("add", "f.py")
    trunk.write({"f.py": MORE.replace("y", "zz")})

    assert b"zz" in (one(judge(trunk)).head or b"")


def test_ignored_file_is_not_judged(trunk: Repo) -> None:
    trunk.commit("ignore", {".gitignore": "gen/\n"})
    trunk.write({"gen/g.py": IF})

    assert judge(trunk).files == ()


def test_head_revision_is_judged_without_the_working_tree(trunk: Repo) -> None:
    commit = trunk.commit("more", {"f.py": MORE})
    trunk.write({"f.py": "broken(", "new.py": IF})

    patch = judge(trunk, head="HEAD")

    assert patch.head == commit
    assert one(patch).head == MORE.encode()
    assert one(patch).added == {5, 6, 7, 8, 9, 10}


def test_head_revision_that_is_not_checked_out_is_judged(trunk: Repo) -> None:
    trunk.branch("patch")
    trunk.commit("more", {"f.py": MORE})
    trunk.switch("main")

    assert one(judge(trunk, head="patch")).head == MORE.encode()


LONG = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(20))


@pytest.mark.parametrize("how", ["committed", "staged", "only moved on the disk"])
def test_rename_is_followed(trunk: Repo, how: str) -> None:
    trunk.commit("long", {"old.py": LONG})
    trunk.remote_branch("main")
    trunk.write({"old.py": None, "pkg/new.py": LONG + IF})
    if how == "staged":
        trunk.git("add", "--all")
    if how == "committed":
        trunk.commit("move")

    file = one(judge(trunk))

    assert (file.path, file.base_path) == ("pkg/new.py", "old.py")
    assert file.base == LONG.encode()
    assert file.added == {81, 82, 83, 84}


def test_mere_rename_adds_no_line(trunk: Repo) -> None:
    trunk.commit("long", {"old.py": LONG})
    trunk.remote_branch("main")
    trunk.commit("move", {"old.py": None, "new.py": LONG})

    assert one(judge(trunk)).added == frozenset()


def test_rename_below_half_likeness_is_a_new_file(trunk: Repo) -> None:
    trunk.commit("move", {"f.py": None, "new.py": LONG})

    by_path = {file.path: file for file in judge(trunk).files}

    assert by_path["new.py"].base is None
    assert by_path["f.py"].head is None


def test_copy_is_a_new_file(trunk: Repo) -> None:
    trunk.commit("long", {"old.py": LONG})
    trunk.remote_branch("main")
    trunk.commit("copy", {"new.py": LONG, "old.py": LONG + IF})

    by_path = {file.path: file for file in judge(trunk).files}

    assert by_path["new.py"].base is None
    assert by_path["old.py"].base == LONG.encode()


NAMES = [
    "pkg/naïve.py",
    'pkg/q"uote.py',
    "dir with space/a b.py",
    "pkg/line\u2028separator.py",
    "pkg/back\\slash.py",
    "pkg/tab\there.py",
    "pkg/new\nline.py",
    "b/b/b.py",
    "-p.py",
    ":(glob).py",
    "pkg/" + os.fsdecode(b"latin-\xe9") + ".py",
]


@pytest.mark.parametrize("quote_path", ["", "true", "false"])
@pytest.mark.parametrize("form", ["committed", "edited", "untracked", "renamed"])
def test_odd_names_are_all_found(tmp_path: Path, quote_path: str, form: str) -> None:
    repo = Repo(tmp_path / "repo")
    if quote_path:
        repo.git("config", "core.quotePath", quote_path)
    old = {"x/" + name: LONG + f"# {name!a}\n" for name in NAMES}
    base = {"edited": dict.fromkeys(NAMES, LONG), "renamed": old}.get(form, {})
    repo.commit("base", base)
    repo.remote_branch("main")
    repo.write({path: None for path in base if form == "renamed"})
    repo.write({name: LONG + f"# {name!a}\n" + IF for name in NAMES})
    if form != "untracked":
        repo.commit("head")

    files = {file.path: file for file in judge(repo).files}

    assert sorted(files) == sorted(NAMES)
    added = {len(file.added) for file in files.values()}
    assert added == {"edited": {5}, "renamed": {4}}.get(form, {85})


CONFIGURATIONS = [
    ("diff.noprefix", "true"),
    ("diff.mnemonicPrefix", "true"),
    ("diff.external", "true"),
    ("color.diff", "always"),
    ("color.ui", "always"),
    ("diff.relative", "true"),
    ("diff.renames", "false"),
    ("diff.renames", "copies"),
    ("diff.renameLimit", "1"),
    ("diff.orderFile", "order"),
    ("diff.algorithm", "patience"),
    ("diff.context", "9"),
    ("diff.interHunkContext", "9"),
    ("diff.submodule", "log"),
    ("diff.ignoreSubmodules", "all"),
    ("diff.srcPrefix", "x/"),
    ("diff.dstPrefix", "y/"),
    ("diff.wsErrorHighlight", "all"),
    ("diff.colorMoved", "zebra"),
    ("diff.python.textconv", "true"),
    ("diff.python.command", "true"),
    ("diff.python.binary", "true"),
    ("core.pager", "false"),
    ("core.abbrev", "4"),
    ("core.quotePath", "true"),
    ("core.fsmonitor", "false-hook"),
    ("core.untrackedCache", "true"),
    ("core.splitIndex", "true"),
    ("log.showSignature", "true"),
    ("grep.patternType", "perl"),
    ("grep.lineNumber", "true"),
    ("grep.fullName", "false"),
    ("status.showUntrackedFiles", "no"),
    ("submodule.recurse", "true"),
]


@pytest.fixture(scope="module")
def everyday(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repo, Patch]:
    """A patch with an edit, a rename, a new file and a test, and how it is read by default."""
    base = {"f.py": IF, "old.py": LONG, "sub/x.py": LONG, "order": "*.txt\n"}
    base |= {".gitattributes": "*.py diff=python\n"}
    repo = Repo(tmp_path_factory.mktemp("everyday") / "repo")
    repo.commit("base", base)
    repo.remote_branch("main")
    moved = {"old.py": None, "sub/new.py": LONG + IF, "f.py": MORE, "sub/x.py": IF + LONG}
    repo.commit("head", moved | {"tests/test_f.py": "import f\n"})
    repo.write({"untracked.py": IF})
    return repo, judge(repo)


@pytest.mark.parametrize(("key", "value"), CONFIGURATIONS)
def test_settings_of_the_user_change_nothing(
    everyday: tuple[Repo, Patch], key: str, value: str
) -> None:
    repo, expected = everyday
    settings = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": key, "GIT_CONFIG_VALUE_0": value}

    from_the_top = read(repo.path, environment=repo.environment | settings)
    from_below = read(repo.path / "sub", environment=repo.environment | settings)

    assert [file.path for file in expected.files] == [
        "f.py",
        "sub/new.py",
        "sub/x.py",
        "untracked.py",
    ]
    assert from_the_top == expected
    assert from_below == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_EXTERNAL_DIFF", "true"),
        ("GIT_DIFF_OPTS", "-u9"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_ICASE_PATHSPECS", "1"),
        ("GIT_DIR", "/nowhere"),
        ("GIT_WORK_TREE", "/nowhere"),
        ("GIT_INDEX_FILE", "/nowhere"),
        ("GIT_OBJECT_DIRECTORY", "/nowhere"),
        ("GIT_COMMON_DIR", "/nowhere"),
        ("GIT_NAMESPACE", "other"),
        ("GIT_PREFIX", "sub/"),
        ("GIT_PAGER", "false"),
        ("LC_ALL", "de_DE.UTF-8"),
    ],
)
def test_variables_of_git_change_nothing(
    everyday: tuple[Repo, Patch], name: str, value: str
) -> None:
    repo, expected = everyday

    assert read(repo.path, environment=repo.environment | {name: value}) == expected


@pytest.mark.parametrize("attribute", ["-diff", "binary", "-text", "diff=python", "eol=crlf"])
def test_attributes_do_not_hide_added_lines(trunk: Repo, attribute: str) -> None:
    trunk.commit("attributes", {".gitattributes": f"*.py {attribute}\n"})
    trunk.remote_branch("main")
    trunk.write({"f.py": MORE})

    assert one(judge(trunk)).added == {5, 6, 7, 8, 9, 10}


def test_crlf_checkout_of_an_unchanged_file_is_no_change(trunk: Repo) -> None:
    trunk.commit("attributes", {".gitattributes": "*.py text eol=crlf\n"})
    trunk.remote_branch("main")
    trunk.write({"f.py": IF.replace("\n", "\r\n")})

    assert judge(trunk).files == ()


def test_lone_carriage_returns_count_as_lines(trunk: Repo) -> None:
    trunk.commit("old mac", {"f.py": IF.replace("\n", "\r")})
    trunk.remote_branch("main")
    trunk.write({"f.py": MORE.replace("\n", "\r")})

    assert one(judge(trunk)).added >= set(range(5, 11))


def test_index_head_and_files_of_the_user_stay_as_they_are(trunk: Repo) -> None:
    trunk.commit("long", {"old.py": LONG})
    trunk.remote_branch("main")
    trunk.write({"old.py": None, "new.py": LONG, "f.py": MORE})
    os.utime(trunk.path / "doc.txt", (1, 1))
    git = trunk.path / ".git"
    before = {path: path.read_bytes() for path in sorted(git.rglob("*")) if path.is_file()}

    judge(trunk)

    after = {path: path.read_bytes() for path in sorted(git.rglob("*")) if path.is_file()}
    assert before == after


def test_file_that_was_only_touched_is_no_change(trunk: Repo) -> None:
    os.utime(trunk.path / "doc.txt", (1, 1))
    os.utime(trunk.path / "f.py", (1, 1))

    patch = judge(trunk)

    assert patch.files == ()
    assert patch.left_out == ()


def test_linked_worktree_is_judged_from_inside_a_hook(trunk: Repo, tmp_path: Path) -> None:
    trunk.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    linked.commit("more", {"f.py": MORE})
    hook = {"GIT_DIR": str(trunk.path / ".git"), "GIT_INDEX_FILE": str(trunk.path / ".git/index")}

    patch = read(linked.path, environment=linked.environment | hook)

    assert one(patch).head == MORE.encode()


def test_submodule_and_nested_repository_are_left_out(trunk: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.commit("other", {"o.py": IF})
    trunk.git("submodule", "--quiet", "add", str(other.path), "lib")
    trunk.commit("submodule")
    Repo(trunk.path / "nested").commit("nested", {"n.py": IF})

    patch = judge(trunk)

    assert patch.files == ()
    assert reasons(patch)["lib"] == "another git repository"
    assert reasons(patch)["nested/"] == "another git repository"


def test_symbolic_links_are_left_out(trunk: Repo, tmp_path: Path) -> None:
    (tmp_path / "far.py").write_text(IF)
    (trunk.path / "near.py").symlink_to("f.py")
    (trunk.path / "far.py").symlink_to(tmp_path / "far.py")
    trunk.git("add", "near.py")

    assert reasons(judge(trunk)) == {
        "near.py": "symbolic link (its target is judged where it lies)",
        "far.py": "symbolic link (out of the repository)",
    }


def test_link_that_became_a_file_is_new(trunk: Repo) -> None:
    (trunk.path / "near.py").symlink_to("f.py")
    trunk.commit("link")
    trunk.remote_branch("main")
    (trunk.path / "near.py").unlink()
    trunk.commit("file", {"near.py": IF})

    file = one(judge(trunk))

    assert file.base is None
    assert file.added == {1, 2, 3, 4}


def test_changed_file_of_a_sparse_checkout_is_no_base_and_no_deletion(trunk: Repo) -> None:
    trunk.commit("two folders", {"a/x.py": IF, "b/y.py": IF})
    trunk.remote_branch("main")
    trunk.branch("patch")
    trunk.commit("edit", {"b/y.py": MORE})
    trunk.git("sparse-checkout", "set", "a")
    assert not (trunk.path / "b/y.py").exists()

    with pytest.raises(NoBaseError, match=r"b/y\.py .* git sparse-checkout disable"):
        judge(trunk)


def test_sparse_checkout_elsewhere_does_no_harm(trunk: Repo) -> None:
    trunk.commit("two folders", {"a/x.py": IF, "b/y.py": IF})
    trunk.remote_branch("main")
    trunk.git("sparse-checkout", "set", "a")
    trunk.write({"a/x.py": MORE})

    assert one(judge(trunk)).path == "a/x.py"


def partial_clone(trunk: Repo, tmp_path: Path) -> Repo:
    trunk.git("config", "uploadpack.allowFilter", "true")
    trunk.branch("patch")
    trunk.commit("edit", {"f.py": MORE})
    clone = trunk.clone(tmp_path / "clone", "--filter=blob:none")
    clone.environment["GIT_ALLOW_PROTOCOL"] = "file"
    return clone


def test_partial_clone_fetches_what_it_lacks(trunk: Repo, tmp_path: Path) -> None:
    clone = partial_clone(trunk, tmp_path)

    patch = read(clone.path, base="origin/main", environment=clone.environment)

    assert one(patch).base == IF.encode()


def test_partial_clone_without_its_remote_is_no_base(trunk: Repo, tmp_path: Path) -> None:
    clone = partial_clone(trunk, tmp_path)
    clone.git("config", "remote.origin.url", (tmp_path / "gone").as_uri())

    with pytest.raises(NoBaseError, match="clone without --filter, or let git reach its remote"):
        read(clone.path, base="origin/main", environment=clone.environment)


def test_hidden_edits_are_told_of(trunk: Repo) -> None:
    trunk.git("update-index", "--assume-unchanged", "f.py")
    trunk.write({"f.py": MORE})

    [note] = judge(trunk).notes

    assert "take f.py for unchanged" in note


def test_conflicted_file_is_judged_with_its_markers(trunk: Repo) -> None:
    trunk.branch("patch")
    trunk.commit("ours", {"f.py": IF.replace("x", "ours")})
    trunk.branch("other", "main")
    trunk.commit("theirs", {"f.py": IF.replace("x", "theirs")})
    with pytest.raises(AssertionError, match="merge"):
        trunk.merge("patch")

    file = one(judge(trunk))

    assert b"<<<<<<<" in (file.head or b"")
    assert file.base == IF.encode()


def test_mode_change_alone_adds_no_line(trunk: Repo) -> None:
    trunk.git("update-index", "--chmod=+x", "f.py")
    (trunk.path / "f.py").chmod(0o755)

    assert one(judge(trunk)).added == frozenset()


def test_added_lines_that_look_like_headers_are_counted(trunk: Repo) -> None:
    odd = 'S = """\n++ b/other.py\n@@ -1 +1,9 @@\n--- a/x\ndiff --git a/x b/x\n"""\n'
    trunk.write({"f.py": odd + IF})

    assert one(judge(trunk)).added == {1, 2, 3, 4, 5, 6}


def test_missing_newline_at_the_end_is_no_line(trunk: Repo) -> None:
    trunk.write({"f.py": MORE.rstrip("\n")})

    assert one(judge(trunk)).added == {5, 6, 7, 8, 9, 10}


def test_repository_with_long_ids_is_read(tmp_path: Path) -> None:
    path = tmp_path / "repo"
    path.mkdir()
    Repo(tmp_path / "any").git("init", "-q", "--object-format=sha256", "-b", "main", str(path))
    repo = Repo(path)
    repo.commit("base", {"old.py": LONG})
    repo.remote_branch("main")
    repo.write({"old.py": None, "new.py": LONG + IF})

    file = one(judge(repo))

    assert (file.base_path, len(file.added)) == ("old.py", 4)


def test_two_commits_builds_what_tests_of_others_use(tmp_path: Path) -> None:
    repo = two_commits(tmp_path / "repo", {"f.py": IF}, {"f.py": MORE})

    assert one(judge(repo)).added == {5, 6, 7, 8, 9, 10}
    assert repo.status() == ""


def test_judging_the_base_itself_is_said(trunk: Repo) -> None:
    [note] = read(trunk.path, base="main", environment=trunk.environment).notes

    assert "is the merge base itself" in note
