"""Added lines are those that a comparison adds, whatever they look like."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from invertgate.patch.changes import read
from invertgate.patch.difference import parse_hunks
from support.repo import Repo

pytestmark = pytest.mark.property

LINE = st.sampled_from(
    [b"a", b"b", b"c", b"", b"++ b/x.py", b"-- a/x.py", b"@@ -1 +1,9 @@", b"\\ No newline", b"\x0c"]
)
TEXT = st.lists(LINE, max_size=12)


def as_git_writes(base: list[bytes], head: list[bytes]) -> Iterator[bytes]:
    """Write the difference without context, its last lines without a newline."""
    yield b"diff --git a/f.py b/f.py\n--- a/f.py\n+++ b/f.py\n"
    for tag, start, stop, new_start, new_stop in SequenceMatcher(None, base, head).get_opcodes():
        if tag == "equal":
            continue
        where = new_start + (new_stop > new_start)
        yield b"@@ -%d,%d +%d,%d @@ f\n" % (start, stop - start, where, new_stop - new_start)
        removed = (b"-", base[start:stop], stop == len(base))
        added = (b"+", head[new_start:new_stop], new_stop == len(head))
        for sign, lines, at_end in (removed, added):
            yield b"".join(sign + line + b"\n" for line in lines)
            if lines and at_end:
                yield b"\\ No newline at end of file\n"


@given(TEXT, TEXT)
def test_added_lines_are_those_that_difflib_adds(base: list[bytes], head: list[bytes]) -> None:
    patch = b"".join(as_git_writes(base, head)) + b"diff --git a/g.py b/g.py\n"

    added = parse_hunks(patch).get("f.py", frozenset())

    blocks = SequenceMatcher(None, base, head).get_matching_blocks()
    kept = {line for block in blocks for line in range(block.b + 1, block.b + block.size + 1)}
    assert added == set(range(1, len(head) + 1)) - kept


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(TEXT, TEXT), min_size=20, max_size=20))
def test_lines_that_are_not_added_stand_in_the_base(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[list[bytes], list[bytes]]]
) -> None:
    files = {f"f{number}.py": pair for number, pair in enumerate(pairs)}
    repo = Repo(Path(tmp_path_factory.mktemp("law"), "repo"))
    repo.commit("base", {name: b"\n".join(base) for name, (base, _) in files.items()})
    repo.remote_branch("main")
    repo.write({name: b"\n".join(head) for name, (_, head) in files.items()})

    patch = read(repo.path, environment=repo.environment)

    for file in patch.files:
        base = iter((file.base or b"").split(b"\n"))
        kept = [
            line
            for number, line in enumerate((file.head or b"").split(b"\n"), 1)
            if line and number not in file.added
        ]
        assert all(line in base for line in kept)
