"""Whatever a text is, the page shows all of it and none of it is markup."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invertgate.report.html_rows import anchor_of
from invertgate.report.html_text import breakable, coded, shown, shown_block
from invertgate.report.words import visible

pytestmark = pytest.mark.property

MARKUP = st.sampled_from(
    ["</script>", "</noscript>", "<img src=x onerror=a>", "&lt;", "`", '"', "'"]
)
LETTERS = st.characters(codec=None, categories=None)
TEXTS = st.lists(MARKUP | st.text(LETTERS, max_size=9), max_size=6).map("".join)


@dataclass
class Read(HTMLParser):
    """What is read of a piece of a page."""

    source: str
    tags: set[str] = field(default_factory=set)
    text: str = ""

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert attrs in ([], [("class", "odd")])

    def handle_data(self, data: str) -> None:
        self.text += data


@given(TEXTS)
def test_shown_text_is_all_there_and_no_markup(text: str) -> None:
    read = Read(str(shown(text)))

    assert read.text == visible(text)
    assert read.tags <= {"b"}


@given(TEXTS)
def test_block_is_all_there_and_keeps_its_lines(text: str) -> None:
    read = Read(str(shown_block(text)))

    assert read.text.count("\n") == text.count("\n")
    assert read.text.replace("\n", "\\n").replace("\t", "\\t") == visible(text)
    assert read.tags <= {"b"}


@given(TEXTS)
def test_breaks_and_code_add_nothing_to_what_is_read(text: str) -> None:
    broken, set_as_code = Read(str(breakable(text))), Read(str(coded(text)))

    assert broken.text == visible(text)
    assert set_as_code.text.replace("`", "") == visible(text).replace("`", "")
    assert broken.tags | set_as_code.tags <= {"b", "wbr", "code"}


@given(TEXTS, TEXTS)
def test_anchors_are_plain_and_differ_where_paths_do(path: str, other: str) -> None:
    anchor = anchor_of(path, "0123456789ab")

    assert set(anchor) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-~")
    assert (anchor == anchor_of(other, "0123456789ab")) == (path == other)
