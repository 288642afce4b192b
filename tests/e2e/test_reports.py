"""What a CI job gets of a real run whose tests say what they should not."""

import json
from dataclasses import replace
from pathlib import Path

from junitparser import JUnitXml

from support.actions import commands, outputs
from support.repo import two_commits
from support.run import Invertgate, Place
from support.schemas import code_quality, faults, mutation_report, sarif

FORGED = "\\n::error file=a.py::forged\\n##[error]forged\\r::set-output name=x::y"

SHOP = """\
def price(name, amount):
    if 'é漢😀' in name and amount > 10:
        return 0
    return amount
"""
SHOP_TEST = f"""\
import pytest


@pytest.mark.branch("{{true}}")
def test_price():
    print("{FORGED}")
    assert price_of() == 1, "{FORGED}"


def price_of():
    print("{FORGED}")
    return 2
"""


def test_job_gets_every_format_and_no_forged_command(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    top = tmp_path / "shop"
    two_commits(top, {"readme.md": "# Shop\n"}, {"shop.py": SHOP, "test_shop.py": SHOP_TEST})
    listed = json.loads(invertgate(Place(top), "run", "--list", "--json").stdout)
    ids = {row["side"]: row["id"] for row in listed["rows"]}
    Path(top, "test_shop.py").write_text(SHOP_TEST.replace("{true}", ids["true"]))
    step = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    place = replace(Place(top), variables=step)
    files = {name: tmp_path / name for name in ("sarif", "junit", "gitlab", "stryker", "html")}
    flags = [word for name, path in files.items() for word in (f"--{name}", str(path))]

    ran = invertgate(place, "run", "--changed", *flags)

    assert ran.exit_code == 4, ran.stderr
    assert "forged" in ran.stdout
    told = commands(f"{ran.stdout}\n{ran.stderr}")
    assert [command.properties["title"] for command in told] == [
        "invertgate: red",
        "invertgate: unbound",
    ]
    assert {command.properties["line"] for command in told} == {"2"}
    assert outputs(Path(step["GITHUB_OUTPUT"]).read_text())["red"] == "1"
    assert "**red**" in Path(step["GITHUB_STEP_SUMMARY"]).read_text()
    read = {name: files[name].read_text() for name in files}
    assert faults(sarif(), json.loads(read["sarif"])) == []
    assert faults(code_quality(), json.loads(read["gitlab"])) == []
    assert faults(mutation_report(), json.loads(read["stryker"])) == []
    assert [suite.tests for suite in JUnitXml.fromstring(read["junit"].encode())] == [2]
    assert read["html"].startswith("<!doctype html>")
    [first, _] = json.loads(read["sarif"])["runs"][0]["results"]
    region = first["locations"][0]["physicalLocation"]["region"]
    decision = SHOP.splitlines()[region["startLine"] - 1]
    shown = decision[region["startColumn"] - 1 : region["endColumn"] - 1]
    assert shown == "'é漢😀' in name and amount > 10"
