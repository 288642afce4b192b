import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from invertgate.errors import ExitCode, TableError
from invertgate.model import Kind, Side
from invertgate.table.document import Entry, Table, read, write
from invertgate.table.store import read_file, write_file

RETRY = Entry(
    id="9f8e7d6c5b4a",
    path="src/billing/retry.py",
    kind=Kind.IF,
    predicate="attempt < max_attempts and is_transient(err)",
    side=Side.FALSE,
    test="tests/test_retry.py::test_raises_after_exhaustion",
)
UNCLAIMED = Entry("0123456789ab", "src/a.py", Kind.EXCEPT, "except KeyError", Side.HANDLER)
LOCKED = replace(RETRY, id="aaaaaaaaaaaa", side=Side.TRUE, lock="sha256:00ff")

FULL = """[
  {
    "id": "9f8e7d6c5b4a",
    "path": "src/billing/retry.py",
    "kind": "if",
    "predicate": "attempt < max_attempts and is_transient(err)",
    "side": "false",
    "test": "tests/test_retry.py::test_raises_after_exhaustion"
  }
]
"""
FULL_YAML = """\
- id: "9f8e7d6c5b4a"
  path: "src/billing/retry.py"
  kind: "if"
  predicate: "attempt < max_attempts and is_transient(err)"
  side: "false"
  test: "tests/test_retry.py::test_raises_after_exhaustion"
"""


def with_field(field: str, source: str) -> bytes:
    """Give a JSON table whose one row has one field replaced by other source."""
    row = {key: json.dumps(value) for key, value in json.loads(FULL)[0].items()} | {field: source}
    return ("[{\n" + ",\n".join(f'"{key}": {value}' for key, value in row.items()) + "}]").encode()


def refusal(source: bytes, name: str = "branch_rows.json") -> str:
    with pytest.raises(TableError) as caught:
        read(source, name)
    assert caught.value.exit_code == ExitCode.USAGE
    return str(caught.value)


def test_json_row_is_read_with_its_line() -> None:
    table = read(FULL.encode(), "branch_rows.json")

    assert table == Table((RETRY,))
    assert table.entries[0].line == 2


def test_yaml_row_is_read_with_its_line() -> None:
    table = read(b"# rows\n" + FULL_YAML.encode(), "rows.yaml")

    assert table == Table((RETRY,))
    assert table.entries[0].line == 2


def test_json_is_written_one_field_a_line() -> None:
    assert write(Table((RETRY,)), ".json") == FULL.encode()


def test_yaml_is_written_one_field_a_line() -> None:
    assert write(Table((RETRY,)), ".yml") == FULL_YAML.encode()


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_null_test_and_lock_survive_writing_and_reading(suffix: str) -> None:
    table = Table((UNCLAIMED, LOCKED))

    assert read(write(table, suffix), f"rows{suffix}") == table
    assert b"lock" not in write(Table((UNCLAIMED,)), suffix)


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
@pytest.mark.parametrize(
    "nodeid",
    [
        "tests/test_q.py::test_a[3 5]",
        "tests/test_q.py::test_a[x::y]",
        "tests/test_q.py::test_a[a[b]]",
        r"tests/test_q.py::test_a[\xe9 new\nline a\\b]",
        "tests/test_q.py::test_a[é 名 😀]",
        "tests/test_q.py::test_a['\" # : - ]",
        "tests/test_q.py::test_a[\x7f\x85\u2028\ufeff]",
        "tests/test_q.py::test_a[\t\n]",
        "null",
        "1e10",
    ],
)
def test_odd_nodeids_survive_writing_and_reading(suffix: str, nodeid: str) -> None:
    table = Table((replace(RETRY, test=nodeid),))

    assert read(write(table, suffix), f"rows{suffix}") == table


def test_path_that_is_no_utf8_survives_writing_and_reading() -> None:
    table = Table((replace(RETRY, path="src/\udce9.py"),))

    assert read(write(table, ".json"), "rows.json") == table


@pytest.mark.parametrize("row_id", ["012345670123", "123456789012", "1234567890e1", "000000000000"])
def test_yaml_id_of_digits_is_no_number(row_id: str) -> None:
    table = Table((replace(RETRY, id=row_id),))
    by_hand = FULL_YAML.replace('"9f8e7d6c5b4a"', row_id)

    assert read(write(table, ".yaml"), "rows.yaml") == table
    assert read(by_hand.encode(), "rows.yaml") == table


def test_yaml_side_and_predicate_are_taken_as_they_are_written() -> None:
    by_hand = FULL_YAML.replace('"false"', "false").replace(
        '"attempt < max_attempts and is_transient(err)"', "on"
    )

    assert read(by_hand.encode(), "rows.yml").entries[0] == replace(RETRY, predicate="on")


@pytest.mark.parametrize("null", ["null", "~", "", "Null"])
def test_yaml_null_is_no_claim(null: str) -> None:
    by_hand = FULL_YAML.replace('"tests/test_retry.py::test_raises_after_exhaustion"', null)

    assert read(by_hand.encode(), "rows.yaml").entries[0].test is None


def test_json_is_yaml_too() -> None:
    assert read(FULL.encode(), "rows.yaml") == Table((RETRY,))


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (b"", "rows.json"),
        (b" \r\n", "rows.json"),
        (b"[]", "rows.json"),
        (b"[ ]\n", "rows.json"),
        (b"\xef\xbb\xbf", "rows.json"),
        (b"", "rows.yaml"),
        (b"# nothing yet\n", "rows.yaml"),
        (b"---\n", "rows.yaml"),
        (b"null\n", "rows.yaml"),
        (b"[]\n", "rows.yaml"),
    ],
)
def test_empty_table_has_no_rows(source: bytes, name: str) -> None:
    assert read(source, name) == Table()


@pytest.mark.parametrize(("source", "name"), [(FULL, "rows.json"), (FULL_YAML, "rows.yaml")])
@pytest.mark.parametrize(
    "change",
    [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")],
    ids=["byte order mark", "crlf"],
)
def test_byte_order_mark_and_crlf_are_accepted(
    source: str, name: str, change: Callable[[str], str]
) -> None:
    assert read(change(source).encode(), name) == Table((RETRY,))


def test_empty_table_is_written_as_an_empty_list() -> None:
    assert write(Table(), ".json") == write(Table(), ".yaml") == b"[]\n"


def test_rows_are_written_in_the_same_order_whatever_order_they_come_in() -> None:
    other_side = replace(RETRY, id="ffffffffffff", side=Side.TRUE)
    rows = (RETRY, UNCLAIMED, LOCKED, other_side)

    assert write(Table(rows), ".json") == write(Table(rows[::-1]), ".json")
    assert [entry.id for entry in read(write(Table(rows), ".json"), "x.json").entries] == [
        "0123456789ab",
        "aaaaaaaaaaaa",
        "ffffffffffff",
        "9f8e7d6c5b4a",
    ]


@pytest.mark.parametrize(
    ("field", "source", "message"),
    [
        ("id", '"ABCDEFABCDEF"', 'line 2 "id" must be 12 hex digits in lower case, not "ABCDEF'),
        ("id", '"9f8e7d6c5b4"', 'line 2 "id" must be 12 hex digits in lower case'),
        ("id", '"9f8e7d6c5b4a\\n"', 'line 2 "id" must be 12 hex digits in lower case'),
        ("id", "5", 'line 2 "id" must be 12 hex digits in lower case, not 5'),
        ("id", "null", 'line 2 "id" must be 12 hex digits in lower case, not null'),
        ("path", '"/etc/passwd.py"', 'line 3 "path" must lead from the top of the repository'),
        ("path", '"src/../../x.py"', 'line 3 "path" must lead from the top of the repository'),
        ("path", '"./src/x.py"', 'line 3 "path" must lead from the top of the repository'),
        ("path", '"src//x.py"', 'line 3 "path" must lead from the top of the repository'),
        ("path", '"C:\\\\src\\\\x.py"', 'line 3 "path" must lead from the top of the repository'),
        ("path", '""', 'line 3 "path" must lead from the top of the repository'),
        ("path", "{}", 'line 3 "path" must be text, not an object'),
        ("kind", '"elif"', 'line 4 "kind" must be one of if, except, try_else, match'),
        ("kind", "true", 'line 4 "kind" must be one of if'),
        ("predicate", '" "', 'line 5 "predicate" must be the text of the decision, not " "'),
        ("predicate", "NaN", 'line 5 "predicate" must be the text of the decision, not NaN'),
        ("side", '"no"', 'line 6 "side" must be one of true, false, handler, case, else, not "no"'),
        ("side", "false", 'line 6 "side" must be one of true, false, handler, case, else, not fal'),
        ("side", '"handler"', 'line 6 "side" must be false or true for if, not "handler"'),
        ("test", "5", 'line 7 "test" must be one nodeid or null, not 5'),
        ("test", "1" * 5000, 'line 7 "test" must be one nodeid or null, not 111'),
        ("test", "-1.5e400", 'line 7 "test" must be one nodeid or null, not -1.5e400'),
        ("test", '""', 'line 7 "test" must be one nodeid or null, not ""'),
        ("test", '["a", "b"]', 'line 7 "test" must be one nodeid or null, not a list'),
        ("test", "Infinity", 'line 7 "test" must be one nodeid or null, not Infinity'),
        ("lock", "5", 'line 8 "lock" must be a digest that `invertgate bind --lock` wrote, not 5'),
        ("lock", '""', 'line 8 "lock" must be a digest that `invertgate bind --lock` wrote'),
        ("verison", "2", 'line 8 "verison" is unknown; a row has id, path, kind, predicate, side'),
    ],
)
def test_wrong_field_is_refused_by_line_and_name(field: str, source: str, message: str) -> None:
    line, rest = message.removeprefix("line ").split(" ", 1)

    assert refusal(with_field(field, source)).startswith(f"branch_rows.json:{line}: field {rest}")


def test_long_value_is_shown_shortened() -> None:
    assert refusal(with_field("kind", json.dumps("k" * 500))).endswith("k" * 80 + '…"')


@pytest.mark.parametrize("field", ["id", "path", "kind", "predicate", "side", "test"])
def test_missing_field_is_refused_by_name(field: str) -> None:
    row = json.loads(FULL)[0]
    del row[field]

    message = refusal(json.dumps([row]).encode())

    assert message == f'branch_rows.json:1: field "{field}" is missing'


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (FULL.replace('"test"', '"id"'), '8: field "id" stands twice in this row'),
        (FULL.replace('"test"', '"a": {"b": 1}, "test"'), '8: field "a" is unknown'),
        (FULL.replace("}\n]", "},\n]"), "10: not valid JSON: a comma stands before the ]"),
        (FULL.replace("}\n]", "} {}]"), "9: not valid JSON: expected , or ] after a row"),
        (FULL.replace("}\n]", "}\n"), "11: not valid JSON: expected , or ] after a row"),
        (FULL.replace("kind", 'ki"nd'), "5: not valid JSON: "),
        (FULL.replace("attempt", "\t"), "6: not valid JSON: Invalid control character at"),
        (FULL.replace('"if",', '"if"'), "6: not valid JSON: Expecting ',' delimiter (column 5)"),
        ("[" * 200_000, "1: not valid JSON: it is nested too deeply"),
        ("[", "1: not valid JSON: Expecting value (column 2)"),
        (FULL + "[]", "11: nothing may follow the list of rows"),
        ("[] x", "1: nothing may follow the list of rows"),
        ('\n{"version": 9, "rows": []}', "2: the table must be a list of rows, not an object"),
        ("NaN", "1: the table must be a list of rows, not 'NaN'"),
        ("[\n\n5]", "3: a row must be an object, not 5"),
        ("[NaN]", "1: a row must be an object, not NaN"),
        ("[null]", "1: a row must be an object, not null"),
        ('["x"]', '1: a row must be an object, not "x"'),
        ("[[]]", "1: a row must be an object, not a list"),
        ("[true]", "1: a row must be an object, not true"),
    ],
)
def test_malformed_json_is_refused_by_line(source: str, message: str) -> None:
    message = f"branch_rows.json:{message}"

    assert refusal(source.encode())[: len(message)] == message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (FULL_YAML + "  id: x\n", '7: field "id" stands twice in this row'),
        (FULL_YAML.replace("kind", "kin"), '3: field "kin" is unknown; a row has id, path'),
        (FULL_YAML.replace("  kind", "  kind: if\n  kind"), '4: field "kind" stands twice'),
        (FULL_YAML.replace('kind: "if"', "kind: 5"), '3: field "kind" must be one of if, except'),
        (FULL_YAML.replace('test: "', 'test: 5 #"'), '6: field "test" must be one nodeid or null'),
        (FULL_YAML.replace('test: "', 'test: on #"'), '6: field "test" must be one nodeid or null'),
        (FULL_YAML.replace('test: "', 'test: "" #'), '6: field "test" must be one nodeid or null'),
        (FULL_YAML.replace('id: "', 'id: null #"'), '1: field "id" must be 12 hex digits in lower'),
        (FULL_YAML.replace('test: "', 'test: [] #"'), '6: field "test" must be text, not a list'),
        (
            FULL_YAML.replace('test: "', 'test: {} #"'),
            '6: field "test" must be text, not a mapping',
        ),
        (
            FULL_YAML.replace("test:", "? [a]\n  :"),
            "6: the name of a field must be text, not a lis",
        ),
        (FULL_YAML.replace('id: "', 'id: &a "'), "1: anchors are not read; remove &a"),
        (FULL_YAML.replace('test: "', 'test: *a #"'), "6: "),
        ("- &a {}\n- *a\n", "1: anchors are not read; remove &a"),
        (
            FULL_YAML.replace('id: "', 'id: !!str "'),
            "1: tags are not read; remove tag:yaml.org,2002",
        ),
        ("id: x\n", "1: the table must be a list of rows, not a mapping"),
        ("rows\n", "1: the table must be a list of rows, not 'rows'"),
        ("- 5\n", "1: a row must be a mapping, not '5'"),
        ("- - x\n", "1: a row must be a mapping, not a list"),
        ("[]\n---\n[]\n", "2: a second document starts; a table is one list of rows"),
        ("- a: b: c\n", "1: not valid YAML: mapping values are not allowed "),
        (FULL_YAML + "- id: [\n", '7: field "id" must be text, not a list'),
        (FULL_YAML + "- id: 'x\n", "8: not valid YAML: while scanning a quoted scalar found un"),
        ("- id: x\n  path: '\x07'\n", "2: not valid YAML: a character that YAML does not allow"),
    ],
)
def test_malformed_yaml_is_refused_by_line(source: str, message: str) -> None:
    message = f"rows.yaml:{message}"

    assert refusal(source.encode(), "rows.yaml")[: len(message)] == message


def test_yaml_alias_is_refused() -> None:
    assert refusal(b"- *a\n", "rows.yaml").startswith("rows.yaml:1: ")


@pytest.mark.parametrize("name", ["rows.json", "rows.yaml"])
@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> patch", "||||||| base"])
def test_conflict_marker_is_refused_by_line(name: str, marker: str) -> None:
    message = refusal(f"[]\n{marker}\r\n".encode(), name)

    assert message == (
        f"{name}:2: a merge conflict is left ({marker[:7]}); keep the rows of both sides, "
        "each once, then run `invertgate table --write`"
    )


@pytest.mark.parametrize("name", ["rows.json", "rows.yaml"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_refused(name: str, encoding: str) -> None:
    message = refusal(FULL.encode(encoding), name)

    assert message == f"{name}:1: this is not UTF-8 but looks like UTF-16; save the file as UTF-8"


def test_latin1_is_refused_by_line() -> None:
    message = refusal(FULL.replace("err", "é").encode("latin-1"))

    assert message == "branch_rows.json:6: this is not UTF-8; save the file as UTF-8"


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_row_that_stands_twice_is_refused_by_both_lines(suffix: str) -> None:
    twice = write(Table((RETRY, replace(RETRY, test="tests/t.py::test_other"))), suffix)

    message = refusal(twice, f"rows{suffix}")

    second = {".json": 10, ".yaml": 7}[suffix]
    first = {".json": 2, ".yaml": 1}[suffix]
    assert message == (
        f'rows{suffix}:{second}: field "id": the row src/billing/retry.py:9f8e7d6c5b4a stands in '
        f"line {first} already; keep one of the two"
    )


def test_same_id_in_two_files_is_two_rows() -> None:
    table = Table((RETRY, replace(RETRY, path="src/z.py")))

    assert read(write(table, ".json"), "x.json") == table


def test_missing_file_is_no_table(tmp_path: Path) -> None:
    assert read_file(tmp_path / "branch_rows.json", "branch_rows.json") is None


def test_empty_file_is_a_table_without_rows(tmp_path: Path) -> None:
    (tmp_path / "branch_rows.json").write_bytes(b"")

    assert read_file(tmp_path / "branch_rows.json", "branch_rows.json") == Table()


def test_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="rows cannot be read: Is a directory"):
        read_file(tmp_path, "rows")


def test_write_file_makes_the_folders_it_needs_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "ci" / "rows.json"

    assert write_file(path, b"[]\n", tmp_path)

    assert path.read_bytes() == b"[]\n"
    assert list(path.parent.iterdir()) == [path]


def test_write_file_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes(b"")
    path.chmod(0o640)

    write_file(path, b"[]\n", tmp_path)

    assert path.stat().st_mode & 0o777 == 0o640


def test_write_file_leaves_equal_bytes_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes(b"[]\n")
    before = path.stat().st_ino

    assert not write_file(path, b"[]\n", tmp_path)

    assert path.stat().st_ino == before


def test_write_file_follows_a_link_inside_the_repository(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "rows.json"
    link.symlink_to("real/rows.json")

    write_file(link, b"[]\n", tmp_path)

    assert link.is_symlink()
    assert (tmp_path / "real" / "rows.json").read_bytes() == b"[]\n"


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_write_file_does_not_follow_a_link_out_of_the_repository(tmp_path: Path, kind: str) -> None:
    top, outside = tmp_path / "top", tmp_path / "outside"
    top.mkdir()
    outside.mkdir()
    if kind == "file":
        (top / "rows.json").symlink_to(outside / "rows.json")
    else:
        (top / "ci").symlink_to(outside)
    path = top / "rows.json" if kind == "file" else top / "ci" / "rows.json"

    with pytest.raises(TableError, match=r"leads to .*outside/rows\.json, outside .*top; nothing"):
        write_file(path, b"[]\n", top)

    assert list(outside.iterdir()) == []


def test_write_file_refuses_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "rows.json").symlink_to("rows.json")

    with pytest.raises(TableError, match=r"written: its links lead in a circle"):
        write_file(tmp_path / "rows.json", b"[]\n", tmp_path)


def test_write_file_that_the_system_refuses_keeps_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "rows.json").mkdir()

    with pytest.raises(TableError, match=r"rows\.json cannot be written: "):
        write_file(tmp_path / "rows.json", b"[]\n", tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["rows.json"]
