import json
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from _beside import cost_of_one_more
from _environments import Environment, Finished, ScriptError
from _peers import PEERS, Module, Peer, Session, session_of

BY_NAME = {peer.name: peer for peer in PEERS}


@pytest.fixture
def module(tmp_path: Path) -> Module:
    return Module(tmp_path, "src/steps/__init__.py", "tests", "src/steps", least=False)


def printed(output: str = "") -> Finished:
    return Finished(0, output, "", 1.0, 1.0)


def test_mutmut_is_read_from_its_notes_without_mutants_it_was_not_asked_for(module: Module) -> None:
    (module.folder / "mutants").mkdir()
    codes = {"a__mutmut_1": 1, "a__mutmut_2": 0, "a__mutmut_3": None}
    (module.folder / "mutants/a.py.meta").write_text(json.dumps({"exit_code_by_key": codes}))

    told = BY_NAME["mutmut"].told(module, printed())

    assert told == Counter(killed=1, survived=1)


def test_settings_of_mutmut_are_written_once(module: Module) -> None:
    settings = module.folder / "pyproject.toml"
    settings.write_text("[project]\n")

    for _ in range(2):
        BY_NAME["mutmut"].prepare(module, lambda _: printed())

    assert settings.read_text().count("[tool.mutmut]") == 1


def test_cosmic_ray_is_read_from_its_session(module: Module) -> None:
    with closing(sqlite3.connect(module.folder / "cosmic.sqlite")) as noted, noted:
        noted.execute("CREATE TABLE work_results (test_outcome)")
        noted.executemany("INSERT INTO work_results VALUES (?)", [("KILLED",), ("SURVIVED",)])

    assert BY_NAME["cosmic-ray"].told(module, printed()) == Counter(killed=1, survived=1)


def test_irradiate_is_read_from_its_report(module: Module) -> None:
    mutants = [{"status": "Killed"}, {"status": "Killed"}, {"status": "Survived"}]
    report = {"files": {"steps.py": {"mutants": mutants}}}
    (module.folder / "irradiate-report.json").write_text(json.dumps(report))

    assert BY_NAME["irradiate"].told(module, printed()) == Counter(killed=2, survived=1)


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("wesker", {"mutation": {"total_mutants": 5, "total_killed": 2}}),
        ("fest", {"mutants_tested": 5, "killed": 2}),
    ],
)
def test_others_are_read_from_what_they_print(
    name: str, output: dict[str, object], module: Module
) -> None:
    told = BY_NAME[name].told(module, printed(json.dumps(output)))

    assert (told.total(), told["killed"]) == (5, 2)


def stand_in(*words: str, told: Counter[str]) -> Peer:
    return Peer("stand-in", ("none",), lambda _: ("python", *words), lambda *_: told)


HERE = Environment(Path(sys.prefix))


def test_session_counts_mutants_and_cost(module: Module) -> None:
    peer = stand_in("-c", "sum(range(10**6))", told=Counter(killed=2, survived=1))

    session = session_of(peer, module, HERE)

    assert (session.mutants, session.killed) == (3, 2)
    assert session.cpu > 0


def test_tool_that_tried_nothing_has_no_cost(module: Module) -> None:
    with pytest.raises(ScriptError, match="no mutant"):
        session_of(stand_in("-c", "", told=Counter()), module, HERE)


def test_tool_that_is_not_there_is_named(module: Module, tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="no program python"):
        session_of(stand_in(told=Counter()), module, Environment(tmp_path))


def test_one_more_costs_what_the_sessions_differ_by() -> None:
    few, many = Session(10, 10, 2.0, 1.0), Session(50, 50, 4.0, 1.0)

    assert cost_of_one_more([few, many]) == pytest.approx(0.05)
    assert cost_of_one_more([many]) == pytest.approx(0.08)
    assert cost_of_one_more([replace(few, cpu=5.0), many]) == pytest.approx(0.08)
    with pytest.raises(ScriptError, match="no more mutants"):
        cost_of_one_more([many, few])
