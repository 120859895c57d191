"""Every fault of a declaration is told at once, at its place, with what was meant."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.declaration import Declaration, Override
from generator.declaration_reader import MAX_PROMPT_BYTES
from generator.errors import Fault, InputError
from generator.evidence import declare

ASSETS = Path(__file__).parents[1] / "assets" / "declarations"
REAL = Path(__file__).parents[2] / "receipts"

FAULTS = {
    "date-that-never-was": ["24:9: $.published.date: found '2026-02-30' → no such date"],
    "empty-prompt": ["15:13: $.experiments.runs.prompt: found '' → an empty prompt asks nothing"],
    "experiment-name-with-capital": ["10:3: $.experiments.Runs: found the key `Runs`"],
    "experiments-are-a-list": ["9:14: $.experiments: found a list → write a mapping"],
    "kind-is-a-list": ["11:11: $.experiments.runs.kind: unknown kind ['repeat']"],
    "misspelt-experiment-in-claim": [
        "18:11: $.claims.several.when: unknown experiment 'run' → did you mean `runs`?"
    ],
    "misspelt-field-in-claim": [
        "18:11: $.claims.several.when: runs has no 'distnct' → did you mean `distinct`?"
    ],
    "misspelt-key-at-top": [
        "1:1: $.summary: `summary` is missing",
        "2:1: $.sumary: unknown key `sumary` → did you mean `summary`?",
    ],
    "misspelt-key-in-claim": [
        "17:3: $.claims.several.holds: `holds` is missing",
        "20:5: $.claims.several.hold: unknown key `hold` → did you mean `holds`?",
    ],
    "misspelt-key-in-defaults-sampling": [
        "8:14: $.defaults.sampling.temprature: unknown key `temprature` → did you mean `temp"
    ],
    "misspelt-key-in-defaults-server": [
        "7:12: $.defaults.server.n_ctxx: unknown key `n_ctxx` → did you mean `n_ctx`?"
    ],
    "misspelt-key-in-experiment": [
        "10:3: $.experiments.runs.runs: `runs` is missing",
        "14:5: $.experiments.runs.rums: unknown key `rums` → did you mean `runs`?",
    ],
    "misspelt-key-in-sampling": [
        "16:16: $.experiments.runs.sampling.top-k: unknown key `top-k` → did you mean `top_k`?"
    ],
    "misspelt-key-in-server": [
        "16:14: $.experiments.runs.server.n_batchh: unknown key `n_batchh` → did you mean `n_b"
    ],
    "no-experiments": ["9:14: $.experiments: found a mapping → write at least 1 entries"],
    "no-kind": ["10:3: $.experiments.runs.kind: no kind → one of "],
    "no-prompt": ["11:5: $.experiments.runs: an experiment asks something → give its `prompt`"],
    "one-language": ["1:1: $.title.zh: `zh` is missing"],
    "prompt-file-absolute": [
        "15:20: $.experiments.runs.prompt.file: '/etc/passwd' lies outside receipts/"
    ],
    "prompt-file-empty": [
        "15:20: $.experiments.runs.prompt.file: receipts/prompts/empty.txt has 0 bytes"
    ],
    "prompt-file-is-a-folder": [
        "15:20: $.experiments.runs.prompt.file: there is no file receipts/prompts →"
    ],
    "prompt-file-loop": [
        "15:20: $.experiments.runs.prompt.file: 'prompts/loop.txt' cannot be read"
    ],
    "prompt-file-missing": [
        "15:20: $.experiments.runs.prompt.file: there is no file receipts/prompts/nowhere.txt → "
    ],
    "prompt-file-name-too-long": ["15:20: $.experiments.runs.prompt.file: 'aaaa"],
    "prompt-file-not-utf-8": [
        "15:20: $.experiments.runs.prompt.file: receipts/prompts/latin-1.txt is not UTF-8 (byte 3)"
    ],
    "prompt-file-outside": [
        "15:20: $.experiments.runs.prompt.file: '../secret.txt' lies outside receipts/"
    ],
    "prompt-file-too-large": [
        "15:20: $.experiments.runs.prompt.file: receipts/prompts/large.txt has 1,000,001 bytes"
    ],
    "prompt-file-with-nul": ["15:20: $.experiments.runs.prompt.file: a NUL"],
    "prompt-text-and-file": [
        "15:13: $.experiments.runs.prompt: found a mapping → give either the prompt's text or",
        "15:33: $.experiments.runs.prompt.file: there is no file receipts/prompts/hello.txt",
    ],
    "random-seed": ["16:22: $.experiments.runs.sampling.seed: found -1 → -1 means a random seed"],
    "replay-with-drawn-seed": [
        "16:22: $.experiments.runs.sampling.seed: the seed differs from ask to ask"
    ],
    "sweep-of-an-unknown-factor": [
        "10:3: $.experiments.moved.sampling.temperature: above temperature 0 the dice move tokens",
        "17:15: $.experiments.moved.factors.ubatch: unknown factor 'ubatch' → did you mean `n_ub",
        "18:19: $.experiments.moved.factors.flash_attn: 'never' is no flash_attn → write 'on', 'o",
        "22:38: $.experiments.moved.interventions.alone.predict.same_as.threads: 'threads' is no f",
    ],
    "unknown-kind": [
        "11:11: $.experiments.runs.kind: unknown kind 'repaet' → did you mean `repeat`?"
    ],
    "width-named-twice": ["15:13: $.experiments.runs.widths: a width is named twice"],
    "faults-everywhere": [
        "1:1: $.title.en: `en` is missing",
        "3:33: $.author.prose: found 'humane' → did you mean human?",
        "7:12: $.defaults.server.n_ctxx: unknown key",
        "8:20: $.defaults.sampling.seed: found -1",
        "13:15: $.experiments.runs.endpoint: found 'complete' → did you mean completion?",
        "14:20: $.experiments.runs.prompt.file: there is no file receipts/prompts/nowhere.txt",
        "15:11: $.experiments.runs.runs: found 1 → write a number of at least 2",
        "16:14: $.experiments.runs.server.thread: unknown key `thread` → did you mean `threads`?",
        "17:29: $.experiments.runs.sampling.temperature: found 'hot' → write a number",
        "19:11: $.experiments.other.kind: unknown kind 'repaet'",
        "23:16: $.experiments.other.sampling.topk: unknown key `topk` → did you mean `top_k`?",
        "25:3: $.claims.several.fails: `fails` is missing",
        "26:11: $.claims.several.when: runs has no 'distnct'",
        "26:11: $.claims.several.when: unknown experiment 'rums' → did you mean `runs`?",
        "29:5: $.claims.several.fail: unknown key `fail` → did you mean `fails`?",
    ],
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a project with prompts of every sort, and a text that is none of its business."""
    prompts = tmp_path / "project" / "receipts" / "prompts"
    prompts.mkdir(parents=True)
    (tmp_path / "project" / "secret.txt").write_text("secret", encoding="utf-8")
    (prompts / "good.txt").write_bytes("  你好\r\n\n".encode())
    (prompts / "latin-1.txt").write_bytes("café".encode("latin-1"))
    (prompts / "empty.txt").write_bytes(b"")
    (prompts / "large.txt").write_bytes(b"x" * (MAX_PROMPT_BYTES + 1))
    (prompts / "loop.txt").symlink_to("loop.txt")
    (prompts / "link-out.txt").symlink_to("../../secret.txt")
    return tmp_path / "project"


def _declared(root: Path, text: str, override: Override | None = None) -> Declaration:
    (root / "receipts" / "some-article.yaml").write_text(text, encoding="utf-8")
    return declare(root, "some-article", override or Override())


def _with(**fields: Any) -> str:
    """Return the right declaration with *fields* of its experiment changed."""
    data = yaml.safe_load((ASSETS / "right.yaml").read_text(encoding="utf-8"))
    data["experiments"]["runs"].update(fields)
    return yaml.safe_dump(data, allow_unicode=True)


def test_every_asset_is_expected() -> None:
    assert {path.stem for path in ASSETS.iterdir()} == {"right", *FAULTS}


@pytest.mark.parametrize("asset", FAULTS)
def test_faults_are_told_at_their_place(root: Path, asset: str) -> None:
    shutil.copy(ASSETS / f"{asset}.yaml", root / "receipts")
    with pytest.raises(InputError) as caught:
        declare(root, asset)
    told = [str(fault).removeprefix(f"receipts/{asset}.yaml:") for fault in caught.value.faults]
    assert len(told) == len(FAULTS[asset]), told
    for line, expected in zip(told, FAULTS[asset], strict=True):
        assert line.startswith(expected)
        assert line.partition(" → ")[2]


def test_the_right_one_is_right(root: Path) -> None:
    shutil.copy(ASSETS / "right.yaml", root / "receipts")
    declaration = declare(root, "right")
    experiment = declaration.experiments["runs"]
    assert (experiment.model, experiment.engine) == ("some-model", "some-engine")
    assert (experiment.prompt, experiment.name, experiment.article) == ("Hello", "runs", "right")
    assert (experiment.server.n_ctx, experiment.server.n_batch) == (1024, 2048)
    assert (experiment.sampling.temperature, experiment.sampling.seed) == (0.5, 42)
    assert declaration.file == "receipts/right.yaml"
    assert list(declaration.head.claims) == ["several"]


def test_an_experiment_is_recorded_as_it_was_read(root: Path) -> None:
    experiment = _declared(root, _with(server={"n_ctx": 64})).experiments["runs"]
    record = experiment.as_json()
    assert record["server"] == experiment.server.model_dump(mode="json")
    assert record["sampling"]["seed"] == 42
    assert (record["name"], record["kind"], record["prompts"]) == (
        "runs",
        "repeat",
        {"prompt": "Hello"},
    )
    assert (record["runs"], record["model"]) == (3, "some-model")


def test_an_experiment_may_have_pins_of_its_own_and_a_run_others(root: Path) -> None:
    own = _with(model="own-model", engine="own-engine")
    experiment = _declared(root, own).experiments["runs"]
    assert (experiment.model, experiment.engine) == ("own-model", "own-engine")
    other = _declared(root, own, Override(model="b-model", engine="b-engine")).experiments["runs"]
    assert (other.model, other.engine) == ("b-model", "b-engine")
    one = _declared(root, own, Override(model="b-model")).experiments["runs"]
    assert (one.model, one.engine) == ("b-model", "own-engine")


@pytest.mark.parametrize("prompt", ["Hello ", " Hello", "Hello\n", " ", "a\u0301"])
def test_a_prompt_is_asked_as_it_was_written(root: Path, prompt: str) -> None:
    for written in (prompt, {"text": prompt}):
        assert _declared(root, _with(prompt=written)).experiments["runs"].prompt == prompt


def test_a_prompts_file_is_asked_byte_for_byte(root: Path) -> None:
    experiment = _declared(root, _with(prompt={"file": "prompts/good.txt"})).experiments["runs"]
    assert experiment.prompt == "  你好\r\n\n"


def test_a_link_does_not_lead_out_of_the_folder(root: Path) -> None:
    with pytest.raises(InputError, match="lies outside receipts/"):
        _declared(root, _with(prompt={"file": "prompts/link-out.txt"}))


def test_defaults_are_overlaid_and_extras_added_up(root: Path) -> None:
    data = yaml.safe_load(_with(server={"threads": 7, "extra": {"b": 2}}))
    data["defaults"]["server"]["extra"] = {"a": 1}
    server = _declared(root, yaml.safe_dump(data)).experiments["runs"].server
    assert (server.n_ctx, server.threads, server.extra) == (1024, 7, {"a": 1, "b": 2})


def test_a_missing_declaration_is_a_fault_of_input(root: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        declare(root, "nowhere")


def test_experiments_keep_the_files_order(root: Path) -> None:
    text = (ASSETS / "right.yaml").read_text(encoding="utf-8")
    head, _, rest = text.partition("  runs:\n")
    body, _, claims = rest.partition("claims:")
    text = head + "".join(f"  {name}:\n{body}" for name in ("runs", "b", "a")) + "claims:" + claims
    assert list(_declared(root, text).experiments) == ["runs", "b", "a"]


# --- whatever is written

SCALARS: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 2**40, 0.5, "", "x", "seed", "repeat", "drawn", [], {}, [[]], {"x": {}}]
)


def _places(value: Any) -> list[tuple[Any, Any]]:
    entries: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list):
        entries = list(enumerate(value))
    return [place for key, inner in entries for place in [(value, key), *_places(inner)]]


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_change_of_the_real_declaration_is_read_or_refused(
    root: Path, data: st.DataObject
) -> None:
    text = (REAL / "why-outputs-differ.yaml").read_text(encoding="utf-8")
    shutil.copytree(REAL / "prompts", root / "receipts" / "prompts", dirs_exist_ok=True)
    tree = yaml.safe_load(text)
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(_places(tree)))
        match data.draw(st.sampled_from(["replace", "remove", "rename"])):
            case "replace":
                holder[key] = data.draw(SCALARS)
            case "remove":
                del holder[key]
            case "rename" if isinstance(holder, dict):
                holder[data.draw(st.sampled_from([f"{key}x", "", "x y", "9"]))] = holder.pop(key)
    _read_or_refused(root, yaml.safe_dump(tree, allow_unicode=True))


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_change_of_its_text_is_read_or_refused(root: Path, data: st.DataObject) -> None:
    text = (ASSETS / "right.yaml").read_text(encoding="utf-8")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 3))
        text = text[:at] + data.draw(st.text(":-[]{}\"'#|>&* \n0ax!\0\ud800", max_size=3)) + text[
            at + cut :
        ]  # fmt: skip
    _read_or_refused(root, text)


def _read_or_refused(root: Path, text: str) -> None:
    path = root / "receipts" / "some-article.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    faults: tuple[Fault, ...] = ()
    declaration = None
    try:
        declaration = declare(root, "some-article")
    except InputError as error:
        faults = error.faults
    assert bool(declaration and declaration.experiments) is not bool(faults)
    assert all(fault.line > 0 and fault.column > 0 and fault.remedy for fault in faults)
