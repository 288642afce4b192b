import os
from pathlib import Path

import pytest
from check import find_browser


def test_browser_on_the_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = tmp_path / "chromium"
    browser.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_browser()


def test_place_where_no_browser_can_be_installed_is_told_what_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert not find_browser()
    assert "the browser tests are skipped" in capsys.readouterr().out


def test_failed_installation_is_said_and_does_not_stop_the_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    apt = tmp_path / "apt-get"
    apt.write_text("#!/bin/sh\nexit 100\n", encoding="ascii")
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert not find_browser()
    assert "the browser tests are skipped" in capsys.readouterr().out


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may install")
def test_browser_that_was_installed_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, apt = tmp_path / "chromium", tmp_path / "apt-get"
    install = f': > "{browser}"; /bin/chmod +x "{browser}"'
    apt.write_text(f'#!/bin/sh\n[ "$2" = update ] || {{ {install}; }}\n', encoding="ascii")
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_browser()
