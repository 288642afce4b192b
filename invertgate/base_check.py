"""Whether tests also pass on the base's source: production code of the base, tests of the head."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from invertgate.experiment.told import SessionError
from invertgate.lanes.paths import PathClass, classify
from invertgate.model import ChangedFile, Ending, Result
from invertgate.patch.projects import is_configuration
from invertgate.patch.scope import TEST_FILE
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey
from invertgate.trial import Laboratory, laboratory


@dataclass(frozen=True, slots=True)
class BaseCheck:
    """Which tests pass on the base's source."""

    passes: Mapping[str, bool]
    """By nodeid; a test of which nothing can be said is not among them."""
    notes: tuple[str, ...] = ()


def worth_asking(results: Iterable[Result]) -> dict[str, bool]:
    """Return the tests that pass on the head, and whether they need a process of their own."""
    found: dict[str, bool] = {}
    for result in results:
        green = [run for run in result.runs if not run.inverted and run.ending is Ending.PASSED]
        if green:
            is_alone = not any(run.counted and not run.cold for run in green)
            found[result.test] = found.get(result.test, False) or is_alone
    return found


def passing_on_base(
    request: Request, seen: Survey, project: ProjectSurvey, tests: Mapping[str, bool]
) -> BaseCheck:
    """Run tests in private copies that hold the base's production code.

    Args:
        request: What the user asked for.
        seen: What is judged.
        project: The project of the tests.
        tests: Nodeids, each with whether it needs a process of its own.

    Raises:
        InvertgateError: The copies cannot be made.
    """
    if not tests:
        return BaseCheck({})
    if not seen.patch.base:
        return BaseCheck({}, ("whole files are judged: there is no base to run the tests on",))
    sources = dict(_base_sources(seen))
    with laboratory(request, seen, project, (), most_workers=len(tests)) as lab:
        for top in _tops(lab):
            _put(sources, top)
        try:
            return BaseCheck(_passing(lab, tests))
        except SessionError as error:
            return BaseCheck({}, (f"pytest could not be run on the base's source: {error}",))


def _passing(lab: Laboratory, tests: Mapping[str, bool]) -> dict[str, bool]:
    """Tell which tests pass; one that the base's source does not let pytest collect does not."""
    passes = dict.fromkeys(tests, False)
    for is_alone in (False, True):
        chosen = [test for test, alone in tests.items() if alone is is_alone]
        forks = lab.options.fork and not is_alone
        bench = replace(lab, options=replace(lab.options, fork=forks))
        if chosen:
            passes |= {each.test: each.passed for each in bench.look(lab.existing(chosen), chosen)}
    return passes


def _tops(lab: Laboratory) -> Iterator[Path]:
    """Return the tops of all copies, the pristine one among them."""
    yield from (each / lab.place.name for each in lab.place.scratch.iterdir() if _holds(each, lab))


def _holds(folder: Path, lab: Laboratory) -> bool:
    return (folder / lab.place.name).is_dir()


def _base_sources(seen: Survey) -> Iterator[tuple[str, bytes | None]]:
    """Return what production files were at the base, by path; None for those it has not.

    Files that configure pytest, tests and their fixtures stay those of the head.
    """
    for file in seen.patch.files:
        if file.is_row_source or (file.head is None and _is_production(file.path)):
            yield from _before(file)
    for left in seen.patch.left_out:
        if left.reason != TEST_FILE and _is_production(left.path):
            yield left.path, seen.repository.blob_at(seen.patch.base, left.path)


def _before(file: ChangedFile) -> Iterator[tuple[str, bytes | None]]:
    if file.base_path != file.path:
        yield file.path, None
    if file.base_path is not None:
        yield file.base_path, file.base


def _is_production(path: str) -> bool:
    kind = classify(path, table="branch_rows.json", neutral=False)
    return kind is PathClass.PRODUCTION and not is_configuration(path)


def _put(sources: Mapping[str, bytes | None], top: Path) -> None:
    for path, content in sources.items():
        file = top / path
        if content is None:
            if file.is_file() or file.is_symlink():
                file.unlink()
            continue
        if file.is_symlink() or file.is_dir():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
