"""What children of ours take from the environment, and the document that lists it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from generator.declaration import declaration_paths
from generator.errors import FetchError
from generator.models.store import Store
from generator.surroundings import (
    ISOLATED,
    PIP_SETTLED,
    environment,
    pip_environment,
    some_home,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "name", ["PYTHONPATH", "PYTHONOPTIMIZE", "GIT_DIR", "MKDOCS_THEME", "PIP_TARGET"]
)
def test_what_would_change_the_code_is_kept_out(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "/elsewhere")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test")
    assert name not in environment()
    assert environment(TMPDIR="/t")["TMPDIR"] == "/t"
    assert environment()["HTTPS_PROXY"] == "http://proxy.test"


@pytest.mark.parametrize("name", sorted(PIP_SETTLED))
def test_pip_s_settings_of_where_and_what_are_overruled(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")
    assert pip_environment()[name] == PIP_SETTLED[name]


@pytest.mark.parametrize("name", ["PIP_INDEX_URL", "PIP_PROXY", "PIP_CERT", "PIP_CACHE_DIR"])
def test_pip_s_settings_of_from_where_are_kept(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "x")
    assert pip_environment()[name] == "x"


@pytest.mark.parametrize("module", ["yaml", "markdown", "types", "site", "mkdocs", "sitecustomize"])
def test_no_child_imports_from_the_current_folder(tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text("raise SystemExit('imported from the current folder')")
    done = subprocess.run(
        [sys.executable, *ISOLATED, "-m", "mkdocs", "--version"],
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_pip_heeds_no_configuration_of_where_to_install(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text(
        "[global]\nuser = yes\nrequire-virtualenv = yes\nconstraint = /none\n"
    )
    done = subprocess.run(
        [sys.executable, *ISOLATED, "-m", "pip", "install", "--no-index", "pip"],
        env={**pip_environment(), "PIP_CONFIG_FILE": str(tmp_path / "pip.conf")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_makefile_settles_what_the_program_settles() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"{name}={value}" in makefile for name, value in PIP_SETTLED.items())
    for name in ("TARGET", "PREFIX", "ROOT", "PYTHON"):
        assert f"-u PIP_{name} " in makefile


def test_the_document_lists_what_is_settled_and_kept_out() -> None:
    text = (ROOT / "docs" / "surroundings.md").read_text(encoding="utf-8")
    for name in ("PYTHON*", "GIT_*", "MKDOCS_*", *PIP_SETTLED):
        assert f"`{name}`" in text


def nobody_s_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_a_library_is_given_a_home_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(Path, "home", nobody_s_home)
    with some_home():
        assert Path(os.environ["HOME"]).is_dir()
    assert "HOME" not in os.environ


def test_a_store_without_a_home_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_name: str) -> Path:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.delenv("RECEIPTS_CACHE", raising=False)
    monkeypatch.setattr("generator.models.store.user_cache_path", nowhere)
    with pytest.raises(FetchError, match="no home folder") as caught:
        Store.of_user()
    assert "RECEIPTS_CACHE" in caught.value.remedy


def test_hidden_names_links_to_nowhere_and_folders_are_no_declarations(tmp_path: Path) -> None:
    receipts = tmp_path / "receipts"
    receipts.mkdir()
    for name in ("real.yaml", "._x.yaml", ".hidden.yaml", "backup.yaml~", "#x.yaml#"):
        (receipts / name).write_text("")
    (receipts / ".#x.yaml").symlink_to("nowhere")
    (receipts / "lost.yaml").symlink_to("nowhere")
    (receipts / "folder.yaml").mkdir()
    assert [path.name for path in declaration_paths(tmp_path)] == ["real.yaml"]
