"""The lock of an article: one at a time, with a name, and free again however its holder ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from generator.errors import RunError
from generator.lock import locked
from tests.unit.launching import KillError

HOLDER = """
import sys
from pathlib import Path
from generator.lock import locked
with locked(Path(sys.argv[1]), "some-article"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_told_who_measures(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(RunError, match=f"being measured already .process {holder.pid}, since"),
            locked(tmp_path, "some-article"),
        ):
            pass
        with locked(tmp_path, "another-article"):
            pass
        holder.communicate("")
    with locked(tmp_path, "some-article"):
        assert f"process {os.getpid()}," in (tmp_path / ".work/some-article.holder").read_text()


def test_a_killed_holder_leaves_the_lock_free(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        holder.kill()
        holder.wait()
    with locked(tmp_path, "some-article"):
        pass
    assert not (tmp_path / ".work/some-article.holder").exists()


def test_an_error_while_measuring_frees_the_lock(tmp_path: Path) -> None:
    with pytest.raises(KillError), locked(tmp_path, "some-article"):
        raise KillError
    assert not (tmp_path / ".work/some-article.holder").exists()
    with locked(tmp_path, "some-article"):
        pass


def test_another_lock_that_is_busy_is_not_taken_for_ours(tmp_path: Path) -> None:
    with (
        pytest.raises(Timeout),
        locked(tmp_path, "some-article"),
        FileLock(tmp_path / "other.lock", timeout=0),
    ):
        raise Timeout(str(tmp_path / "other.lock"))


def test_a_holder_that_left_no_name_is_still_a_holder(tmp_path: Path) -> None:
    (tmp_path / ".work").mkdir()
    with (
        FileLock(tmp_path / ".work" / "some-article.lock"),
        pytest.raises(RunError, match="an unknown process"),
        locked(tmp_path, "some-article"),
    ):
        pass


def test_what_a_killed_run_left_half_written_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "receipts" / "some-article"
    folder.mkdir(parents=True)
    half = [folder / ".runs.json.ab_cd123", folder / ".SHA256SUMS.abcdefgh"]
    whole = [folder / "runs.json", folder / "SHA256SUMS", folder / ".gitignore", folder / ".a.json"]
    for path in half + whole:
        path.touch()
    with locked(tmp_path, "some-article"):
        assert sorted(folder.iterdir()) == sorted(whole)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / ".work").touch()
    with (
        pytest.raises(RunError, match=r"\.work cannot be written to: File exists"),
        locked(tmp_path, "some-article"),
    ):
        pytest.fail("it was held")
