import io
import json
import signal
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from invertgate.cli import perform
from invertgate.errors import NoBaseError
from invertgate.model import Verdict
from invertgate.report.document import BindReport, Report
from invertgate.report.formats import FORMATS
from invertgate.report.markdown import LIMIT
from invertgate.report.store import encode
from invertgate.request import Request
from support.actions import commands, outputs
from support.reports import (
    HOSTILE,
    REPORTS,
    full_report,
    hostile_report,
    interrupted_report,
    nothing_new,
    one_row,
)

ALL = [each.name for each in FORMATS]


@dataclass
class Fake:
    """Use cases that give a report or stop, after looking at what stands where."""

    report: Report = field(default_factory=full_report)
    stop: Callable[[], None] = lambda: None

    def run(self, request: Request) -> Report:
        del request
        self.stop()
        return self.report

    def bind(self, request: Request) -> BindReport:
        raise NotImplementedError

    def table(self, request: Request, *, write: bool) -> Report:
        raise NotImplementedError


@dataclass
class Done:
    """What a command left."""

    code: int
    out: str
    err: str


def invertgate(*argv: object, fake: Fake | None = None) -> Done:
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = perform([str(word) for word in argv], fake or Fake())
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder, with nothing of the CI host that runs this test."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def actions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pretend to be a step of a GitHub job; return the folder with its files."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_OUTPUT", str(folder / "output"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary"))
    return folder


def stored(report: Report, path: str = "invertgate.out/report.json") -> Path:
    file = Path(path)
    file.parent.mkdir(exist_ok=True)
    file.write_text(encode(report), encoding="ascii")
    return file


def wanted(*names: str) -> list[str]:
    return [word for name in names for word in (f"--{name}", f"out.{name}")]


# invertgate report


def test_stored_report_is_written_in_every_format() -> None:
    stored(full_report())

    done = invertgate("report", *wanted(*ALL))

    assert (done.code, done.out, done.err) == (0, "", "")
    texts = {each.name: Path(f"out.{each.name}").read_text(encoding="utf-8") for each in FORMATS}
    assert texts == {each.name: each.render(full_report()) for each in FORMATS}


@pytest.mark.parametrize("name", REPORTS)
def test_stored_report_is_shown_as_the_run_showed_it(name: str) -> None:
    report = REPORTS[name]()
    file = stored(report, "old.json")

    shown = invertgate("report", file)
    ran = invertgate("run", fake=Fake(report))

    assert (shown.code, ran.code) == (0, report.exit_code)
    assert shown.out == ran.out != ""


def test_report_is_found_from_a_folder_below(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(one_row(Verdict.WEAK))
    folder.joinpath("src").mkdir()
    monkeypatch.chdir(folder / "src")

    done = invertgate("report")

    assert done.code == 0
    assert "weak (1)" in done.out


def test_report_above_the_repository_is_not_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(one_row(Verdict.WEAK))
    folder.joinpath("repo", ".git").mkdir(parents=True)
    monkeypatch.chdir(folder / "repo")

    done = invertgate("report")

    assert done.code == 2
    assert "there is no invertgate.out/report.json here; `invertgate run` writes it" in done.err


@pytest.mark.parametrize("name", ALL)
def test_dash_is_standard_output(name: str) -> None:
    stored(full_report())
    [chosen] = [each for each in FORMATS if each.name == name]

    done = invertgate("report", f"--{name}", "-")

    assert (done.out, done.err) == (chosen.render(full_report()), "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "there is no report r.json; `invertgate run` writes one"),
        ("", "r.json is no report"),
        ("[]", "r.json is no report that this version reads (schema_version None, not 1)"),
        ("[" * 100_000, "r.json is no report"),
        ('{"schema_version": 1}', "r.json is no report: Object missing required field"),
        (
            '{"schema_version": 99}',
            "r.json is no report that this version reads: a newer invertgate",
        ),
        ("<html>", "r.json is no report: Expecting value"),
    ],
)
def test_report_that_cannot_be_read_is_exit_2_with_the_reason(text: str | None, words: str) -> None:
    if text is not None:
        Path("r.json").write_text(text)

    done = invertgate("report", "r.json", "--sarif", "out.sarif")

    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert not Path("out.sarif").exists()


def test_report_whose_numbers_were_changed_is_refused() -> None:
    content = json.loads(encode(full_report()))
    content["counts"]["bound"] = 2
    Path("r.json").write_text(json.dumps(content))

    done = invertgate("report", "r.json")

    assert done.code == 2
    assert "r.json does not add up" in done.err


def test_github_is_told_of_a_stored_report_if_asked(actions: Path) -> None:
    stored(one_row(Verdict.WEAK))

    quiet = invertgate("report", "--sarif", "out.sarif")
    assert (quiet.out, sorted(actions.iterdir())) == (
        "",
        [actions / "invertgate.out", actions / "out.sarif"],
    )
    told = invertgate("report", "--github")

    assert [command.name for command in commands(told.out)] == ["error"]
    assert outputs(actions.joinpath("output").read_text())["weak"] == "1"


# the flags of invertgate run


def test_run_writes_every_format_beside_what_it_shows() -> None:
    done = invertgate("run", *wanted(*ALL))

    assert done.code == full_report().exit_code
    assert done.out == invertgate("run").out
    assert all(
        Path(f"out.{each.name}").read_text(encoding="utf-8") == each.render(full_report())
        for each in FORMATS
    )


def test_run_without_a_new_outcome_writes_them_too() -> None:
    done = invertgate("run", *wanted(*ALL), fake=Fake(nothing_new()))

    assert done.code == 0
    assert all(Path(f"out.{name}").exists() for name in ALL)


def no_base() -> None:
    raise NoBaseError("HEAD and origin/main share no commit")


def bug() -> None:
    raise KeyError("\n::error::forged ##[error]forged")


def interrupt() -> None:
    signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize(
    ("stop", "code", "words"),
    [
        (no_base, 5, "share no commit"),
        (bug, 70, "KeyError"),
        (interrupt, 130, "stopped before its end"),
    ],
)
def test_run_that_is_stopped_leaves_every_format_saying_so(
    stop: Callable[[], None], code: int, words: str
) -> None:
    for name in ALL:
        Path(f"out.{name}").write_text("what the last run found")

    def stop_after_a_look() -> None:
        assert [name for name in ALL if Path(f"out.{name}").exists()] == []
        stop()

    done = invertgate("run", *wanted(*ALL), fake=Fake(stop=stop_after_a_look))

    assert done.code == code
    sarif = json.loads(Path("out.sarif").read_text())
    [invocation] = sarif["runs"][0]["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, code)
    assert words in Path("out.markdown").read_text()
    assert words in Path("out.junit").read_text()
    assert all(Path(f"out.{name}").exists() for name in ALL)


def test_place_that_cannot_be_written_is_told_before_anything_is_run(folder: Path) -> None:
    folder.joinpath("file").write_text("")
    fake = Fake(stop=lambda: pytest.fail("it ran"))

    done = invertgate("run", "--html", "file/out.html", fake=fake)

    assert done.code == 2
    assert "--html file/out.html cannot be written" in done.err


def test_place_that_is_lost_meanwhile_is_exit_2_and_the_rest_is_written(folder: Path) -> None:
    def lose() -> None:
        folder.joinpath("a").rmdir()
        folder.joinpath("a").write_text("")

    done = invertgate("run", "--sarif", "a/out", "--junit", "b", fake=Fake(stop=lose))

    assert done.code == 2
    assert "--sarif a/out cannot be written" in done.err
    assert "weak (1)" in done.out
    assert Path("b").exists()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--sarif", "-", "--junit", "-"), "--sarif and --junit both write to -"),
        (("--sarif", "a", "--junit", "./a"), "--sarif and --junit both write to ./a"),
        (("--json", "--sarif", "-"), "--json and another format both write to standard output"),
        (("--sarif", ""), "--sarif needs the name of a file"),
    ],
)
def test_formats_that_are_in_the_way_of_each_other_are_refused(
    argv: tuple[str, ...], words: str
) -> None:
    done = invertgate("run", *argv)

    assert done.code == 2
    assert words in done.err


def test_format_on_standard_output_has_it_for_itself() -> None:
    done = invertgate("run", "--junit", "-")

    [junit] = [each for each in FORMATS if each.name == "junit"]
    assert done.out == junit.render(full_report())
    assert "weak (1)" in done.err


# GitHub Actions


def test_run_annotates_and_fills_the_files_of_the_step(actions: Path) -> None:
    actions.joinpath("summary").write_text("# before\n\n")

    done = invertgate("run", fake=Fake(one_row(Verdict.WEAK)))

    [command] = commands(done.out)
    assert (command.name, command.properties["line"]) == ("error", "10")
    assert outputs(actions.joinpath("output").read_text())["exit_code"] == "1"
    summary = actions.joinpath("summary").read_text()
    assert summary.startswith("# before\n\n## invertgate: not passed\n")


def test_annotations_can_be_turned_off(actions: Path) -> None:
    done = invertgate("run", "--no-annotations")

    assert commands(done.out + done.err) == []
    assert actions.joinpath("summary").exists()


def test_elsewhere_there_are_none() -> None:
    done = invertgate("run")

    assert commands(done.out + done.err) == []


def test_annotations_stay_out_of_json(actions: Path) -> None:
    done = invertgate("run", "--json")

    assert json.loads(done.out)["exit_code"] == full_report().exit_code
    assert len(commands(done.err)) == 11
    assert actions.joinpath("output").exists()


def test_list_is_no_judgement_and_tells_github_nothing(actions: Path) -> None:
    done = invertgate("run", "--list", fake=Fake(replace(full_report(), judged=False)))

    assert commands(done.out + done.err) == []
    assert list(actions.iterdir()) == []


def test_stopped_run_is_told(actions: Path) -> None:
    done = invertgate("run", fake=Fake(stop=no_base))

    [command] = commands(done.out)
    assert command.data.startswith("HEAD and origin/main share no commit")
    assert outputs(actions.joinpath("output").read_text())["exit_code"] == "5"
    assert done.code == 5


def test_bug_with_a_hostile_message_forges_nothing(actions: Path) -> None:
    done = invertgate("run", fake=Fake(stop=bug))

    assert [command.properties["title"] for command in commands(done.out)] == [
        "invertgate could not judge"
    ]
    assert commands(done.err) == []
    assert actions.joinpath("summary").exists()


@pytest.mark.parametrize("argv", [(), ("-v",), ("--json",), ("--list",)])
def test_captured_text_forges_no_command(actions: Path, argv: tuple[str, ...]) -> None:
    done = invertgate("run", *argv, fake=Fake(hostile_report()))

    found = commands(done.out + "\n" + done.err)
    ours = [] if "--list" in argv else ["error"] * 10 + ["notice"]
    assert [command.name for command in found] == ours
    assert actions.is_dir()


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)
def test_format_in_a_log_forges_no_command(actions: Path, each: object) -> None:
    [chosen] = [one for one in FORMATS if one is each]
    stored(hostile_report())

    done = invertgate("report", chosen.flag, "-")

    assert commands(done.out) == []
    if chosen.is_json:
        assert json.loads(done.out) == json.loads(chosen.render(hostile_report()))
    assert actions.is_dir()


@pytest.mark.parametrize("text", HOSTILE)
def test_wrong_usage_with_a_hostile_word_forges_nothing(actions: Path, text: str) -> None:
    done = invertgate("run", f"--wrong-{text}")

    assert done.code == 2
    assert commands(done.err) == []
    assert actions.is_dir()


def test_json_on_standard_output_is_the_report_letter_by_letter(actions: Path) -> None:
    done = invertgate("run", "--json", fake=Fake(hostile_report()))

    assert json.loads(done.out) == json.loads(encode(hostile_report()))
    assert actions.is_dir()


def test_summary_leaves_room_for_what_stands_there(actions: Path) -> None:
    summary = actions / "summary"
    summary.write_text("x" * (LIMIT - 1500))

    invertgate("run")

    assert LIMIT - 1500 < summary.stat().st_size <= LIMIT
    assert "more lines did not fit" in summary.read_text()[-100:]


def test_summary_that_is_full_stays_as_it_is(actions: Path) -> None:
    summary = actions / "summary"
    summary.write_text("x" * LIMIT)

    done = invertgate("run")

    assert summary.stat().st_size == LIMIT
    assert "the summary of this step is full" in done.err


def test_file_of_the_step_that_cannot_be_written_is_no_verdict(
    actions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", str(actions / "missing" / "output"))

    done = invertgate("run", fake=Fake(one_row(Verdict.WEAK)))

    assert done.code == 1
    assert "missing/output cannot be written" in done.err


def test_interrupted_report_is_told_as_trouble(actions: Path) -> None:
    done = invertgate("run", fake=Fake(interrupted_report()))

    [command] = commands(done.out)
    assert command.name == "error"
    assert outputs(actions.joinpath("output").read_text())["complete"] == "false"
