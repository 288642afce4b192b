"""The page of a report as a reader uses it: by mouse, by keyboard, without scripts, on paper."""

import re
from dataclasses import dataclass, replace
from typing import Literal

import pytest

from invertgate.model import Verdict
from invertgate.report.document import Report
from invertgate.report.html import LONG, render
from invertgate.report.html_rows import anchor_of
from support.browser import SCREENSHOTS, Reader, need_playwright
from support.large_report import large_report
from support.reports import (
    full_report,
    hostile_report,
    interrupted_report,
    nothing_new,
    rich_report,
)
from support.trend_report import TREND

need_playwright()

from axe_playwright_python.sync_playwright import Axe  # noqa: E402 - not there everywhere
from playwright.sync_api import CDPSession, Locator, Page, expect  # noqa: E402 - not there everywhere

pytestmark = pytest.mark.browser

SECOND = 1000
"""In milliseconds."""

FILTER = """text => {
    const field = document.getElementById("search");
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    document.body.getBoundingClientRect();
}"""
SORT = """at => {
    document.querySelectorAll("th[data-key] button")[at].click();
    document.body.getBoundingClientRect();
}"""
"""Both with the layout that follows."""


@pytest.fixture(scope="module")
def long() -> str:
    """The page of a report of 5,000 rows."""
    return render(large_report(5000))


def outcomes(page: Page) -> Locator:
    return page.get_by_role("table", name="Outcomes", exact=True)


def row(page: Page, number: int) -> Locator:
    """The row of the outcome with that number, in the reports of the tests."""
    return outcomes(page).get_by_role("row").filter(has_text=f"{number:012x}")


def details(page: Page, number: int) -> Locator:
    return page.get_by_label(re.compile(f"^Details of .* {number:012x}$"))


def places(page: Page) -> list[str]:
    """Where the rows are that are shown, from top to bottom."""
    found = outcomes(page).get_by_role("rowheader").all_inner_texts()
    return [text.partition("\n")[0] for text in found]


@dataclass(frozen=True, slots=True)
class Watch:
    """Tells the processor time of the page's thread: what else this machine does is not counted."""

    session: CDPSession

    def script_time(self) -> float:
        """Milliseconds so far in scripts, styles and layout."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        counted = {"ScriptDuration", "LayoutDuration", "RecalcStyleDuration"}
        return SECOND * sum(float(one["value"]) for one in metrics if one["name"] in counted)

    def time(self, page: Page, script: str, argument: str | int) -> float:
        """Milliseconds that a script takes."""
        before = self.script_time()
        page.evaluate(script, argument)
        return self.script_time() - before


def test_summary_says_how_it_stands(reader: Reader) -> None:
    page = reader.open(render(rich_report()))

    expect(page.get_by_role("heading", level=1)).to_have_text("1 of 12 new outcomes bound")
    expect(page.get_by_text("exit 6: a changed file does not parse")).to_be_visible()
    counts = page.get_by_role("table", name="Rows by verdict").get_by_role("row")
    expect(counts).to_have_count(1 + len(Verdict))
    expect(counts.filter(has_text="weak")).to_contain_text("stays green")


def test_interrupted_run_is_an_alert(reader: Reader) -> None:
    page = reader.open(render(interrupted_report()))

    expect(page.get_by_role("alert")).to_contain_text("Incomplete.")


def test_page_without_rows_works(reader: Reader) -> None:
    page = reader.open(render(nothing_new()))

    expect(page.get_by_role("heading", level=1)).to_have_text("No new outcomes")
    expect(page.get_by_role("search")).to_have_count(0)


def test_rows_are_filtered_by_verdict(reader: Reader) -> None:
    page = reader.open(render(full_report()))
    buttons = page.get_by_role("group", name="Verdict")

    buttons.get_by_role("button", name="weak").click()
    expect(page.get_by_role("status")).to_have_text("1 of 14 rows")
    buttons.get_by_role("button", name="red").click()
    expect(page.get_by_role("status")).to_have_text("2 of 14 rows")
    assert places(page) == ["src/retry.py:60", "src/retry.py:20"]
    expect(buttons.get_by_role("button", pressed=True)).to_have_text(["red 1", "weak 1"])
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_role("status")).to_have_text("14 rows")


def test_rows_are_filtered_by_file_and_by_test(reader: Reader) -> None:
    page = reader.open(render(large_report(40)))

    page.get_by_label("File", exact=True).fill("billing/api")
    assert set(places(page)) == {"src/shop/billing/api_0.py:8"}
    page.get_by_label("Test", exact=True).fill("no such test")
    expect(page.get_by_text("No row matches these filters.")).to_be_visible()
    page.get_by_label("File", exact=True).fill("")
    page.get_by_label("Test", exact=True).fill("TestOrders test_case_1[")
    expect(page.get_by_role("status")).to_have_text("1 of 40 rows")


def test_rows_are_filtered_by_any_text(reader: Reader) -> None:
    page = reader.open(render(full_report()))

    page.get_by_label("Search").fill("why UNPROVEN")
    assert places(page) == ["src/retry.py:70"]


def test_rows_are_sorted_by_each_column_both_ways(reader: Reader) -> None:
    page = reader.open(render(full_report()))
    header = outcomes(page).get_by_role("columnheader", name="Where")

    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    up = places(page)
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "descending")
    assert up[:4] == ["src/old.py", "src/old.py", "src/retry.py:10", "src/retry.py:20"]
    assert places(page) == up[::-1] or places(page)[0] == "src/retry.py:120"
    expect(outcomes(page).get_by_role("columnheader", name="Verdict")).not_to_have_attribute(
        "aria-sort", re.compile(".*")
    )


def test_row_opens_where_it_is_clicked_and_shows_source_mutant_and_runs(reader: Reader) -> None:
    page = reader.open(render(rich_report()))

    row(page, 1).get_by_text("the false side of").click()
    expect(page.get_by_role("table", name="Runs of the experiment")).to_be_visible()
    expect(page.get_by_text("✗ failed in call")).to_be_visible()
    expect(page.get_by_role("deletion")).to_have_text("-    if attempt < max_attempts:\n")
    expect(page.get_by_role("insertion")).to_have_text("+    if True:\n")
    expect(row(page, 1).locator("mark").first).to_contain_text("attempt <")
    details(page, 1).click()
    expect(page.get_by_role("table", name="Runs of the experiment")).to_be_hidden()


def test_link_to_a_row_opens_it_even_where_filters_hide_it(reader: Reader) -> None:
    page = reader.open(render(rich_report()))
    page.get_by_label("Search").fill("no such row")

    link = page.get_by_role("link", name="src/retry.py:000000000002", include_hidden=True)
    link.evaluate("link => link.click()")
    expect(row(page, 2).get_by_role("insertion")).to_be_visible()
    expect(page.get_by_label("Search")).to_have_value("")


def test_address_of_a_row_leads_to_it(reader: Reader) -> None:
    report = large_report(400)
    target = report.rows[-1]
    page = reader.open(render(report), anchor=anchor_of(target.path, target.id))

    expect(details(page, int(target.id, 16))).to_be_focused()
    expect(details(page, int(target.id, 16))).to_be_in_viewport()
    expect(page.get_by_role("insertion")).to_have_count(1)


def test_weak_test_leads_to_what_it_does_not_notice(reader: Reader) -> None:
    page = reader.open(render(rich_report()))
    weak = page.get_by_role("region", name="Weak tests")

    weak.get_by_text("1 row it does not notice").click()
    weak.get_by_role("link", name="src/retry.py:000000000002").click()
    expect(details(page, 2)).to_be_focused()


def test_keyboard_alone_is_enough(reader: Reader) -> None:
    page = reader.open(render(rich_report()))

    page.keyboard.press("/")
    expect(page.get_by_label("Search")).to_be_focused()
    page.keyboard.type("no such row")
    expect(page.get_by_role("status")).to_have_text("0 of 14 rows")
    page.keyboard.press("Escape")
    expect(page.get_by_role("status")).to_have_text("14 rows")
    page.get_by_label("Search").blur()
    page.keyboard.press("j")
    expect(details(page, 6)).to_be_focused()
    page.keyboard.press("j")
    expect(details(page, 2)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(row(page, 6).get_by_role("insertion")).to_be_visible()


def test_all_rows_that_are_shown_open_at_once(reader: Reader) -> None:
    page = reader.open(render(large_report(320)))
    button = page.get_by_role("button", name="Open all")

    expect(button).to_be_hidden()
    page.get_by_role("group", name="Verdict").get_by_role("button", name="unbound").click()
    button.click()
    expect(page.get_by_role("insertion")).to_have_count(16)


@pytest.mark.parametrize("rows", [40, LONG])
def test_page_can_be_read_without_scripts(reader: Reader, rows: int) -> None:
    report = large_report(rows)
    weak = next(one for one in report.rows if one.verdict is Verdict.WEAK)
    page = reader.open(render(report), scripts=False)

    expect(page.get_by_role("search")).to_be_hidden()
    details(page, int(weak.id, 16)).click()
    expect(page.get_by_role("insertion")).to_be_visible()
    expect(page.get_by_role("table", name="Runs of the experiment")).to_be_visible()


def test_hostile_text_is_shown_and_never_run(reader: Reader) -> None:
    page = reader.open(render(hostile_report()))

    page.get_by_role("button", name="Open all").click()
    page.get_by_label("Search").fill("<img src=x onerror=alert(1)>")
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^[1-9]\d* of 14 rows$"))
    expect(page).to_have_title("The run could not judge the patch · invertgate")
    expect(page.get_by_role("img")).to_have_count(0)
    assert page.evaluate("document.scripts.length") == 1


def test_hostile_text_is_never_run_in_rows_that_are_built_when_opened(reader: Reader) -> None:
    report = hostile_report()
    page = reader.open(render(replace(report, rows=report.rows * 25)))

    page.get_by_role("group", name="Verdict").get_by_role("button", name="weak").click()
    page.get_by_role("button", name="Open all").click()
    expect(page.get_by_role("deletion").first).to_be_visible()
    expect(page).to_have_title("The run could not judge the patch · invertgate")
    assert page.evaluate("document.scripts.length") == 1


def test_policy_holds_what_escaping_might_miss(reader: Reader) -> None:
    page = reader.open(render(full_report()))

    page.evaluate("""() => {
        document.body.insertAdjacentHTML(
            "beforeend", `<a id=forge onclick="document.title='forged'">x</a><img src="data:,">`);
        document.getElementById("forge").click();
    }""")
    expect(page).to_have_title("1 of 12 new outcomes bound · invertgate")
    assert len(reader.noticed) == 2
    assert all("Content Security Policy" in one for one in reader.noticed)
    reader.noticed.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "report", [replace(rich_report(), trend=TREND), interrupted_report(), nothing_new()]
)
def test_no_rule_of_accessibility_is_broken(
    reader: Reader, report: Report, scheme: Literal["light", "dark"]
) -> None:
    page = reader.open(render(report), scheme=scheme)
    for button in page.get_by_role("button", name="Open all").all():
        button.click()

    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


@pytest.mark.parametrize("report", [rich_report(), hostile_report(), large_report(320)])
def test_narrow_screen_is_not_scrolled_sideways(reader: Reader, report: Report) -> None:
    page = reader.open(render(report), width=360)
    details(page, int(report.rows[0].id, 16)).click()

    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_long_report_opens_filters_and_sorts_within_a_second_of_script_time(
    reader: Reader, long: str
) -> None:
    page = reader.open(render(nothing_new()))
    watch = Watch(page.context.new_cdp_session(page))
    watch.session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = watch.script_time()
    page.goto(reader.written(long))

    took = {
        "open": watch.script_time() - before,
        "filter": watch.time(page, FILTER, "weak orders"),
        "clear": watch.time(page, FILTER, ""),
        **{f"sort by {column}": watch.time(page, SORT, column) for column in range(4)},
        "narrow": watch.time(page, FILTER, "weak orders"),
    }
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^[1-9]\d* of 5000 rows$"))
    assert {what: ms for what, ms in took.items() if not 0 < ms < SECOND} == {}


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [("light", "light", 1280), ("dark", "dark", 1280), ("narrow", "light", 390)],
)
def test_screenshot_of_every_verdict(
    reader: Reader, name: str, scheme: Literal["light", "dark"], width: int
) -> None:
    page = reader.open(render(replace(rich_report(), trend=TREND)), scheme=scheme, width=width)
    for number in (1, 2):
        details(page, number).click()

    assert taken(page, f"every-verdict-{name}", full_page=True)


def test_screenshot_of_a_long_report(reader: Reader, long: str) -> None:
    page = reader.open(long)
    page.get_by_role("heading", name="Outcomes", exact=True).evaluate("it => it.scrollIntoView()")
    page.keyboard.press("j")
    page.keyboard.press("Enter")

    assert taken(page, "long")


def test_page_prints_in_light_colours_without_its_controls(reader: Reader) -> None:
    page = reader.open(render(rich_report()), scheme="dark")
    details(page, 2).click()

    page.emulate_media(media="print")
    expect(page.get_by_role("search")).to_be_hidden()
    expect(page.get_by_role("insertion")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 33, 38)"
    SCREENSHOTS.mkdir(exist_ok=True)
    assert page.pdf(path=SCREENSHOTS / "printed.pdf", format="A4").startswith(b"%PDF")


def taken(page: Page, name: str, *, full_page: bool = False) -> bytes:
    """Take a screenshot for whoever wants to look at the page."""
    SCREENSHOTS.mkdir(exist_ok=True)
    return page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=full_page)
