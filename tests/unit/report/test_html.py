"""The page is read by a parser here; what a browser makes of it is for tests/browser."""

import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

import pytest

from invertgate.errors import ExitCode
from invertgate.model import Excerpt, PolicySource, Span, Verdict
from invertgate.report.build import build
from invertgate.report.document import Report, ReportRow, ReportShard
from invertgate.report.html import LONG, headline, render
from invertgate.report.html_rows import anchor_of, label_of, page_rows, weak_tests
from invertgate.report.html_text import breakable, coded, shown, shown_block
from invertgate.report.html_trend import trend_nights
from invertgate.trend_model import Night
from support.large_report import large_report
from support.reports import (
    FACTS,
    HOSTILE,
    PATCH,
    REPORTS,
    full_report,
    hostile_report,
    interrupted_report,
    listing,
    nothing_new,
    one_row,
    outcome,
    rich_report,
)
from support.trend_report import TREND

VOID = {"meta", "input", "br", "wbr"}
INLINE = {"a", "b", "code", "mark", "small", "span", "strong", "u", "wbr"}
OURS = {
    *("html", "head", "title", "style", "body", "script", "header", "main", "footer", "nav"),
    *("section", "div", "p", "h1", "h2", "h3", "ul", "ol", "li", "dl", "dt", "dd", "a", "span"),
    *("strong", "b", "small", "code", "pre", "kbd", "mark", "u", "ins", "del", "svg", "rect"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure"),
    *("figcaption", "form", "label", "datalist", "fieldset", "legend", "button", "output"),
    *("noscript", *VOID),
}


@dataclass
class Page(HTMLParser):
    """What a browser without scripts finds in a page."""

    source: str
    tags: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str]] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)
        self.open: list[str] = []
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.space(tag)
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.space(tag)

    def space(self, tag: str) -> None:
        """Keep words apart that stand in different boxes."""
        self.text += "" if tag in INLINE else " "

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.text += data

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


def page(report: Report) -> Page:
    return Page(render(report))


@pytest.mark.parametrize("name", REPORTS)
def test_page_of_each_report_is_well_formed_and_made_of_our_elements(name: str) -> None:
    found = page(REPORTS[name]())

    assert found.open == []
    assert set(found.tags) <= OURS
    assert found.tags.count("script") == found.tags.count("style") == 1


@pytest.mark.parametrize("name", REPORTS)
def test_page_of_each_report_has_no_handler_no_style_attribute_and_no_link_outwards(
    name: str,
) -> None:
    attributes = page(REPORTS[name]()).attributes

    assert [one for one in attributes if one[0].startswith("on") or one[0] == "style"] == []
    assert [one for one in attributes if one[0] in {"src", "srcset", "action", "data"}] == []
    assert {value[:1] for name, value in attributes if name == "href"} <= {"#"}


@pytest.mark.parametrize("name", REPORTS)
def test_page_of_each_report_can_be_written_and_has_each_id_once(name: str) -> None:
    text = render(REPORTS[name]())

    assert text.encode("utf-8")
    ids = Page(text).ids
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", REPORTS)
def test_every_link_leads_somewhere(name: str) -> None:
    found = page(REPORTS[name]())

    targets = {value[1:] for name, value in found.attributes if name == "href"}
    assert targets - set(found.ids) == set()


def test_hostile_text_is_shown_letter_by_letter() -> None:
    text = page(hostile_report()).text

    assert "<img src=x onerror=alert(1)> <!-- \\| [x](javascript:1)" in text
    assert "</script><script>document.title='forged'</script>{{ 7 * 7 }}{% raw %}\"'-->" in text
    assert "lone \\udc80 and \\ud800, café, \U0001f600, \\u202e" in text


def test_nothing_that_steers_what_is_shown_is_left_in_the_page() -> None:
    text = render(hostile_report())

    assert set(re.findall(r"[^\n -~]", text)) <= set("é\U0001f600·▶┃✓✗↕↑↓…")


def test_policy_allows_this_style_and_script_and_nothing_else() -> None:
    text = render(rich_report())

    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy


@pytest.mark.parametrize("verdict", list(Verdict))
def test_each_verdict_is_counted(verdict: Verdict) -> None:
    words = page(full_report()).words
    none = page(nothing_new()).words

    assert f" 1 {label_of(verdict)} " in words
    assert f" 0 {label_of(verdict)}" in none


@pytest.mark.parametrize("verdict", list(Verdict))
def test_each_verdict_has_its_row(verdict: Verdict) -> None:
    attributes = page(full_report()).attributes

    assert ("data-v", str(verdict)) in attributes


def test_zero_rows_stand_with_the_proof_of_what_was_examined() -> None:
    found = page(nothing_new())

    assert "No new outcomes exit 0: passed" in found.words
    assert "0 new outcomes; examined 3 files, 41 outcomes against 4f0c2d1a9b8c" in found.words
    assert "form" not in found.tags


def test_interrupted_run_says_that_it_says_nothing() -> None:
    found = page(interrupted_report())

    assert "The run did not get to its end exit 130: interrupted Incomplete." in found.words
    assert ("role", "alert") in found.attributes
    assert "svg" not in found.tags


def test_error_that_stopped_the_run_is_shown() -> None:
    words = page(REPORTS["failed"]()).words

    assert "Stopped by an error. HEAD and origin/main share no commit" in words
    assert "No rows: the run did not get this far." in words


def test_outcomes_that_were_only_listed_are_called_not_judged() -> None:
    facts = replace(FACTS, judged=False)
    report = build(PATCH, listing(outcome(1), outcome(2)), [], facts)

    assert "2 new outcomes, not judged" in page(report).words
    assert "2 not judged nothing was judged" in page(report).words


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (one_row(Verdict.BOUND), "1 new outcome, bound"),
        (one_row(Verdict.WEAK), "0 of 1 new outcome bound"),
        (full_report(), "1 of 12 new outcomes bound"),
        (nothing_new(), "No new outcomes"),
        (replace(one_row(Verdict.BOUND), complete=False), "The run did not get to its end"),
        (replace(one_row(Verdict.BOUND), error="no"), "The run could not judge the patch"),
    ],
)
def test_headline_claims_no_more_than_is_known(report: Report, words: str) -> None:
    assert headline(report) == words


def test_head_says_what_was_compared_and_how_it_ended() -> None:
    words = page(rich_report()).words

    assert "exit 6: a changed file does not parse" in words
    assert "1 changed file could not be parsed and makes no rows: src/broken.py:4" in words
    assert "Compared against 4f0c2d1a9b8c (merge base with origin/main)" in words
    assert "Head the working tree" in words
    assert "Notes the clone has two merge bases; the first was taken" in words
    assert "2 files: a test file tests/test_retry.py tests/test_shop.py" in words


def test_policy_of_the_head_is_said_loudly() -> None:
    report = replace(full_report(), policy=PolicySource.HEAD)

    assert "!! POLICY FROM HEAD (--policy head)" in page(report).words
    assert "Policies of the judged version" in page(report).words
    assert "Policies of the merge base" in page(full_report()).words


def test_shard_is_called_a_part() -> None:
    report = replace(full_report(), shard=ReportShard(2, 3, 40, "digest"))

    assert headline(report) == "Shard 2 of 3: 1 of 12 new outcomes bound"
    assert "A part only. Shard 2 of 3: 12 of 40 new outcomes" in page(report).words


def test_joined_report_shows_what_each_machine_says() -> None:
    report = one_row(Verdict.BOUND)
    machines = {"3.11-linux": Verdict.BOUND, "3.13-<b>": Verdict.UNREACHED}
    row = replace(report.rows[0], by_machine=machines)
    words = page(replace(report, rows=(row,), joined=tuple(machines))).words

    assert "By machine 3.11-linux: bound 3.13-<b>: unreached" in words
    assert "Joined 3.11-linux 3.13-<b>" in words


def test_row_shows_what_each_run_said() -> None:
    words = page(one_row_of(rich_report(), Verdict.BOUND)).words

    assert "control ✓ passed outcome taken 0.00 s (0.00 s CPU)" in words
    assert (
        "inverted ✗ failed in call AssertionError (assertion) at tests/t.py:12 assert 1 == 2 "
        "inverted point 0.00 s"
    ) in words


def test_waived_row_shows_who_waived_it_until_when_and_what_it_would_be() -> None:
    words = page(one_row_of(rich_report(), Verdict.WAIVED)).words

    assert "Would be weak Waiver covered by the nightly soak (ada@example.org, until 20" in words


def test_what_only_some_rows_have_is_shown_where_it_is() -> None:
    row = replace(
        one_row(Verdict.WEAK).rows[0],
        hint="same as lib/old.py:12",
        ambiguous=True,
        nearest=("tests/t.py::test_b",),
        passes_on_base=True,
        advice=("assert what `call` gives back",),
        project="services/billing",
    )
    words = page(replace(one_row(Verdict.WEAK), rows=(row,))).words

    assert "Nearest tests/t.py::test_b Hint same as lib/old.py:12 Also one of several" in words
    assert "On the base the test passes there too Project services/billing" in words
    assert "Advice assert what call gives back Next assert something that differs" in words


def test_mutant_keeps_its_signs() -> None:
    text = render(one_row_of(rich_report(), Verdict.WEAK))

    assert "<del>-    if attempt &lt; max_attempts:\n</del>" in text
    assert "<ins>+    if True:\n</ins>" in text


def test_source_marks_the_decision_and_the_lines_of_its_side() -> None:
    row = replace(
        one_row(Verdict.WEAK).rows[0],
        excerpt=Excerpt(10, ("if größe < 1:", "    a()", "    b()", "c()")),
        anchor=Span(10, 3, 10, 14),
        body_line=11,
        end_line=12,
    )
    [one] = page_rows(replace(one_row(Verdict.WEAK), rows=(row,)))

    assert str(one.source).splitlines() == [
        '<mark class="at" data-n="10 ▶">if <u>größe &lt; 1</u>:',
        '</mark><mark data-n="11 ┃">    a()',
        '</mark><mark data-n="12 ┃">    b()',
        '</mark><span data-n="13  ">c()',
        "</span>",
    ]


def test_false_side_marks_its_else_and_not_what_the_true_side_runs() -> None:
    row = replace(
        one_row(Verdict.WEAK).rows[0],
        excerpt=Excerpt(10, ("if x:", "    a()", "else:", "    b()")),
        anchor=Span(10, 3, 10, 4),
        body_line=13,
        end_line=13,
    )
    [one] = page_rows(replace(one_row(Verdict.WEAK), rows=(row,)))

    assert re.findall(r'<(\w+).*?data-n="(\d+)', str(one.source)) == [
        ("mark", "10"),
        ("span", "11"),
        ("span", "12"),
        ("mark", "13"),
    ]


def test_source_whose_columns_do_not_fit_is_shown_without_the_underline() -> None:
    row = replace(
        one_row(Verdict.WEAK).rows[0], excerpt=Excerpt(10, ("ä < b",)), anchor=Span(10, 1, 10, 3)
    )
    [one] = page_rows(replace(one_row(Verdict.WEAK), rows=(row,)))

    assert "<u>" not in one.source
    assert "ä &lt; b" in one.source


def test_rows_that_need_work_stand_first() -> None:
    verdicts = [one.row.verdict for one in page_rows(full_report())]

    assert verdicts[:3] == [Verdict.RED, Verdict.WEAK, Verdict.UNREACHED]
    assert verdicts[-3:] == [Verdict.BOUND, Verdict.EXEMPT, Verdict.INHERITED]


def test_anchor_is_made_of_path_and_id_alone() -> None:
    assert anchor_of("lib/ä b.py", "0123456789ab") == "row-lib/~c3~a4~20b.py-0123456789ab"
    assert anchor_of("a~b.py", "1") != anchor_of("a~7eb.py", "1")


def test_rows_of_one_path_and_id_have_anchors_of_their_own() -> None:
    report = one_row(Verdict.WEAK)
    twice = replace(report, rows=report.rows * 2)

    first, second = (one.anchor for one in page_rows(twice))
    assert second == f"{first}-2"


def test_weak_tests_are_ranked_and_lead_to_their_rows() -> None:
    report = replace(full_report(), weak_tests={"b": ("x:1",), "a": ("x:1",), "c": ("x:1", "x:2")})
    name = report.rows[0].name
    rows = page_rows(report)

    ranked = weak_tests(replace(report, weak_tests={**report.weak_tests, "d": (name,) * 3}), rows)
    assert [one.test for one in ranked] == ["d", "c", "a", "b"]
    assert ranked[0].rows[0] == (name, next(o.anchor for o in rows if o.row.name == name))
    assert ranked[1].rows[0] == ("x:1", "")


def test_details_of_a_long_report_are_there_for_a_browser_without_scripts() -> None:
    short, long = large_report(LONG - 1), large_report(LONG)

    assert "noscript" not in page(short).tags
    assert page(long).tags.count("noscript") == LONG


def test_trend_is_shown_where_the_report_has_one() -> None:
    words = page(replace(full_report(), trend=TREND)).words

    assert "2 reports of sweep on linux, Python 3.11, 2026-01-01 to 2026-01-02." in words
    assert "2026-01-01T02:00:00Z 3 0 0 1 2026-01-02T02:00:00Z 1 1 0 0" in words
    assert "Newly weak: 1 row src/retry.py:000000000002 t.py::<b> was bound, now weak" in words
    assert "Fixed: 1 row src/gone.py:00 t.py::c first seen, now bound" in words
    assert "Flaky: 1 row src/gone.py:01 t.py::d bound, then weak" in words
    assert "1.23 s t.py::e" in words
    assert "1 row it does not notice, weak for 3 reports on end" in words
    assert 'id="trend"' not in render(full_report())


def test_bars_of_a_trend_stand_on_one_foot_and_the_highest_fills_the_picture() -> None:
    first, second = trend_nights(TREND)

    assert [(piece.tone, piece.y, piece.height) for piece in first.pieces] == [
        ("good", 24, 72),
        ("bad", 0, 24),
    ]
    assert [(piece.tone, piece.y, piece.height) for piece in second.pieces] == [
        ("good", 72, 24),
        ("quiet", 48, 24),
    ]
    assert (first.pieces[0].x, second.pieces[0].x) == (0, 50)


def test_trend_without_reports_or_rows_is_no_trouble() -> None:
    empty = replace(TREND, nights=())

    assert trend_nights(empty) == []
    assert trend_nights(replace(TREND, nights=(Night("now", "aa"),)))[0].pieces == ()
    assert "0 reports of sweep" in page(replace(full_report(), trend=empty)).words


def test_unknown_exit_code_is_named() -> None:
    assert "exit 99: unknown" in page(replace(nothing_new(), exit_code=99)).words


def test_gate_on_hold_is_neither_good_nor_bad() -> None:
    report = one_row(Verdict.UNPROVEN)

    assert report.exit_code == ExitCode.UNPROVEN
    assert '<div class="verdict open">' in render(report)
    assert '<div class="verdict good">' in render(one_row(Verdict.BOUND))
    assert '<div class="verdict bad">' in render(interrupted_report())


@pytest.mark.parametrize("text", [*HOSTILE, "</noscript><!--", "a\tb", "plain"])
def test_shown_text_is_on_one_line_and_printable(text: str) -> None:
    assert Page(str(shown(text))).text.isprintable()
    assert set(Page(str(shown(text))).tags) <= {"b"}
    assert set(Page(str(breakable(text))).tags) <= {"b", "wbr"}


def test_block_keeps_line_breaks_and_tabs() -> None:
    assert shown_block("a\n\tb\r") == 'a\n\tb<b class="odd">\\r</b>'


def test_backticks_become_code_and_what_they_hold_stays_text() -> None:
    assert coded("run `a <b>`, ``") == "run <code>a &lt;b&gt;</code>, ``"


def test_nodeid_may_break_at_its_joints() -> None:
    assert breakable("a/b.py::c_d") == "a/<wbr>b.py::<wbr>c_<wbr>d"


def one_row_of(report: Report, verdict: Verdict) -> Report:
    rows: tuple[ReportRow, ...] = tuple(row for row in report.rows if row.verdict is verdict)
    return replace(report, rows=rows)
