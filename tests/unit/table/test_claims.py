import pytest

from invertgate.errors import UsageError
from invertgate.table.claims import marker_claims, resolve

COLLECTED = {
    "tests/test_p.py::test_plain": None,
    "tests/test_p.py::test_d[1-0]": None,
    "tests/test_p.py::test_d[2-0]": None,
    "tests/test_p.py::test_d[dup0]": None,
    "tests/test_p.py::TestC::test_one": None,
    "tests/test_p.py::TestC::test_two": None,
    "tests/deep/test_q.py::test_q": None,
    r"tests/deep/test_q.py::test_u[\xe9]": None,
    r"tests/deep/test_q.py::test_u[a\\b]": None,
    "tests/deep/test_q.py::test_u[{'a', 'b'}]": None,
    "tests/deep/test_q.py::test_u[<object object at 0x7f12345678aa>]": None,
    "tests/deep/test_q.py::test_u[0x7fffffff]": None,
}
UNSTABLE = (
    "the id holds an address or a set and is another one in every process; "
    "give the parameter an id of its own"
)


@pytest.mark.parametrize(
    "claim",
    [nodeid for nodeid in COLLECTED if " at 0x" not in nodeid],
)
def test_claim_equal_to_a_collected_id_is_that_test(claim: str) -> None:
    resolution = resolve(claim, COLLECTED)

    assert resolution.is_collected
    assert (resolution.test, resolution.reason, resolution.nearest) == (claim, "", ())


@pytest.mark.parametrize(
    ("claim", "reason", "nearest"),
    [
        (
            "tests/test_p.py::test_d",
            "this test is parametrized (3 times); name one of them",
            ["test_p.py::test_d[1-0]", "test_p.py::test_d[2-0]", "test_p.py::test_d[dup0]"],
        ),
        (
            "tests/test_p.py::TestC",
            "this is not one test (2 tests are in it); name one of them",
            ["test_p.py::TestC::test_one", "test_p.py::TestC::test_two"],
        ),
        (
            "tests/test_p.py",
            "this is not one test (6 tests are in it); name one of them",
            [
                "test_p.py::test_plain",
                "test_p.py::test_d[1-0]",
                "test_p.py::test_d[2-0]",
                "test_p.py::test_d[dup0]",
                "test_p.py::TestC::test_one",
            ],
        ),
        (
            "tests/test_p.py::TestC::test_t",
            "this is only the beginning of an id (1 begin so); write one in full",
            ["test_p.py::TestC::test_two"],
        ),
        (
            "tests/test_p.py::test_d[1",
            "this is only the beginning of an id (1 begin so); write one in full",
            ["test_p.py::test_d[1-0]"],
        ),
        (
            "tests/../tests/test_p.py::test_plain",
            "pytest spells this test otherwise",
            ["test_p.py::test_plain"],
        ),
        (
            "./tests/test_p.py::test_plain",
            "pytest spells this test otherwise",
            ["test_p.py::test_plain"],
        ),
        (
            r"tests\test_p.py::test_plain",
            "pytest spells this test otherwise",
            ["test_p.py::test_plain"],
        ),
        (
            "tests/test_p.py::test_d[dup0] ",
            "pytest spells this test otherwise",
            ["test_p.py::test_d[dup0]"],
        ),
        (
            "tests/test_p.py::TESTC::test_one",
            "pytest spells this test otherwise",
            ["test_p.py::TestC::test_one"],
        ),
        (
            "tests/deep/test_q.py::test_u[é]",
            "pytest spells this test otherwise",
            [r"deep/test_q.py::test_u[\xe9]"],
        ),
        (
            r"tests/deep/test_q.py::test_u[a\b]",
            "pytest spells this test otherwise",
            [r"deep/test_q.py::test_u[a\\b]"],
        ),
        (
            "svc/tests/test_p.py::test_plain",
            "nodeids are relative to the folder of the project's pytest configuration",
            ["test_p.py::test_plain"],
        ),
        (
            "test_p.py::test_plain",
            "nodeids are relative to the folder of the project's pytest configuration",
            ["test_p.py::test_plain"],
        ),
        (
            "tests/test_old.py::test_q",
            "the test of this name stands in another file",
            ["deep/test_q.py::test_q"],
        ),
        (
            "tests/test_p.py::test_d[3-0]",
            "the test of this name has other parameters",
            ["test_p.py::test_d[1-0]", "test_p.py::test_d[2-0]", "test_p.py::test_d[dup0]"],
        ),
        (
            "tests/test_p.py::test_plain[x]",
            "the test of this name has other parameters",
            ["test_p.py::test_plain"],
        ),
        (
            "tests/deep/test_q.py::test_u[{'b', 'a'}]",
            UNSTABLE,
            ["deep/test_q.py::test_u[{'a', 'b'}]"],
        ),
        (
            "tests/deep/test_q.py::test_u[<object object at 0x7f99999999bb>]",
            UNSTABLE,
            ["deep/test_q.py::test_u[<object object at 0x7f12345678aa>]"],
        ),
        (
            "tests/test_p.py::test_plane",
            "pytest collects no such test",
            [
                "test_p.py::test_plain",
                "test_p.py::test_d[1-0]",
                "test_p.py::test_d[2-0]",
                "test_p.py::test_d[dup0]",
                "test_p.py::TestC::test_one",
            ],
        ),
    ],
)
def test_claim_that_is_no_collected_id_is_refused_with_what_it_could_mean(
    claim: str, reason: str, nearest: list[str]
) -> None:
    resolution = resolve(claim, list(COLLECTED))

    assert not resolution.is_collected
    assert resolution.reason == reason
    if reason == "pytest collects no such test":
        assert resolution.nearest[0] == f"tests/{nearest[0]}"
    else:
        assert resolution.nearest == tuple(f"tests/{nodeid}" for nodeid in nearest)


def test_nearest_are_five_at_most() -> None:
    collected = [f"tests/test_a.py::test_x[{number}]" for number in range(20)]

    assert len(resolve("tests/test_a.py::test_x", collected).nearest) == 5
    assert len(resolve("tests/test_b.py::test_y", [*collected, "test_b.py"]).nearest) <= 5


def test_misspelt_words_find_the_test_they_meant() -> None:
    collected = [f"tests/test_mod{number}.py::test_number_{number}" for number in range(300)]
    collected.append("tests/test_retry.py::test_raises_after_exhaustion")

    resolution = resolve("tests/test_retry.py::test_raises_aftr_exhaustoin", collected)

    assert resolution.nearest[0] == collected[-1]


@pytest.mark.parametrize("collected", [[], ["other/spec.py::checks"]])
def test_claim_like_nothing_is_refused_without_choices(collected: list[str]) -> None:
    resolution = resolve("tests/test_z.py::test_zebra", collected)

    assert resolution.reason == "pytest collects no such test, and none with a like name"
    assert resolution.nearest == ()


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param("-x", id="an option"),
        pytest.param("@tests/args.txt", id="a file of arguments"),
        pytest.param("tests/test_p.py::test_plain ", id="a blank behind"),
        pytest.param("\ttests/test_p.py::test_plain", id="a tab in front"),
        pytest.param("TESTS/test_p.py::test_plain", id="another case"),
        pytest.param("tests/test_p.py::test_plain\0", id="a byte that ends text"),
        pytest.param("tests/test_\ud800.py::test_plain", id="half a character"),
        pytest.param("tests/test_p.py::()::test_plain", id="the spelling of old versions"),
        pytest.param("tests/*.py::test_plain", id="a glob"),
        pytest.param("plain and not slow", id="an expression for -k"),
        pytest.param("tests/test_p.py::test_plain tests/test_p.py::TestC::test_one", id="two"),
    ],
)
def test_claim_that_pytest_would_take_for_something_else_is_no_test(claim: str) -> None:
    assert not resolve(claim, COLLECTED).is_collected


@pytest.mark.parametrize(
    "parameter",
    ["<object object at 0x7f12345678aa>", "<function f at 0x10a3b2c40>", "0x55d0c0ffee42"],
)
def test_id_with_an_address_is_refused_as_unstable(parameter: str) -> None:
    nodeid = f"tests/t.py::test[{parameter}]"

    resolution = resolve(nodeid, {nodeid})

    assert (resolution.is_collected, resolution.reason) == (False, UNSTABLE)


KEYS = [("src/a.py", "a" * 12), ("src/b.py", "a" * 12), ("src/a.py", "b" * 12)]


def test_marker_with_a_bare_id_claims_the_one_outcome_that_has_it() -> None:
    claims = marker_claims([("t::one", ["b" * 12]), ("t::two", ["b" * 12])], KEYS)

    assert claims.tests == {("src/a.py", "b" * 12): ("t::one", "t::two")}
    assert claims.notes == ()


def test_marker_with_a_path_claims_the_outcome_of_that_file() -> None:
    claims = marker_claims([("t::one", [f"src/b.py:{'a' * 12}", f"./src/a.py:{'b' * 12}"])], KEYS)

    assert claims.tests == {KEYS[1]: ("t::one",), KEYS[2]: ("t::one",)}


def test_marker_that_is_repeated_claims_once() -> None:
    claims = marker_claims([("t::one", ["b" * 12, f"src/a.py:{'b' * 12}"])], KEYS)

    assert claims.tests == {("src/a.py", "b" * 12): ("t::one",)}


@pytest.mark.parametrize("text", ["c" * 12, f"src/z.py:{'a' * 12}"])
def test_marker_for_no_outcome_of_the_patch_is_passed_over(text: str) -> None:
    claims = marker_claims([("t::one", [text])], KEYS)

    assert (claims.tests, claims.notes) == ({}, ())


def test_marker_with_an_ambiguous_bare_id_is_refused_with_the_choices() -> None:
    with pytest.raises(UsageError) as caught:
        marker_claims([("t::one", ["a" * 12])], KEYS)

    assert str(caught.value) == (
        "marker of t::one: aaaaaaaaaaaa is the id of several outcomes; "
        "write one of src/a.py:aaaaaaaaaaaa, src/b.py:aaaaaaaaaaaa"
    )


@pytest.mark.parametrize("text", ["B" * 12, "main", "", "b" * 11])
def test_marker_that_is_no_id_is_told_and_claims_nothing(text: str) -> None:
    claims = marker_claims([("t::one", [text])], KEYS)

    assert claims.tests == {}
    told = f"marker branch({text!r}) of t::one is no id and claims nothing"
    assert claims.notes == (f"{told}; write 12 lower-case hex digits, or PATH:ID",)
