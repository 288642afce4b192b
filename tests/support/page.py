"""What a reader of Markdown gets: GitHub's own parser, with raw HTML let through."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options


@dataclass
class Page(HTMLParser):
    """Tags and tables of a page."""

    tags: set[str] = field(default_factory=set)
    tables: list[list[list[str]]] = field(default_factory=list)
    in_cell: bool = False

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        del attrs
        match tag:
            case "table":
                self.tables.append([])
            case "tr":
                self.tables[-1].append([])
            case "th" | "td":
                self.tables[-1][-1].append("")
                self.in_cell = True
            case _:
                pass

    def handle_endtag(self, tag: str) -> None:
        if tag in {"th", "td"}:
            self.in_cell = False

    def handle_data(self, data: str) -> None:
        if self.in_cell:
            self.tables[-1][-1][-1] += data


def page_of(markdown: str) -> Page:
    """Return what a text becomes; nothing is sanitized, so that nothing is hidden."""
    page = Page()
    html = cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)
    page.feed(html)
    page.close()
    return page
