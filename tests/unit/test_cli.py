import io
import json
import os
import signal
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest

from invertgate.cli import ONLY_RUN, main, perform
from invertgate.errors import EngineError, NoBaseError, TableError
from invertgate.model import Verdict
from invertgate.options import OPTIONS
from invertgate.report.document import BindReport, Report, Unkilled
from invertgate.report.store import encode
from invertgate.request import Request
from support.reports import full_report, nothing_new, one_row, outcome


class Fake:
    """Use cases that give what a test wants and keep what they were asked."""

    def __init__(
        self, report: Report | None = None, stop: Callable[[], BaseException] | None = None
    ) -> None:
        self.report = report or one_row(Verdict.BOUND)
        self.found = BindReport((), ())
        self.stop = stop
        self.requests: list[Request] = []
        self.wrote: bool | None = None

    def run(self, request: Request) -> Report:
        self._ask(request)
        return self.report

    def bind(self, request: Request) -> BindReport:
        self._ask(request)
        return self.found

    def table(self, request: Request, *, write: bool) -> Report:
        self._ask(request)
        self.wrote = write
        return self.report

    def _ask(self, request: Request) -> None:
        self.requests.append(request)
        if self.stop:
            raise self.stop()


FULL = Path("/dev/full")

Output = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", ["", "run", "bind", "table"])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_exit_0(command: str, flag: str, capsys: Output) -> None:
    code = perform([*command.split(), flag], Fake())

    assert code == 0
    assert "Usage: invertgate" in capsys.readouterr().out


def test_version_is_exit_0(capsys: Output) -> None:
    code = perform(["--version"], Fake())

    assert code == 0
    assert capsys.readouterr().out.startswith("invertgate ")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["rnu"], "No such command 'rnu'"),
        (["run", "--chnaged"], "--changed"),
        (["run", "--workers", "many"], "'many' is not a valid integer"),
        (["run", "--operator", "sideways"], "'onesided', 'negate'"),
        (["run", "--changed", "a.py"], "choose --changed or PATH"),
        (["table", "--check", "--write"], "choose --check or --write"),
        (["bind", "--head", "main"], "No such option"),
    ],
)
def test_wrong_usage_is_exit_2_and_says_what_is_wrong(
    argv: list[str], words: str, capsys: Output
) -> None:
    fake = Fake()

    code = perform(argv, fake)

    assert (code, fake.requests) == (2, [])
    assert words in capsys.readouterr().err


def test_main_exits_with_the_code() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["rnu"])

    assert ended.value.code == 2


def test_no_command_is_exit_2_with_the_commands(capsys: Output) -> None:
    code = perform([], Fake())

    output = capsys.readouterr()
    assert code == 2
    assert "bind" in output.out + output.err


def test_request_has_what_the_command_line_says() -> None:
    fake = Fake()

    argv = (
        "run a.py b?c.py --id 0a --id a.py:0b --head HEAD~1 -n 3 --exclude x/** --exclude y/** "
        "--operator negate --timeout-factor 4"
    )
    perform([word.replace("?", " ") for word in argv.split()], fake)

    [request] = fake.requests
    assert request.paths == ("a.py", "b c.py")
    assert request.ids == ("0a", "a.py:0b")
    assert request.head == "HEAD~1"
    assert request.root == Path.cwd()
    assert request.command.startswith("invertgate run a.py 'b c.py' --id 0a")
    assert {name: value for name, value in request.overrides.items() if value} == {
        "workers": 3,
        "exclude": ("x/**", "y/**"),
        "operator": "negate",
        "timeout_factor": 4.0,
    }


@pytest.mark.parametrize(
    "option", [one for one in OPTIONS if one.about.flags], ids=lambda option: option.name
)
def test_every_option_is_a_flag_that_arrives_under_its_name(option: object) -> None:
    [chosen] = [one for one in OPTIONS if one is option]
    value = chosen.about.choices[0] if chosen.about.choices else "1"
    fake = Fake()

    command = "run" if chosen.name in ONLY_RUN else "bind"
    values = [] if chosen.type is bool else [str(value)]
    code = perform([command, chosen.about.flags[0], *values], fake)

    [request] = fake.requests
    given = [name for name, value in request.overrides.items() if value is not None and value != ()]
    assert (code, given) == (0, [chosen.name])


def test_a_switch_can_be_turned_off() -> None:
    fake = Fake()

    perform(["run", "--no-locked"], fake)

    [request] = fake.requests
    assert request.overrides["locked"] is False


@pytest.mark.parametrize(
    ("argv", "policy"),
    [(["run"], "base"), (["run", "--policy", "head"], "head"), (["bind", "--policy=head"], "head")],
)
def test_only_a_flag_lets_policies_of_the_patch_count(argv: list[str], policy: str) -> None:
    fake = Fake()

    perform(argv, fake)

    assert [request.policy for request in fake.requests] == [policy]


@pytest.mark.parametrize("argv", [["run"], ["run", "--changed"]])
def test_run_alone_means_changed(argv: list[str]) -> None:
    fake = Fake()

    perform(argv, fake)

    assert fake.requests[0].paths == ()


def test_exit_code_is_that_of_the_report(capsys: Output) -> None:
    code = perform(["run"], Fake(one_row(Verdict.WEAK)))

    assert code == 1
    assert "weak (1)" in capsys.readouterr().out


def test_nothing_new_is_told_in_a_few_lines(capsys: Output) -> None:
    code = perform(["run", "--changed"], Fake(nothing_new()))

    output = capsys.readouterr()
    assert (code, output.err) == (0, "")
    assert "0 new outcomes; examined 3 files, 41 outcomes against" in output.out


def test_json_is_the_report_on_stdout_and_all_else_on_stderr(capsys: Output) -> None:
    report = full_report()

    perform(["run", "--json"], Fake(report))

    output = capsys.readouterr()
    assert output.out == encode(report)
    assert "weak tests (1)" in output.err


def test_json_of_nothing_new_is_the_report_too(capsys: Output) -> None:
    perform(["run", "--json"], Fake(nothing_new()))

    output = capsys.readouterr()
    assert json.loads(output.out)["found"] == 0
    assert "0 new outcomes" in output.err


def test_list_is_quiet_about_progress_and_lists(capsys: Output) -> None:
    fake = Fake(replace(one_row(Verdict.UNBOUND), judged=False))

    perform(["run", "--list"], fake)

    assert fake.requests[0].list_only
    assert "000000000001  in Retry.call  the false side of" in capsys.readouterr().out


def test_verbose_lists_bound_rows(capsys: Output) -> None:
    perform(["run", "-v"], Fake(one_row(Verdict.BOUND)))

    assert "bound (1)" in capsys.readouterr().out


def test_bind_ends_1_if_no_test_notices_a_row(capsys: Output) -> None:
    fake = Fake()
    fake.found = BindReport((), (Unkilled(outcome(), 3, "stayed green"),))

    code = perform(["bind"], fake)

    assert code == 1
    assert "no test notices (1)" in capsys.readouterr().out


def test_bind_json_is_what_was_found(capsys: Output) -> None:
    fake = Fake()
    fake.found = BindReport(((outcome(), "t.py::test_a"),), ())

    perform(["bind", "--json"], fake)

    assert json.loads(capsys.readouterr().out)["bound"][0][1] == "t.py::test_a"


@pytest.mark.parametrize(
    ("flags", "verdict", "code"),
    [
        ([], Verdict.UNBOUND, 0),
        (["--write"], Verdict.UNBOUND, 0),
        (["--check"], Verdict.UNBOUND, 1),
        (["--check"], Verdict.INHERITED, 0),
    ],
)
def test_only_table_check_ends_1(
    flags: list[str], verdict: Verdict, code: int, capsys: Output
) -> None:
    report = (
        replace(one_row(verdict), judged=False) if verdict is Verdict.UNBOUND else nothing_new()
    )
    fake = Fake(report)

    assert perform(["table", *flags], fake) == code
    assert fake.wrote == ("--write" in flags)
    assert f"exit {code}: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TableError("branch_rows.json: line 3: bad\x1b[2J"), 2),
        (EngineError("pytest did not start:\n::error::usage"), 3),
        (NoBaseError("fetch with fetch-depth: 0"), 5),
    ],
)
def test_error_that_a_user_can_mend_is_a_line_and_its_exit_code(
    error: Exception, code: int, capsys: Output
) -> None:
    assert perform(["run"], Fake(stop=lambda: error)) == code

    output = capsys.readouterr().err
    assert output.startswith("invertgate: ")
    assert "Traceback" not in output
    assert "\x1b" not in output
    assert not [line for line in output.splitlines() if line.startswith("::")]


@pytest.mark.parametrize(
    "bug", [ZeroDivisionError(), RecursionError(), EOFError(), OSError(32, "x")]
)
def test_bug_keeps_its_traceback_and_is_exit_70(bug: Exception, capsys: Output) -> None:
    assert perform(["run"], Fake(stop=lambda: bug)) == 70

    output = capsys.readouterr().err
    assert "this is a bug in invertgate" in output
    assert "Traceback (most recent call last):" in output


def test_interrupt_is_exit_130(capsys: Output) -> None:
    assert perform(["run"], Fake(stop=KeyboardInterrupt)) == 130
    assert "marked incomplete" in capsys.readouterr().err


def test_termination_is_an_interrupt() -> None:
    class Terminated(Fake):
        def run(self, request: Request) -> Report:
            os.kill(os.getpid(), signal.SIGTERM)
            return super().run(request)

    before = signal.getsignal(signal.SIGTERM)

    assert perform(["run"], Terminated()) == 130
    assert signal.getsignal(signal.SIGTERM) is before


def test_second_termination_does_not_disturb_the_cleaning() -> None:
    cleaned = []

    class Terminated(Fake):
        def run(self, request: Request) -> Report:
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                return super().run(request)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)
                cleaned.append(request)

    assert perform(["run"], Terminated()) == 130
    assert len(cleaned) == 1


@pytest.mark.parametrize("report", [nothing_new(), full_report()], ids=["nothing", "full"])
@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_reader_who_left_does_not_change_the_exit_code(report: Report, flags: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)

    with os.fdopen(writer, "w", encoding="utf-8") as stream, redirect_stdout(stream):
        code = perform(["run", *flags], Fake(report))

    assert code == report.exit_code


@pytest.mark.skipif(not FULL.exists(), reason="a disk that is always full")
def test_full_disk_is_exit_2(capsys: Output) -> None:
    with FULL.open("w", encoding="utf-8") as stream, redirect_stdout(stream):
        code = perform(["run"], Fake())

    assert code == 2
    assert "No space left" in capsys.readouterr().err


def test_output_that_the_locale_cannot_encode_is_spelled_out() -> None:
    raw = io.BytesIO()

    with redirect_stdout(io.TextIOWrapper(raw, encoding="ascii")):
        code = perform(["run"], Fake(one_row(Verdict.WEAK, "naïve \udcff")))
        written = raw.getvalue()

    assert code == 1
    assert b"why: na\\xefve \\udcff" in written


def test_process_without_stdout_still_has_its_exit_code() -> None:
    with redirect_stdout(None):
        code = perform(["run"], Fake(one_row(Verdict.WEAK)))

    assert code == 1


def test_bind_hands_on_what_it_is_asked_for() -> None:
    fake = Fake()

    perform(["bind", "--rebind", "--dry-run", "--markers"], fake)

    [request] = fake.requests
    assert (request.rebind, request.dry_run, request.markers) == (True, True, True)


def test_markers_cannot_be_locked(capsys: Output) -> None:
    code = perform(["bind", "--markers", "--lock"], Fake())

    assert code == 2
    assert "a claim by marker cannot be locked" in capsys.readouterr().err
