"""Judge the judge: every verdict of a report against a hand-edited file run by plain pytest.

For each row of a report the inverted outcome is written into a fresh copy of the project as source
text, by code that shares nothing with the package, and the claimed test is run there by
``python -m pytest NODEID`` in a new process. Any disagreement is shown with its runs.
"""

import argparse
import itertools
import json
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from _edits import OPERATORS, Anchor, NotEditableError, Source, find, mark
from _environments import ScriptError
from _trial import Ending, Project, Subject, Trial, open_project, read_file, try_test

JUDGED: Final = frozenset({"bound", "weak", "unreached", "red", "unproven"})
"""Verdicts that a run can confirm; the others say that nothing was run."""
NOT_BOUND: Final = "not bound"
"""What ``bind`` says of a row and the tests that came closest."""
SECONDS: Final = 60.0
MARK: Final = '__import__("posix").close(__import__("posix").open({path}, 577, 384))'
"""An expression that makes a file; ``posix`` because tests replace functions of ``os``."""


@dataclass(frozen=True, slots=True)
class Question:
    """A row and a test, and what was said of them."""

    path: str
    kind: str
    side: str
    anchor: Anchor | None
    line: int
    predicate: str
    test: str
    verdict: str
    """What the gate says, or ``NOT_BOUND``."""
    reason: str = ""
    operator: str = ""
    project: str | None = None
    """The folder that the nodeid starts from, below the top; None for the one that was named."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the oracle says, and the runs that it says it by."""

    question: Question
    verdict: str
    """Empty if the outcome cannot be written as text."""
    reason: str = ""
    control: Trial | None = None
    marked: Trial | None = None
    inverted: Trial | None = None

    @property
    def agrees(self) -> bool:
        """Tell whether both say the same, or the oracle has nothing to say."""
        if self.question.verdict == NOT_BOUND:
            return self.verdict != "bound"
        return self.verdict in {"", self.question.verdict}


def main(argv: Sequence[str] | None = None) -> int:
    """Compare a report with the oracle; 1 if they disagree anywhere."""
    options = _parser().parse_args(argv)
    warnings.simplefilter("ignore", SyntaxWarning)
    try:
        return _compare(options)
    except ScriptError as error:
        print(f"oracle: {error}", file=sys.stderr)
        return 2


def read_questions(
    document: Mapping[str, Any], *, weak_tests: bool = False
) -> tuple[list[Question], Counter[str]]:
    """Take the questions out of a report, and count the rows that hold none, by verdict.

    Args:
        document: The report of ``run``, or that of ``bind`` with the rows that no test kills.
        weak_tests: Ask also for the tests that are said to stay green, whatever the row's verdict.
    """
    operator = str(document.get("operator") or "")
    questions: list[Question] = []
    skipped: Counter[str] = Counter()
    for row in _list(document.get("rows")):
        if row["verdict"] in JUDGED and row.get("test"):
            questions.append(_question(row, operator))
        else:
            skipped[str(row["verdict"])] += 1
        green = [test for test in _list(row.get("weak_tests")) if test != row.get("test")]
        said = [{**row, "test": test, "verdict": "weak"} for test in green if weak_tests]
        questions += [_question(row_of_test, operator) for row_of_test in said]
    for unkilled in _list(document.get("unkilled")):
        for test in _list(unkilled.get("nearest")):
            row = {**unkilled["outcome"], "test": test, "verdict": NOT_BOUND}
            questions.append(_question(row, operator))
    return questions, skipped


def sample(questions: Sequence[Question], number: int | None, seed: int) -> list[Question]:
    """Draw some of the questions: each sort of row in turn, so that the rare ones are there."""
    if number is None or number >= len(questions):
        return list(questions)
    shuffled = random.Random(seed).sample(questions, len(questions))  # noqa: S311  no secret
    sorts: dict[tuple[str, str, str], list[Question]] = {}
    for question in shuffled:
        sorts.setdefault((question.verdict, question.kind, question.side), []).append(question)
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*sorts.values()))
    return [question for question in in_turn if question is not None][:number]


def verdict_of(
    control: Trial, marked: Trial | None, inverted: Trial | None, *, negated: bool
) -> tuple[str, str]:
    """Say what the runs of a row amount to, and why.

    Args:
        control: The test without a change.
        marked: The test with a mark at the outcome; None if it was not needed.
        inverted: The test with the outcome inverted; None if the control did not pass.
        negated: The whole test was inverted: then only the mark tells that the outcome was taken.
    """
    if control.ending is Ending.TIMEOUT:
        return "unproven", "the control ran out of time"
    if control.ending is not Ending.PASSED or inverted is None:
        return "red", f"control: {control.ending}"
    return _verdict_of_inverted(marked, inverted, negated=negated)


def ask(project: Project, question: Question) -> Answer:
    """Judge one row by running its test."""
    negated = question.operator == "negate"
    with tempfile.TemporaryDirectory(prefix="oracle-mark-") as scratch:
        mark_file = Path(scratch, "taken")
        try:
            inverted_text, marked_text = _texts(project, question, mark_file)
        except (NotEditableError, SyntaxError, RecursionError, OSError) as error:
            return Answer(question, "", str(error) or type(error).__name__)

        folder = project.folder if question.project is None else question.project
        subject = Subject(folder, question.test, question.path, mark_file)

        def attempt(content: bytes | None) -> Trial:
            return try_test(project, subject, content)

        control = attempt(None)
        inverted = attempt(inverted_text) if control.ending is Ending.PASSED else None
        marked = None
        if inverted and (negated or inverted.ending is Ending.PASSED or not inverted.imported):
            marked = attempt(marked_text)
    verdict, reason = verdict_of(control, marked, inverted, negated=negated)
    return Answer(question, verdict, reason, control, marked, inverted)


def _verdict_of_inverted(
    marked: Trial | None, inverted: Trial, *, negated: bool
) -> tuple[str, str]:
    taken = marked is not None and marked.marked
    foreign = inverted.foreign or (marked.foreign if marked else "")
    if foreign and not inverted.imported:
        return "not imported", f"the test imports {foreign}"
    if inverted.ending is Ending.PASSED or (negated and not taken):
        return ("weak", "") if taken else ("unreached", "")
    if inverted.ending is not Ending.FAILED or inverted.message.endswith("MemoryError"):
        return "unproven", f"inverted: {inverted.ending}"
    if not inverted.imported and not taken:
        return "not imported", "the test fails, but no sign of the edited file was seen"
    return "bound", ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="oracle.py", description=__doc__)
    parser.add_argument("project", type=Path, help="the project's folder")
    parser.add_argument("--report", type=Path, help="default: PROJECT/invertgate.out/report.json")
    parser.add_argument("--pairs", type=Path, help="a JSON list of rows to judge, and no report")
    parser.add_argument("--sample", type=int, metavar="N", help="judge only so many rows")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--weak-tests", action="store_true", help="judge all tests said to be weak")
    parser.add_argument("--jobs", type=int, default=2, metavar="J", help="runs at the same time")
    parser.add_argument("--python", type=Path, default=sys.executable, help="runs the tests")
    parser.add_argument("--limit", type=float, default=SECONDS, help="seconds for one run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all answers and runs")
    return parser


def _compare(options: argparse.Namespace) -> int:
    document = _read_document(options)
    questions, skipped = read_questions(document, weak_tests=options.weak_tests)
    chosen = sample(questions, options.sample, options.seed)
    head = str(document.get("head") or "")
    project = open_project(options.project, Path(options.python), head, options.limit)
    with ThreadPoolExecutor(options.jobs) as pool:
        answers = list(_shown(pool.map(lambda question: ask(project, question), chosen)))
    if options.json:
        written = [{**asdict(answer), "agrees": answer.agrees} for answer in answers]
        options.json.write_text(json.dumps(written, indent=1), "utf-8")
    print(summary(answers, len(questions), skipped))
    return 0 if all(answer.agrees for answer in answers) else 1


def _read_document(options: argparse.Namespace) -> dict[str, Any]:
    file = options.pairs or options.report or options.project / "invertgate.out" / "report.json"
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ScriptError(f"no report can be read: {error}") from error
    return {"rows": content} if isinstance(content, list) else dict(content)


def _question(row: Mapping[str, Any], operator: str) -> Question:
    anchor = row.get("anchor")
    return Question(
        path=row["path"],
        kind=row["kind"],
        side=row["side"],
        anchor=_anchor(anchor) if anchor else None,
        line=row.get("line") or 0,
        predicate=row.get("predicate") or "",
        test=row["test"],
        verdict=row["verdict"],
        reason=row.get("reason") or "",
        operator=row.get("operator") or operator,
        project=row.get("project"),
    )


def _anchor(anchor: Mapping[str, int]) -> Anchor:
    return (anchor["line"], anchor["column"], anchor["end_line"], anchor["end_column"])


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _texts(project: Project, question: Question, mark_file: Path) -> tuple[bytes, bytes]:
    source = Source(read_file(project, question.path))
    place = find(
        source,
        question.kind,
        anchor=question.anchor,
        line=question.line,
        predicate=question.predicate,
    )
    if question.operator not in OPERATORS:
        raise NotEditableError(f"no such operator: {question.operator}")
    inverted = OPERATORS[question.operator](source, place, question.side)
    marked = mark(source, place, question.side, MARK.format(path=json.dumps(str(mark_file))))
    return source.with_edits(inverted), source.with_edits(marked)


def _shown(answers: Iterable[Answer]) -> Iterator[Answer]:
    """Pass answers on and print those that a reader has to see."""
    for number, answer in enumerate(answers, start=1):
        if not answer.agrees or not answer.verdict:
            print(describe(answer), flush=True)
        elif number % 10 == 0:
            print(f"oracle: {number} rows judged", file=sys.stderr, flush=True)
        yield answer


def describe(answer: Answer) -> str:
    """Tell of a row what was said by whom, and what its runs showed."""
    question = answer.question
    said = f"the oracle says {answer.verdict}" if answer.verdict else "the oracle says nothing"
    lines = [
        f"{question.path}:{question.line} {question.kind}/{question.side} {question.predicate}",
        f"  test: {question.test}",
        f"  the gate says {question.verdict} {_in_brackets(question.reason)}".rstrip(),
        f"  {said} {_in_brackets(answer.reason)}".rstrip(),
    ]
    trials = {"control": answer.control, "marked": answer.marked, "inverted": answer.inverted}
    for name, trial in trials.items():
        if trial is not None:
            marked = ", outcome taken" if trial.marked else ""
            where = "edited file imported" if trial.imported else "edited file not imported"
            lines.append(f"  {name}: {trial.ending} in {trial.seconds:.1f} s, {where}{marked}")
            lines += [f"    {line}" for line in trial.message.splitlines()[:8]]
    return "\n".join(lines)


def summary(answers: Sequence[Answer], asked: int, skipped: Counter[str]) -> str:
    """Count what was judged, what was not, and why."""
    judged = [answer for answer in answers if answer.verdict]
    disagree = sum(not answer.agrees for answer in judged)
    by_verdict = Counter(answer.verdict for answer in judged)
    counts = ", ".join(f"{number} {verdict}" for verdict, number in sorted(by_verdict.items()))
    left = [f"{number} {verdict}" for verdict, number in sorted(skipped.items())]
    if asked > len(answers):
        left.append(f"{asked - len(answers)} not in the sample")
    if len(answers) > len(judged):
        left.append(f"{len(answers) - len(judged)} not writable as text")
    return (
        f"oracle: {len(judged)} rows judged ({counts or 'none'}), {disagree} disagreements"
        f"; not judged: {', '.join(left) or 'none'}"
    )


def _in_brackets(text: str) -> str:
    return f"({text})" if text else ""


if __name__ == "__main__":
    sys.exit(main())
