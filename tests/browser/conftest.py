"""A browser for the tests in this folder, and a reader who sits before it."""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.browser import Reader, chromium

if TYPE_CHECKING:  # these tests are collected where there is no Playwright, too
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Generator["Browser"]:
    """Start Chromium once."""
    with chromium() as started:
        yield started


@pytest.fixture
def reader(browser: "Browser", tmp_path: Path) -> Generator[Reader]:
    """Lend a reader whose pages must not ask for anything, break, or open a dialog."""
    reading = Reader(browser, tmp_path)
    try:
        yield reading
    finally:
        reading.close()
    assert reading.noticed == []
