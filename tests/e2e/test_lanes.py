"""The lanes on real repositories: a test for each row of their table, and what must not happen."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from support.lanes import attempts, place, repository, today
from support.repo import two_commits
from support.run import Ended, Invertgate, Place, start
from support.run import ended as what_is_left
from support.trees import fingerprint

TOTAL = "shop/total.py"
CHANGED_TOTAL = {TOTAL: "def total(prices):\n    return sum(prices)\n"}


def only_attempt(ended: Ended) -> dict[str, object]:
    [attempt] = attempts(ended)
    return attempt


def executable(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def with_command(command: str, seconds: float = 30.0) -> Mapping[str, str]:
    config = f"[tool.invertgate]\nproperty_command = [{json.dumps(command)}]\n"
    return {"pyproject.toml": f"{config}property_seconds = {seconds}\n"}


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("1_over_the_cap", "400 are allowed"),
        ("2_fixture_and_test", "tests/fixtures/orders.json"),
        ("3_assertion_removed", "tests/test_shop.py"),
    ],
)
def test_what_is_not_narrow_is_rejected_and_the_property_lane_does_not_start(
    tmp_path: Path, invertgate: Invertgate, patch: str, reason: str
) -> None:
    ended = invertgate(place(tmp_path, patch), "route")

    assert ended.exit_code == 7, str(ended)
    attempt = only_attempt(ended)
    assert (attempt["probe"], attempt["lane"]) == ("reject", "not started")
    assert (attempt["merge_credit"], attempt["model_call_allowed"]) == (0, False)
    assert attempt["properties"] == []
    assert reason in str(attempt["reasons"])
    assert "not started" in ended.stdout


def test_a_narrow_patch_whose_properties_are_mapped_is_eligible(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    ended = invertgate(place(tmp_path, "4_narrow_and_mapped"), "route")

    assert ended.exit_code == 0, str(ended)
    attempt = only_attempt(ended)
    assert (attempt["probe"], attempt["lane"]) == ("pass", "eligible")
    assert (attempt["merge_credit"], attempt["model_call_allowed"]) == (0, True)
    assert attempt["properties"] == [
        {"id": "total-is-the-sum", "units": 1, "status": "selected"},
        {"id": "order-is-kept", "units": 2, "status": "quarantined"},
    ]
    assert "0, pending human review" in ended.stdout


def test_a_frozen_property_is_not_run_and_the_others_are(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    ended = invertgate(place(tmp_path, "5_named_test_frozen"), "lane", "run")

    assert ended.exit_code == 8, str(ended)
    attempt = only_attempt(ended)
    assert {each["id"]: each["result"] for each in attempt["results"]} == {  # type: ignore[attr-defined]
        "total-is-the-sum": "hold",
        "order-is-kept": "quarantined",
    }
    [frozen] = attempt["quarantine"]  # type: ignore[misc]
    assert (frozen["status"], frozen["merge_credit"]) == ("quarantined", 0)  # type: ignore[has-type]
    assert (attempt["probe"], attempt["merge_credit"]) == ("pass", 0)


def test_a_property_without_an_answer_is_unresolved(tmp_path: Path, invertgate: Invertgate) -> None:
    ended = invertgate(place(tmp_path, "6_neither_hold_nor_fail"), "lane", "run")

    assert ended.exit_code == 3, str(ended)
    attempt = only_attempt(ended)
    assert (attempt["probe"], attempt["lane"]) == ("pass", "unresolved")
    assert "nobody has decided yet" in str(attempt["results"])


def test_every_property_that_holds_is_still_for_a_person_to_decide(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    ended = invertgate(place(tmp_path, "7_every_property_holds"), "lane", "run")

    assert ended.exit_code == 0, str(ended)
    attempt = only_attempt(ended)
    assert (attempt["probe"], attempt["lane"], attempt["merge_credit"]) == ("pass", "hold", 0)
    assert "0, pending human review" in ended.stdout


def test_a_property_that_fails_is_exit_1(tmp_path: Path, invertgate: Invertgate) -> None:
    after = {TOTAL: "def total(prices):\n    return sum(prices) + 1\n"}
    _, place = repository(tmp_path, {}, after)

    ended = invertgate(place, "lane", "run")

    assert ended.exit_code == 1, str(ended)
    [result] = only_attempt(ended)["results"]  # type: ignore[misc]
    assert result["result"] == "fail"  # type: ignore[has-type]


def test_a_production_file_without_a_property_stops_the_lane(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    _, place = repository(tmp_path, {}, {"shop/latest_news.py": 'NEWS = "We are back."\n'})

    ended = invertgate(place, "lane", "run")

    assert ended.exit_code == 7, str(ended)
    assert only_attempt(ended)["lane"] == "stopped"
    assert 'files: ["shop/latest_news.py"]' in ended.stdout


def test_properties_over_the_cap_split_the_patch(tmp_path: Path, invertgate: Invertgate) -> None:
    after = {"shop/books.py": "def difference(debit, credit):\n    return -(credit - debit)\n"}
    _, place = repository(tmp_path, {}, after)

    ended = invertgate(place, "route")

    assert ended.exit_code == 7, str(ended)
    assert only_attempt(ended)["lane"] == "split the patch"


def test_documents_alone_have_nothing_to_run(tmp_path: Path, invertgate: Invertgate) -> None:
    _, place = repository(tmp_path, {}, {"README.md": "# Shop\n"})

    routed, ran = invertgate(place, "route"), invertgate(place, "lane", "run")

    assert (routed.exit_code, ran.exit_code) == (0, 0)
    assert [each["lane"] for each in attempts(ran)] == ["nothing to run"] * 2
    assert attempts(ran)[0]["model_call_allowed"] is False


@pytest.mark.parametrize("command", [("route",), ("lane", "run")])
def test_a_missing_base_is_a_reject_and_logged(
    tmp_path: Path, invertgate: Invertgate, command: tuple[str, ...]
) -> None:
    ended = invertgate(place(tmp_path, "4_narrow_and_mapped"), *command, "--base", "nowhere")

    assert ended.exit_code == 7, str(ended)
    attempt = only_attempt(ended)
    assert (attempt["probe"], attempt["base"], attempt["merge_credit"]) == ("reject", "", 0)
    assert "no base: the base nowhere names no commit here" in str(attempt["reasons"])


def test_a_folder_without_a_repository_is_a_reject(tmp_path: Path, invertgate: Invertgate) -> None:
    tmp_path.joinpath("plain").mkdir()

    ended = invertgate(Place(tmp_path / "plain"), "route")

    assert ended.exit_code == 7, str(ended)
    assert "not in a git repository" in str(only_attempt(ended)["reasons"])


def test_a_property_that_the_patch_adds_does_not_count(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    added = (
        "  - id: news\n    statement: There is news.\n    units: 1\n"
        "    files: [shop/latest_news.py]\n"
    )
    repo, place = repository(tmp_path, {}, {"shop/latest_news.py": 'NEWS = "We are back."\n'})
    old = repo.path.joinpath("properties.yaml").read_text(encoding="utf-8")
    repo.commit("property", {"properties.yaml": old + added})

    ended = invertgate(place, "route")

    assert ended.exit_code == 7, str(ended)
    assert "properties.yaml" in str(only_attempt(ended)["reasons"])


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("properties.yaml", "properties:\n  - id: a\n", 'properties.yaml:2: field "statement"'),
        ("flaky.yaml", "flaky:\n  - id: a\n", 'flaky.yaml:2: field "owner" is missing'),
        (
            "pyproject.toml",
            "[tool.invertgate]\nunit_cap = 'x'\n",
            "tool.invertgate.unit_cap must be",
        ),
    ],
)
@pytest.mark.parametrize("is_new", [True, False], ids=["by the patch", "at the base"])
def test_a_malformed_file_is_named_with_line_and_field(
    tmp_path: Path, invertgate: Invertgate, file: str, content: str, says: str, *, is_new: bool
) -> None:
    before, after = ({}, {file: content}) if is_new else ({file: content}, {})
    _, place = repository(tmp_path, before, CHANGED_TOTAL | after)

    ended = invertgate(place, "route")

    assert ended.exit_code == 2, str(ended)
    assert says in ended.stderr
    assert not Path(place.top, "lane-log.jsonl").exists()


def test_an_executable_is_asked_about_each_property(tmp_path: Path, invertgate: Invertgate) -> None:
    script = f"cat > {tmp_path}/question; echo hold"
    config = with_command(executable(tmp_path / "ask", script))
    _, place = repository(tmp_path, config, CHANGED_TOTAL)

    ended = invertgate(place, "lane", "run")

    assert ended.exit_code == 0, str(ended)
    question = json.loads(tmp_path.joinpath("question").read_bytes())
    assert question["property"] == "total-is-the-sum"
    assert question["statement"] == "The total of an order is the sum of its prices."
    assert "+    return sum(prices)\n" in question["patch"]
    fixtures = "sha256sum tests/fixtures/orders.json | sha256sum"
    expected = subprocess.run(
        ["/bin/sh", "-c", fixtures], cwd=place.top, capture_output=True, text=True, check=True
    )
    assert question["fixture_sha256"] == expected.stdout.split()[0]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("sleep 300", "no answer in 2 seconds"),
        ("setsid sleep 300 & sleep 300", "no answer in 2 seconds"),
        ("yes hold", "bytes of output"),
        ("echo hold please", "neither hold nor fail"),
        ("echo hold; kill -9 $$", "ended by signal 9"),
        ("echo hold; exit 1", "exit code 1"),
        ("true", "no word on standard output"),
    ],
)
def test_a_runner_that_does_not_answer_is_unresolved_and_leaves_nothing(
    tmp_path: Path, invertgate: Invertgate, script: str, reason: str
) -> None:
    asked = 'case "$(cat)" in *order-is-kept*) echo hold; exit;; esac\n' + script
    config = with_command(executable(tmp_path / "ask", asked), seconds=2.0)
    after = {"shop/orders.py": "def orders(incoming):\n    return list(incoming)\n"}
    _, place = repository(tmp_path, {**config, "flaky.yaml": ""}, after)

    ended = invertgate(place, "lane", "run")

    assert ended.exit_code == 3, str(ended)
    results = {each["id"]: each for each in only_attempt(ended)["results"]}  # type: ignore[attr-defined]
    assert results["total-is-the-sum"]["result"] == "unresolved"
    assert reason in results["total-is-the-sum"]["reason"]
    assert results["order-is-kept"]["result"] == "hold"
    assert (ended.processes, ended.scratch) == ((), ())


def test_a_patch_cannot_change_the_runner_that_judges_it(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    config = {"pyproject.toml": '[tool.invertgate]\nproperty_command = ["sh", "ask.sh"]\n'}
    before = {**config, "ask.sh": "echo fail\n"}
    rows = (
        "properties:\n  - id: all\n    statement: All is well.\n    units: 1\n    files: ['**']\n"
    )
    _, place = repository(
        tmp_path, {**before, "properties.yaml": rows}, CHANGED_TOTAL | {"ask.sh": "echo hold\n"}
    )

    ended = invertgate(place, "lane", "run")

    assert ended.exit_code == 3, str(ended)
    assert "the patch changes ask.sh" in ended.stdout


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("import time\n    time.sleep(300)", "unresolved"),
        ("while True: print('x' * 9999)", "unresolved"),
        ("import os\n    os._exit(0)", "unresolved"),
        ("import os\n    os.kill(os.getpid(), 11)", "unresolved"),
        ("import os\n    os.fork()", "hold"),
        ("raise RuntimeError", "fail"),
        ("from pathlib import Path\n    Path('made').touch()", "hold"),
    ],
)
def test_a_local_property_that_misbehaves_is_no_hold_and_leaves_nothing(
    tmp_path: Path, invertgate: Invertgate, body: str, result: str
) -> None:
    before = {
        "tests/prop_shop.py": f"def prop_total_is_the_sum():\n    {body}\n",
        "pyproject.toml": "[tool.invertgate]\nproperty_seconds = 20.0\n",
    }
    seconds = "4.0" if "sleep" in body else "20.0"
    before["pyproject.toml"] = before["pyproject.toml"].replace("20.0", seconds)
    repo, place = repository(tmp_path, before, CHANGED_TOTAL)
    untouched = fingerprint(repo.path)

    ended = invertgate(place, "lane", "run")

    [found] = only_attempt(ended)["results"]  # type: ignore[misc]
    assert found["result"] == result, str(ended)  # type: ignore[has-type]
    assert (ended.processes, ended.scratch) == ((), ())
    Path(repo.path, "lane-log.jsonl").unlink()
    assert fingerprint(repo.path) == untouched


def test_an_interrupted_run_leaves_nothing(tmp_path: Path) -> None:
    config = with_command(executable(tmp_path / "ask", f"touch {tmp_path}/started; sleep 300"), 300)
    _, place = repository(tmp_path, config, CHANGED_TOTAL)

    with start(place, ("lane", "run")) as (process, mark):
        while not tmp_path.joinpath("started").exists():
            assert process.poll() is None
        process.terminate()
        said = process.communicate(timeout=60)
        stopped = what_is_left(place, process.returncode, said, mark)

    assert (stopped.exit_code, stopped.processes, stopped.scratch) == (130, (), ())


def test_untracked_files_are_judged_and_a_commit_can_be(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    repo, place = repository(tmp_path, {}, CHANGED_TOTAL)
    repo.write({"shop/new.py": "x = 1\n"})

    dirty = invertgate(place, "lane", "run")
    clean = invertgate(place, "lane", "run", "--head", "HEAD", "--log", str(tmp_path / "log"))

    assert (dirty.exit_code, clean.exit_code) == (7, 0), str(clean)
    assert "shop/new.py" in dirty.stdout
    assert json.loads(tmp_path.joinpath("log").read_bytes())["head"] == repo.head


def test_the_log_of_earlier_attempts_is_no_part_of_the_patch(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    repo, place = repository(tmp_path, {}, CHANGED_TOTAL)
    old = '{"probe": "pass"}\n' * 500
    repo.write({"lane-log.jsonl": old, "other.jsonl": old})

    usual = invertgate(place, "route")
    named = invertgate(place, "route", "--log", "other.jsonl")

    assert (usual.exit_code, named.exit_code) == (7, 0), str(named)
    assert "other.jsonl" in usual.stdout


def test_attempts_written_at_once_are_all_whole(tmp_path: Path) -> None:
    _, place = repository(tmp_path, {}, CHANGED_TOTAL)

    with start(place, ("route",)) as one, start(place, ("route",)) as two:
        codes = [process.wait(60) for process, _ in (one, two)]

    log = place.top.joinpath("lane-log.jsonl").read_text(encoding="utf-8").splitlines()
    assert codes == [0, 0]
    assert [json.loads(line)["probe"] for line in log] == ["pass", "pass"]


def test_a_log_that_the_patch_makes_a_link_is_not_written_through(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    repo, place = repository(tmp_path, {}, CHANGED_TOTAL)
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine\n")
    repo.path.joinpath("lane-log.jsonl").symlink_to(precious)

    ended = invertgate(place, "route")

    assert ended.exit_code == 2, str(ended)
    assert precious.read_bytes() == b"mine\n"


def test_a_summary_counts_attempts_and_ends_1_for_credit_beside_a_quarantine(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place_ = place(tmp_path, "4_narrow_and_mapped")
    invertgate(place_, "route")
    invertgate(place_, "route", "--base", "nowhere")
    log = place_.top / "lane-log.jsonl"

    good = invertgate(place_, "lane", "summary", "lane-log.jsonl")
    bad_line = log.read_text(encoding="utf-8").splitlines()[0]
    bad_line = bad_line.replace('"merge_credit": 0', '"merge_credit": 1')
    log.write_text(
        f"{log.read_text(encoding='utf-8')}{bad_line}\n{bad_line[:40]}", encoding="utf-8"
    )
    bad = invertgate(place_, "lane", "summary", "--json", "lane-log.jsonl")
    later = invertgate(place_, "lane", "summary", "--since", "9999-01-01", "lane-log.jsonl")

    assert good.exit_code == 0, str(good)
    assert good.stdout.splitlines()[-1].split() == ["all", "2", "1", "1", "0"]
    assert bad.exit_code == 1, str(bad)
    counted = json.loads(bad.stdout)
    assert (counted["attempts"], counted["credit_bugs"]) == (3, 1)
    assert counted["unread"] == ["lane-log.jsonl:4: a torn last line; it is not counted"]
    assert later.exit_code == 0


def flaky(test: str, days: int) -> str:
    day = today() + timedelta(days=days)
    return f"flaky:\n  - id: {test}\n    owner: ada\n    reason: clock\n    expires: {day}\n"


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "UTC", "Asia/Tokyo"])
@pytest.mark.parametrize(("days", "state"), [(0, "live"), (-1, "expired")])
def test_an_entry_lives_through_its_last_day_in_every_zone(
    tmp_path: Path, invertgate: Invertgate, zone: str, days: int, state: str
) -> None:
    _, place = repository(tmp_path, {"flaky.yaml": flaky("test_total", days)}, {})

    ended = invertgate(replace(place, variables={"TZ": zone}), "quarantine", "check")

    assert ended.exit_code == 0, str(ended)
    assert ended.stdout.startswith(state), str(ended)
    assert "- tests/test_shop.py::test_total" in ended.stdout


def test_a_stale_entry_is_told_and_ends_1_only_if_asked(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    _, place = repository(tmp_path, {"flaky.yaml": flaky("test_gone", 3)}, {})

    told = invertgate(place, "quarantine", "check")
    strict = invertgate(place, "quarantine", "check", "--strict")

    assert (told.exit_code, strict.exit_code) == (0, 1), str(told)
    assert told.stdout.startswith("stale")


def test_an_entry_that_lives_too_long_is_refused(tmp_path: Path, invertgate: Invertgate) -> None:
    _, place = repository(tmp_path, {"flaky.yaml": flaky("test_total", 31)}, {})

    ended = invertgate(place, "quarantine", "check")

    assert ended.exit_code == 2, str(ended)
    assert 'flaky.yaml:5: field "expires" is 31 days from today' in ended.stderr


def test_a_quarantine_can_be_checked_where_there_is_no_base(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    repo, place = repository(tmp_path, {"flaky.yaml": flaky("prop_order_is_kept", 3)}, {})
    repo.git("update-ref", "-d", "refs/remotes/origin/main")
    repo.git("branch", "-D", "main")

    ended = invertgate(place, "quarantine", "check", "--json")

    assert ended.exit_code == 0, str(ended)
    [entry] = json.loads(ended.stdout)["flaky"]
    assert (entry["state"], entry["nodeids"]) == (
        "live",
        ["tests/prop_shop.py::prop_order_is_kept"],
    )


SHOP = "def price(total):\n    return total\n"
NEW_SHOP = "def price(total):\n    if total > 100:\n        return 100\n    return total\n"
SHOP_TEST = (
    "import pytest\nfrom shop import price\n\n\n"
    "@pytest.mark.branch('72e79bbc9120')\n@pytest.mark.branch('a72a88b41b16')\n"
    "def test_price():\n    assert [price(1), price(200)] == [1, 100]\n"
)


def gate(tmp_path: Path, invertgate: Invertgate, before: str, after: str) -> Ended:
    base = {"shop.py": SHOP, "flaky.yaml": before}
    head = {"shop.py": NEW_SHOP, "test_shop.py": SHOP_TEST, "flaky.yaml": after}
    two_commits(tmp_path / "repo", base, head)
    return invertgate(Place(tmp_path / "repo"), "run", "--changed", "--workers", "1")


def test_a_row_that_only_a_frozen_test_claims_is_held(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    ended = gate(tmp_path, invertgate, flaky("test_price", 3), flaky("test_price", 3))

    assert ended.exit_code == 8, str(ended)
    assert {row.verdict for row in ended.report.rows} == {"quarantined"}


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("", flaky("test_price", 3), "bound"),
        (flaky("test_price", 3), "", "quarantined"),
        (flaky("test_price", -1), flaky("test_price", -1), "bound"),
        (flaky("test_other", 3), flaky("test_other", 3), "bound"),
    ],
    ids=["added by the patch", "removed by the patch", "expired", "another test"],
)
def test_the_list_of_the_merge_base_counts(
    tmp_path: Path, invertgate: Invertgate, before: str, after: str, verdict: str
) -> None:
    ended = gate(tmp_path, invertgate, before, after)

    assert {row.verdict for row in ended.report.rows} == {verdict}, str(ended)
    if before != after:
        assert "counts once it is merged" in ended.said


def test_a_malformed_list_stops_the_gate_and_a_patch_may_mend_it(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    broken = gate(tmp_path / "broken", invertgate, "", "flaky:\n  - id: a\n")
    mended = gate(tmp_path / "mended", invertgate, "flaky: 3\n", flaky("test_price", 3))

    assert (broken.exit_code, mended.exit_code) == (2, 0), str(mended)
    assert 'flaky.yaml:2: field "owner" is missing' in broken.stderr
    assert "no test is frozen until that is mended" in mended.said
    assert "the patch adds the entry test_price of flaky.yaml" in mended.said


def test_bind_does_not_name_a_frozen_test(tmp_path: Path, invertgate: Invertgate) -> None:
    unclaimed = SHOP_TEST.replace("@pytest.mark.branch('72e79bbc9120')\n", "").replace(
        "@pytest.mark.branch('a72a88b41b16')\n", ""
    )
    frozen = flaky("test_price", 3)
    two_commits(
        tmp_path / "repo",
        {"shop.py": SHOP, "flaky.yaml": frozen},
        {"shop.py": NEW_SHOP, "test_shop.py": unclaimed, "flaky.yaml": frozen},
    )

    ended = invertgate(Place(tmp_path / "repo"), "bind", "--workers", "1")

    assert ended.exit_code == 1, str(ended)
    table = json.loads(Path(ended.top, "branch_rows.json").read_bytes())
    assert [row["test"] for row in table] == [None, None]


def test_a_property_of_a_project_in_a_folder_is_run_as_that_project_says(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    before = {
        "svc/pytest.ini": "[pytest]\naddopts = -p no:hypothesispytest -n 2\npythonpath = .\n",
        "svc/price.py": "def price():\n    return 1\n",
        "svc/tests/prop_price.py": (
            "from price import price\n\n\nclass Price:\n    pass\n\n\n"
            "def prop_price():\n    assert price() > 0\n"
        ),
        "properties.yaml": (
            "properties:\n  - id: price\n    statement: A price is positive.\n    units: 1\n"
            "    files: [svc/]\n    test: svc/tests/prop_price.py::prop_price\n"
        ),
    }
    after = {"svc/price.py": "def price():\n    return 2\n"}
    repo, place = repository(tmp_path, before, after)
    repo.write({"svc/other.py": "x = 1\n"})

    ended = invertgate(place, "lane", "run")

    assert ended.exit_code == 0, str(ended)


def test_the_patch_that_is_handed_over_holds_files_that_are_not_tracked(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    config = with_command(executable(tmp_path / "ask", f"cat > {tmp_path}/question; echo fail"))
    rows = "properties:\n  - id: a\n    statement: It is.\n    units: 1\n    files: [shop/]\n"
    repo, place = repository(tmp_path, {**config, "properties.yaml": rows}, CHANGED_TOTAL)
    repo.write({"shop/new.py": "x = 1\n"})

    ended = invertgate(place, "lane", "run")

    assert ended.exit_code == 1, str(ended)
    patch = json.loads(tmp_path.joinpath("question").read_bytes())["patch"]
    assert "+++ b/shop/new.py\n@@ -0,0 +1 @@\n+x = 1\n" in patch
    assert repo.status().splitlines()[0].startswith("?? ")
