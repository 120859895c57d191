"""Whose code measured: a commit counts only if its repository tracks the program."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from generator.checkout import Checkout, checkout


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    done = subprocess.run(
        ["git", *identity, "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(folder)},
    )
    return done.stdout.strip()


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """Return a checkout of a program like ours."""
    folder = tmp_path / "code"
    (folder / "generator").mkdir(parents=True)
    (folder / "templates").mkdir()
    (folder / "receipts").mkdir()
    (folder / "generator" / "__init__.py").write_text("")
    (folder / "pyproject.toml").write_text("")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def test_a_checkout_has_a_commit(code: Path) -> None:
    assert checkout(code) == Checkout(git(code, "rev-parse", "HEAD"), dirty=False)


@pytest.mark.parametrize(
    ("file", "dirty"),
    [
        ("generator/new.py", True),
        ("generator/__init__.py", True),
        ("templates/page.md.j2", True),
        ("receipts/measured.json", False),
        ("notes.txt", False),
    ],
)
def test_changes_of_the_program_make_it_dirty(code: Path, file: str, *, dirty: bool) -> None:
    (code / file).write_text("changed")
    found = checkout(code)
    assert isinstance(found, Checkout)
    assert found.dirty is dirty


@pytest.mark.parametrize(
    "name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_GLOBAL"]
)
def test_nothing_of_git_s_environment_is_heeded(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    expected = checkout(code)
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    monkeypatch.setenv(name, str(other / ".git"))
    assert checkout(code) == expected


def test_settings_of_the_user_change_nothing(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code / "generator" / "new.py").write_text("")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[status]\n\tshowUntrackedFiles = no\n[color]\n\tui = always\n[core]\n"
        f"\texcludesFile = {home}/all\n\tfsmonitor = /bin/false\n"
    )
    (home / "all").write_text("*\n")
    monkeypatch.setenv("HOME", str(home))
    assert checkout(code) == Checkout(git(code, "rev-parse", "HEAD"), dirty=True)


def test_an_archive_inside_another_repository_is_not_its_commit(code: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    shutil.copytree(code, outer / "unpacked", ignore=shutil.ignore_patterns(".git"))
    git(outer, "init", "--quiet")
    assert checkout(outer / "unpacked") == "unpacked inside another repository"


def test_files_that_a_repository_does_not_track_are_not_its_commit(
    code: Path, tmp_path: Path
) -> None:
    other = tmp_path / "bare"
    shutil.copytree(code, other, ignore=shutil.ignore_patterns(".git"))
    git(other, "init", "--quiet")
    git(other, "commit", "--quiet", "--allow-empty", "-m", "another's")
    assert checkout(other) == "its files are not tracked by the repository that they lie in"


def test_without_a_repository_or_git_the_reason_is_given(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    shutil.copytree(code, plain, ignore=shutil.ignore_patterns(".git"))
    assert checkout(plain) == "not a git checkout"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checkout(code) == "git is not installed"


def test_a_worktree_and_a_shallow_clone_have_their_commit(code: Path, tmp_path: Path) -> None:
    git(code, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{code}", str(tmp_path / "shallow"))
    for folder in ("tree", "shallow"):
        assert checkout(tmp_path / folder) == checkout(code)


def test_an_installed_package_has_no_commit(tmp_path: Path) -> None:
    installed = tmp_path / "lib" / "site-packages"
    installed.mkdir(parents=True)
    found = checkout(installed)
    assert isinstance(found, str)
    assert "installed" in found
