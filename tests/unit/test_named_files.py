"""Files that settings name: every one is found, and no folder of the machine is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.named_files import NamedFile, for_engine, for_receipt, named_files
from generator.pin_types import shard_names
from generator.settings import Scalar, ServerSettings


def extra(**values: Scalar) -> ServerSettings:
    return ServerSettings(extra=values)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a project with a few files, and one beside it."""
    project = tmp_path / "project"
    (project / "files").mkdir(parents=True)
    for name in ("files/a.gguf", "files/b.gguf", "grammar.gbnf", "auto", "odd,name:1.gguf"):
        (project / name).write_text(name)
    (tmp_path / "mine.gguf").write_text("mine")
    return project


def test_files_are_found_wherever_they_lie(root: Path, tmp_path: Path) -> None:
    settings = extra(
        grammar_file="grammar.gbnf",
        mmproj="files/a.gguf",
        model_draft=str(tmp_path / "mine.gguf"),
        lora="../mine.gguf",
    )
    assert named_files(settings, root) == [
        NamedFile("grammar_file", "grammar.gbnf", root / "grammar.gbnf"),
        NamedFile("mmproj", "files/a.gguf", root / "files/a.gguf"),
        NamedFile("model_draft", "mine.gguf", tmp_path / "mine.gguf"),
        NamedFile("lora", "mine.gguf", root / "../mine.gguf"),
    ]


def test_lists_and_scales_are_looked_into(root: Path) -> None:
    settings = extra(lora_scaled="files/a.gguf:0.5,files/b.gguf:-1e-3,files/gone.gguf:2")
    assert [file.name for file in named_files(settings, root)] == ["files/a.gguf", "files/b.gguf"]
    assert for_engine(settings, root).extra["lora_scaled"] == (
        f"{root}/files/a.gguf:0.5,{root}/files/b.gguf:-1e-3,files/gone.gguf:2"
    )
    odd = extra(lora="odd,name:1.gguf")
    assert [file.path for file in named_files(odd, root)] == [root / "odd,name:1.gguf"]
    assert for_engine(odd, root).extra == {"lora": f"{root}/odd,name:1.gguf"}


def test_home_is_known_and_not_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(root.parent))
    settings = extra(lora="~/mine.gguf")
    assert named_files(settings, root) == [
        NamedFile("lora", "mine.gguf", root.parent / "mine.gguf")
    ]
    assert for_engine(settings, root).extra == {"lora": f"{root.parent}/mine.gguf"}
    assert for_receipt(settings).extra == {"lora": "mine.gguf"}


WORDS: list[Scalar] = [
    "auto",
    "files",
    "files/gone.gguf",
    "0.5",
    "",
    ",",
    "a,,b",
    "http://127.0.0.1:8080/v1",
    "x" * 5000 + ".gguf",
    "nul\0.gguf",
    "~nobody-of-this-name/x.gguf",
    "two\nlines:0.5",
    True,
    7,
    0.25,
]


@pytest.mark.parametrize("word", WORDS)
def test_what_names_no_file_is_left_as_it_is(word: Scalar, root: Path) -> None:
    settings = extra(setting=word)
    assert named_files(settings, root) == []
    assert for_engine(settings, root) == settings


RECORDED = {
    "/home/me/models/x.gguf": "x.gguf",
    "~/x.gguf": "x.gguf",
    "~me/models/x.gguf": "x.gguf",
    "../../me/x.gguf": "x.gguf",
    "files/../../me/x.gguf": "x.gguf",
    "/home/me/a.gguf:0.5,files/b.gguf:1,/home/me/c.gguf": "a.gguf:0.5,files/b.gguf:1,c.gguf",
    "/home/me/a.gguf,,/home/me/c.gguf": "a.gguf,,c.gguf",
    "/home/me/folder/": "folder",
    "files/a.gguf": "files/a.gguf",
    "grammar.gbnf": "grammar.gbnf",
    "http://127.0.0.1:8080/v1": "http://127.0.0.1:8080/v1",
    "/": "/",
}


@pytest.mark.parametrize("value", RECORDED)
def test_no_folder_outside_the_project_is_recorded(value: str) -> None:
    settings = extra(setting=value, other=3)
    assert for_receipt(settings).extra == {"setting": RECORDED[value], "other": 3}
    assert for_receipt(for_receipt(settings)) == for_receipt(settings)


def test_shards_beside_a_named_one_are_found_too(root: Path) -> None:
    names = shard_names("draft-00001-of-00003.gguf")
    for name in names:
        (root / "files" / name).write_text(name)
    found = named_files(extra(model_draft=f"files/{names[0]}"), root)
    assert [file.name for file in found] == [f"files/{name}" for name in names]
    found = named_files(extra(model_draft=str(root / "files" / names[0])), root)
    assert [file.name for file in found] == names
    assert [file.path.read_text() for file in found] == names


def test_other_settings_are_not_touched(root: Path) -> None:
    settings = ServerSettings(chat_template="name.jinja", threads=7, extra={"lora": "files/a.gguf"})
    assert for_engine(settings, root).model_copy(update={"extra": {}}) == settings.model_copy(
        update={"extra": {}}
    )


def test_a_shard_that_is_missing_is_not_listed(root: Path) -> None:
    names = shard_names("draft-00001-of-00003.gguf")
    for name in (names[0], names[2]):
        (root / "files" / name).write_text(name)
    found = named_files(extra(model_draft=f"files/{names[0]}"), root)
    assert [file.name for file in found] == [f"files/{names[0]}", f"files/{names[2]}"]
