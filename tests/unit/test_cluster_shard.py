import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from invertgate.cluster_shard import job_of, request_of
from invertgate.isolation.environment import ORIGINAL, original_of
from invertgate.model import PolicySource, Shard
from invertgate.patch.base import Base
from invertgate.request import Request


def test_what_a_user_asked_for_travels_and_names_places_on_the_other_machine(
    tmp_path: Path,
) -> None:
    top = tmp_path / "shop"
    request = Request(
        root=top / "api",
        command="invertgate run --cluster tcp://a:1",
        overrides={"workers": 3, "kill": "any", "exclude": ("a/*", "b"), "base": None},
        paths=("x.py", str(top / "lib" / "y.py")),
        ids=("0e39ba75e0ba",),
        head="dev",
        policy=PolicySource.HEAD,
        against_base=True,
        deep=4,
        now=datetime(2026, 3, 4, 5, 6, tzinfo=UTC),
        cluster="tcp://a:1",
        environment={"GITHUB_BASE_REF": "main"},
    )
    base = Base("1" * 40, "merge base with origin/main", "2" * 40, ("it is old",))
    told = json.loads(json.dumps(job_of(request, top, base, 5).of_shard(2)))

    got = request_of({**told, "top": "/cache/shop"}, {"PATH": "/bin"})

    assert got == Request(
        root=Path("/cache/shop/api"),
        command=request.command,
        overrides=request.overrides,
        paths=("x.py", "../lib/y.py"),
        ids=request.ids,
        head="dev",
        policy=PolicySource.HEAD,
        shard=Shard(2, 5),
        against_base=True,
        base=base,
        environment={"PATH": "/bin", ORIGINAL: str(top)},
        now=request.now,
        progress=got.progress,
    )


def test_a_job_on_a_report_is_about_all_of_its_rows(tmp_path: Path) -> None:
    job = job_of(Request(root=tmp_path, deep=4), tmp_path, None, 5)
    told = replace(job, deep=4, report="{}").of_shard(2)

    got = request_of({**told, "top": str(tmp_path)}, {})

    assert (got.deep, got.shard, got.base) == (4, None, None)


def test_the_users_tree_is_the_one_that_is_judged_unless_it_came_from_elsewhere() -> None:
    assert original_of({}, Path("/here")) == Path("/here")
    assert original_of({ORIGINAL: "/there"}, Path("/here")) == Path("/there")
