import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from invertgate.model import EXTRA_KINDS, ChangedFile, Outcome, Side
from invertgate.outcomes.identity import new_outcomes
from invertgate.outcomes.mutant import NotWritableError, mutant, mutants
from support.repo import hermetic_environment


def outcomes_of(source: bytes, path: str = "a.py") -> tuple[Outcome, ...]:
    file = ChangedFile(path, None, None, source, frozenset())
    listing = new_outcomes([file], EXTRA_KINDS)
    assert not listing.not_parsed
    return listing.outcomes


def written(source: str, side: Side | None = None, *, negate: bool = False) -> str:
    """Invert the first outcome with a side, or the last of all."""
    outcomes = outcomes_of(source.encode())
    chosen = next((each for each in outcomes if each.side is side), outcomes[-1])
    return mutant(chosen, source.encode(), negate=negate).source.decode()


@pytest.mark.parametrize(
    ("source", "true", "false"),
    [
        ("if a < 1: b", "if a < 1 and False: b", "if a < 1 or True: b"),
        ("if not a: b", "if not a and False: b", "if not a or True: b"),
        ("if a and b: c", "if a and b and False: c", "if (a and b) or True: c"),
        ("if a or b: c", "if (a or b) and False: c", "if a or b or True: c"),
        ("if (a or b): c", "if (a or b) and False: c", "if (a or b) or True: c"),
        ("if (a) or (b): c", "if ((a) or (b)) and False: c", "if (a) or (b) or True: c"),
        ("if(a): c", "if(a) and False: c", "if(a) or True: c"),
        ("if a := b: c", "if (a := b) and False: c", "if (a := b) or True: c"),
        ("if (\n  a or\n  b # )\n): c", "if (\n  a or\n  b # )\n) and False: c", ""),
        ("if a \\\n  or b: c", "if (a \\\n  or b) and False: c", ""),
        ("while (a if b else c): d", "while (a if b else c) and False: d", ""),
        ("a = b if (c) else d", "a = b if (c) and False else d", "a = b if (c) or True else d"),
        ("a = f(b if c or d else e)", "a = f(b if (c or d) and False else e)", ""),
        ("a = (b for b in c if d)", "a = (b for b in c if d and False)", ""),
        ("a = [b for b in c if (d or e)]", "a = [b for b in c if ((d or e) and False)]", ""),
        ("if (yield): c", "if (yield) and False: c", "if (yield) or True: c"),
    ],
)
def test_test_is_evaluated_and_then_overridden(source: str, true: str, false: str) -> None:
    source, true, false = (
        f"def f():\n {text}" if "yield" in source else text for text in (source, true, false)
    )

    assert written(source, Side.TRUE) == true
    assert not false or written(source, Side.FALSE) == false


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if a: b", "if not a: b"),
        ("if a < 1: b", "if not (a < 1): b"),
        ("if (a or b): c", "if not (a or b): c"),
        ("if(a): c", "if not(a): c"),
        ("a = b if (c or d) else e", "a = b if (not (c or d)) else e"),
    ],
)
@pytest.mark.parametrize("side", [Side.TRUE, Side.FALSE])
def test_negate_inverts_the_whole_test_for_both_sides(
    source: str, expected: str, side: Side
) -> None:
    assert written(source, side, negate=True) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("try: a\nexcept: b", "try: a\nexcept (): b"),
        ("try: a\nexcept E: b", "try: a\nexcept E and (): b"),
        ("try: a\nexcept (E): b", "try: a\nexcept (E) and (): b"),
        ("try: a\nexcept (E, F) as e: b", "try: a\nexcept (E, F) and () as e: b"),
        ("try: a\nexcept* E: b", "try: a\nexcept* E and (): b"),
        ("try: a\nexcept E or F: b", "try: a\nexcept (E or F) and (): b"),
        ("match a:\n case 1: b", "match a:\n case 1 if False: b"),
        ("match a:\n case (\n  1 # ):\n ): b", "match a:\n case (\n  1 # ):\n ) if False: b"),
        ("match a:\n case 1, : b", "match a:\n case 1, if False : b"),
        ("match a:\n case 1 if b: c", "match a:\n case 1 if b and False: c"),
        ("match a:\n case 1 if b or c: d", "match a:\n case 1 if (b or c) and False: d"),
        ("for a in b: c\n# else:\nelse : d", "for a in b: c\n# else:\nif False : d"),
        ("while a:\n  c\nelse:\n  d", "while a:\n  c\nif False:\n  d"),
        ("try: a\nexcept E: b\nelse: c", "try: a\nexcept E: b\nif False: c"),
        (
            "try: a\nexcept E: b\nelse: c\nfinally: d",
            "try: a\nexcept E: b\nexcept (): c\nfinally: d",
        ),
        (
            "try: a\nexcept: b\nelse: c\nfinally: d",
            "try: a\nexcept BaseException: b\nexcept (): c\nfinally: d",
        ),
        (
            "try: a\nexcept* E: b\nelse: c\nfinally: d",
            "try: a\nexcept* E: b\nexcept* (): c\nfinally: d",
        ),
    ],
)
def test_handler_case_and_else_are_not_taken(source: str, expected: str) -> None:
    assert written(source) == expected


def test_else_that_returns_before_finally_of_except_star_cannot_be_written() -> None:
    source = b"def f():\n try: a\n except* E: b\n else: return 1\n finally: d\n"
    [_, last] = outcomes_of(source)

    with pytest.raises(NotWritableError, match="return"):
        mutant(last, source)
    assert last.key not in mutants([last], {"a.py": source})


def test_diff_shows_three_lines_around() -> None:
    source = "".join(f"a{n}\n" for n in range(5)) + "if a: b\n" + "c\n" * 5

    [true, _] = outcomes_of(source.encode())

    assert mutant(true, source.encode()).text == dedent("""\
        --- a/a.py
        +++ b/a.py
        @@ -3,7 +3,7 @@
         a2
         a3
         a4
        -if a: b
        +if a and False: b
         c
         c
         c
        """)


def test_diff_of_two_distant_lines_has_two_hunks() -> None:
    middle = "".join(f"  or a{n} \\\n" for n in range(12))
    source = f"if a \\\n{middle}  or b: c\n"

    [true, _] = outcomes_of(source.encode())

    assert mutant(true, source.encode()).text.count("\n@@ ") == 2


SOURCES = {
    "crlf": b"def f(a):\r\n    if a:\r\n        return 1\r\n    return 2\r\n",
    "mixed": b"def f(a):\r\n    if a:\n        return 1\r\n    return 2\n",
    "lone_cr": b"x = 1\ry = 2\rif x:\r    y = 3\nz = 4\n",
    "bom": b"\xef\xbb\xbfif 'a': b = 1\n",
    "latin1": b"# -*- coding: latin-1 -*-\nx = '\xe9'\nif '\xe9\xe8' < x and x: y = '\xe9'\n",
    "shift_jis": "# coding: shift_jis\nif '表' in '表示' or 1: y = 2\n".encode("shift_jis"),
    "no_newline": b"x = 1\nif x: y = 2",
    "no_newline_near": b"if 1 < 2: y = 2\nz = 3",
    "form_feed": b"x = 1\f\nif x: y = 2\n",
    "tabs": b"def f(a):\n\tfor b in a:\n\t\tc = 1\n\telse:\n\t\tc = 2\n",
    "utf8": "if 'é' and x: y = '\u2028'\n".encode(),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize(
    "path",
    ["a.py", "pkg/naïve.py", "dir with space/a b.py", 'q"uo\\te\t.py', os.fsdecode(b"\xff.py")],
)
def test_git_applies_the_diff(source: bytes, path: str, tmp_path: Path) -> None:
    file = tmp_path / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(source)
    made = mutant(outcomes_of(source, path)[0], source)

    subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],  # noqa: S607
        input=made.diff,
        cwd=tmp_path,
        env=hermetic_environment() | {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)},
        check=True,
    )

    assert file.read_bytes() == made.source != source
    compile(made.source, "a.py", "exec")


def test_deep_chain_is_written() -> None:
    source = b"if a == 0: b\n" + b"".join(b"elif a == %d: b\n" % n for n in range(1, 800))

    made = mutants(outcomes_of(source), {"a.py": source})

    assert len(made) == 1600


def test_inside_an_f_string_it_is_right_or_not_written() -> None:
    source = b"x = f'''{1}\n {[y for y in z if y]} {a if b else c}'''\n"

    made = mutants(outcomes_of(source), {"a.py": source})

    assert len(made) == 4 or sys.version_info < (3, 12)
    for each in made.values():
        compile(each.source, "a.py", "exec")
