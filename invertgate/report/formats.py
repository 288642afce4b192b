"""The formats that a report can be written in, each in a module that knows no other."""

# Each is imported when it is asked for: a run without one has nothing to wait for.
# ruff: noqa: PLC0415

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from invertgate.report.document import Report


@dataclass(frozen=True, slots=True)
class Format:
    """A format, and how it is asked for."""

    name: str
    about: str
    """What it is, in the words of ``--help``."""
    render: Callable[[Report], str]
    is_json: bool = False

    @property
    def flag(self) -> str:
        """Return what asks for it on the command line."""
        return f"--{self.name}"


def _html(report: Report) -> str:
    from invertgate.report import html

    return html.render(report)


def _sarif(report: Report) -> str:
    from invertgate.report import sarif

    return sarif.render(report)


def _junit(report: Report) -> str:
    from invertgate.report import junit

    return junit.render(report)


def _gitlab(report: Report) -> str:
    from invertgate.report import gitlab

    return gitlab.render(report)


def _stryker(report: Report) -> str:
    from invertgate.report import stryker

    return stryker.render(report)


def _markdown(report: Report) -> str:
    from invertgate.report import markdown

    return markdown.render(report)


FORMATS: Final = (
    Format("html", "a page for people, in one file", _html),
    Format("sarif", "SARIF 2.1.0, for code scanning", _sarif, is_json=True),
    Format("junit", "JUnit XML, one case a row", _junit),
    Format("gitlab", "GitLab's code quality report", _gitlab, is_json=True),
    Format("stryker", "what Stryker's mutation dashboards read", _stryker, is_json=True),
    Format("markdown", "Markdown, for a summary or a comment", _markdown),
)
