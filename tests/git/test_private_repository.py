from pathlib import Path
from shutil import rmtree

from invertgate.patch.git import open_repository
from invertgate.patch.private import lend_repository, own_objects
from support.repo import two_commits


def test_a_repository_with_objects_of_its_own_outlives_the_users(tmp_path: Path) -> None:
    user = two_commits(tmp_path / "user", {"a.py": "a = 1\n"}, {"a.py": "a = 2\n"})
    user.git("tag", "v1")
    unnamed = user.git("commit-tree", "HEAD^{tree}", "-m", "no branch leads here")
    user.write({"staged.py": "b = 1\n", "a.py": "a = 3\n"})
    user.git("add", "staged.py")
    repository = open_repository(user.path, user.environment)
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "a.py").write_text("a = 3\n")
    (copy / "staged.py").write_text("b = 1\n")
    lend_repository(repository, copy)
    refs = user.git("for-each-ref")
    head = user.head

    own_objects(copy, repository, [unnamed])
    rmtree(user.path)

    private = open_repository(copy, user.environment)
    assert private.read("for-each-ref").decode().rstrip() == refs
    assert private.read("rev-parse", "HEAD").decode().strip() == head
    assert private.commits([unnamed]) == [unnamed]
    assert private.read("cat-file", "blob", ":staged.py") == b"b = 1\n"
    assert private.read("status", "--porcelain") == b" M a.py\nA  staged.py\n"
    private.read("fsck", "--full", "--strict")
