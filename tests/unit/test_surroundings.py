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
    PIP_TAKEN,
    environment,
    pip_environment,
    some_home,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "name",
    ["PYTHONPATH", "PYTHONOPTIMIZE", "GIT_DIR", "MKDOCS_THEME", "PIP_TARGET", "PIP_INDEX_URL"],
)
def test_what_would_change_the_code_is_kept_out(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "/elsewhere")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test")
    assert name not in environment()
    assert environment(TMPDIR="/t")["TMPDIR"] == "/t"
    assert environment()["HTTPS_PROXY"] == "http://proxy.test"


def configure(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    """Let pip read this configuration and no variable of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    (folder / "pip.conf").write_text(text)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(folder / "pip.conf"))


def pip_variables(command: str) -> dict[str, str]:
    return {n: v for n, v in pip_environment(command).items() if n.startswith("PIP_")}


def variable(name: str) -> str:
    return f"PIP_{name.upper().replace('-', '_')}"


@pytest.mark.parametrize("section", ["global", "download"])
def test_from_where_pip_takes_files_is_the_user_s(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, section: str
) -> None:
    values = {name: f"a 'quoted' {name}" for name in PIP_TAKEN}
    values |= {"timeout": "7", "retries": "3", "no-index": "1", "no-cache-dir": "1"}
    values |= {"keyring-provider": "disabled"}
    lines = [f"{name} = {value}" for name, value in values.items()]
    configure(monkeypatch, tmp_path, "\n".join([f"[{section}]", *lines]))
    expected = {variable(name): value for name, value in values.items()}
    assert expected.items() <= pip_variables("download").items()
    heeded = expected.items() <= pip_variables("install").items()
    assert heeded == (section == "global")


def test_a_variable_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    configure(monkeypatch, tmp_path, "[download]\nproxy = file\n")
    monkeypatch.setenv("PIP_PROXY", "variable")
    assert pip_variables("download")["PIP_PROXY"] == "variable"


def test_a_command_s_own_section_wins_and_lists_stay_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "[download]\nproxy = own\n[global]\nproxy = all\nextra-index-url =\n    a\n    b\n"
    configure(monkeypatch, tmp_path, text)
    found = pip_variables("download")
    assert found["PIP_PROXY"] == "own"
    assert found["PIP_EXTRA_INDEX_URL"].split() == ["a", "b"]


NOT_TAKEN = (
    "target", "prefix", "root", "user", "dry-run", "no-deps", "ignore-installed",
    "require-virtualenv", "constraint", "requirement", "python", "only-binary", "no-binary",
    "platform", "python-version", "abi", "implementation", "pre", "require-hashes", "report", "log",
    "quiet", "upgrade", "force-reinstall", "break-system-packages", "isolated", "editable", "src",
)  # fmt: skip


def test_nothing_else_of_pip_s_settings_reaches_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = [f"{name} = 1" for name in NOT_TAKEN]
    sections = [f"[{section}]" for section in ("global", "install", "download")]
    configure(monkeypatch, tmp_path, "\n".join(one for s in sections for one in (s, *lines)))
    for name in NOT_TAKEN:
        monkeypatch.setenv(variable(name), "1")
    for command in ("install", "download"):
        found = pip_variables(command)
        assert found["PIP_CONFIG_FILE"] == os.devnull
        assert found.keys() <= {"PIP_CONFIG_FILE", *map(variable, PIP_TAKEN)}


def test_the_makefile_installs_where_it_means_to_whatever_pip_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    configure(monkeypatch, tmp_path, "[install]\ntarget = /elsewhere\nuser = yes\nprefix = /x\n")
    monkeypatch.setenv("PIP_ROOT", "/elsewhere")
    done = subprocess.run(
        [sys.executable, *ISOLATED, "tools/pip_install.py", "--no-index", "pip"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Requirement already satisfied: pip ")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "-m pip" not in makefile
    assert makefile.count("tools/pip_install.py") >= 2


def test_pip_itself_says_what_is_wrong_with_its_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    configure(monkeypatch, tmp_path, "no section\n")
    done = subprocess.run(
        [sys.executable, *ISOLATED, "-m", "pip", "download", "--no-index", "x"],
        env=pip_environment("download"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "pip.conf" in done.stderr


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


def test_the_document_lists_what_is_settled_and_kept_out() -> None:
    text = (ROOT / "docs" / "surroundings.md").read_text(encoding="utf-8")
    for name in ("PYTHON*", "GIT_*", "MKDOCS_*", *PIP_TAKEN):
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
