"""Opens pages in Chromium as a reader does; they may ask for nothing and break nothing."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Final, Literal

import pytest

if TYPE_CHECKING:  # these tests are collected where there is no Playwright, too
    from playwright.sync_api import Browser, Page

REQUIRED: Final = "INVERTGATE_BROWSER_REQUIRED"
"""Set where a browser has to be there; without one the tests then fail and are not skipped."""

NAMES: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
SCREENSHOTS: Final = Path(__file__).parents[2] / ".screenshots"
PATIENCE: Final = 15_000
"""Milliseconds that anything may take in the browser."""


def need_playwright() -> None:
    """Skip a module that cannot be run without Playwright, unless it has to be."""
    if REQUIRED not in os.environ:
        for name in ("playwright", "axe_playwright_python"):
            pytest.importorskip(name, reason=f"no {name} here; `tox -e browser` has it")


@contextmanager
def chromium() -> Generator["Browser"]:
    """Lend a browser, or skip where there is none."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not there everywhere

    path = next((found for name in NAMES if (found := which(name))), None)
    if path is None:
        missing = f"no Chromium on PATH (looked for {', '.join(NAMES)})"
        pytest.fail(missing) if REQUIRED in os.environ else pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, timeout=4 * PATIENCE)
        try:
            yield browser
        finally:
            browser.close()


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who opens pages, each in a fresh window."""

    browser: "Browser"
    folder: Path
    pages: list[str] = field(default_factory=list)
    """Addresses of what was written."""
    noticed: list[str] = field(default_factory=list)
    """Requests for anything but the pages, errors, and dialogs."""

    def open(
        self,
        text: str,
        *,
        anchor: str = "",
        scheme: Literal["light", "dark"] = "light",
        width: int = 1280,
        scripts: bool = True,
    ) -> "Page":
        """Open a page that is a file, at an anchor."""
        address = self.written(text)
        context = self.browser.new_context(
            color_scheme=scheme,
            viewport={"width": width, "height": 900},
            java_script_enabled=scripts,
        )
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("request", lambda request: self._notice_request(request.url))
        page.on("pageerror", lambda error: self.noticed.append(f"error: {error}"))
        page.on("console", lambda message: self.noticed.append(f"console: {message.text}"))
        page.on("dialog", lambda dialog: self.noticed.append(f"dialog: {dialog.message}"))
        page.goto(f"{address}#{anchor}" if anchor else address)
        return page

    def close(self) -> None:
        """Close all windows."""
        for context in self.browser.contexts:
            context.close()

    def written(self, text: str) -> str:
        """Write a page, and return its address."""
        file = self.folder / f"page{len(self.pages)}.html"
        file.write_text(text, encoding="utf-8")
        self.pages.append(file.as_uri())
        return file.as_uri()

    def _notice_request(self, url: str) -> None:
        if url.partition("#")[0] not in self.pages:
            self.noticed.append(f"request: {url}")
