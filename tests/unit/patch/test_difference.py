import os

import pytest

from invertgate.patch.contents import as_python_counts
from invertgate.patch.difference import Entry, parse_hunks, parse_raw

ZEROS, OLD, NEW = b"0" * 40, b"a" * 40, b"b" * 40


def raw(status: bytes, *paths: bytes) -> bytes:
    header = b":100644 100755 %b %b %b" % (OLD, NEW, status)
    return b"\0".join([header, *paths, b""])


def test_raw_records_are_read_one_by_one() -> None:
    listing = raw(b"M", b"a.py") + raw(b"R086", b"old.py", b"new name.py") + raw(b"D", b"c\nd.py")

    modified, renamed, deleted = parse_raw(listing)

    assert modified == Entry("M", "100644", "100755", "a" * 40, "b" * 40, "a.py", "a.py")
    assert (renamed.status, renamed.old_path, renamed.path) == ("R", "old.py", "new name.py")
    assert (deleted.status, deleted.path) == ("D", "c\nd.py")


def test_raw_paths_that_are_no_text_keep_their_bytes() -> None:
    [entry] = parse_raw(raw(b"M", b"caf\xe9.py"))

    assert os.fsencode(entry.path) == b"caf\xe9.py"


def test_content_that_only_the_disk_has_has_no_id() -> None:
    [entry] = parse_raw(raw(b"M", b"a.py").replace(NEW, ZEROS))

    assert not entry.has_id


def test_nothing_is_no_record() -> None:
    assert list(parse_raw(b"")) == []
    assert parse_hunks(b"") == {}


def patch(name: bytes, *hunks: bytes) -> bytes:
    header = b"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ %b\n" % name
    return header + b"".join(hunks)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (b"b/a.py", "a.py"),
        (b"b/b/a.py", "b/a.py"),
        (b"b/a b.py\t", "a b.py"),
        (rb'"b/q\"uote\\.py"', 'q"uote\\.py'),
        (rb'"b/tab\t\n\001.py"', "tab\t\n\x01.py"),
        (rb'"b/ends in tab\t"', "ends in tab\t"),
        (rb'"b/na\303\257ve.py"', "naïve.py"),
    ],
)
def test_names_are_unquoted(name: bytes, path: str) -> None:
    assert parse_hunks(patch(name, b"@@ -0,0 +1 @@\n+x\n")) == {path: {1}}


def test_hunks_of_several_files_are_kept_apart() -> None:
    first = patch(b"b/a.py", b"@@ -2,0 +3,2 @@ def f():\n+x\n+y\n", b"@@ -9 +11 @@\n-o\n+n\n")
    second = patch(b"b/c.py", b"@@ -4,2 +3,0 @@\n-x\n-y\n")

    assert parse_hunks(first + second) == {"a.py": {3, 4, 11}, "c.py": frozenset()}


def test_lines_that_look_like_headers_are_content() -> None:
    hunk = b"@@ -1,2 +1,3 @@\n--- a/x\n-- b\n+++ b/other.py\n+@@ -1 +1,9 @@\n+diff --git a/x b/x\n"

    assert parse_hunks(patch(b"b/a.py", hunk, b"@@ -8 +9 @@\n-o\n+n\n")) == {"a.py": {1, 2, 3, 9}}


def test_remark_on_a_missing_last_newline_is_no_line() -> None:
    hunk = b"@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n"

    assert parse_hunks(patch(b"b/a.py", hunk) + patch(b"b/c.py", hunk)) == {
        "a.py": {1},
        "c.py": {1},
    }


@pytest.mark.parametrize(
    ("content", "lines", "expected"),
    [
        (b"a\nb\nc\n", {2}, {2}),
        (b"a\r\nb\r\nc\r\n", {2}, {2}),
        (b"a\rb\rc\r", {1}, {1, 2, 3}),
        (b"a\rb\nc\rd\r\ne", {2}, {3, 4}),
        (b"a\rb\nc\rd\r\ne", {3}, {5}),
        (b"a\x0cb\nc\n", {2}, {2}),
    ],
)
def test_lines_are_counted_as_python_does(
    content: bytes, lines: set[int], expected: set[int]
) -> None:
    assert as_python_counts(content, frozenset(lines)) == expected
