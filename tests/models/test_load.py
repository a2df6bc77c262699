from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_models import tiny_model, wrapped

from diag.errors import DiagError, InputError
from diag.models import CATALOG, DEFAULT_MODEL, catalog, fetch, load, model_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("model")
    made = tiny_model()
    made.network.save_pretrained(place)
    made.tokenizer.save_pretrained(place)
    return place


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_a_folder_loads_with_its_hash_and_type(folder: Path) -> None:
    model = load(str(folder), device="cpu")
    again = load(str(folder), dtype="bfloat16")
    assert model.weights_sha256 == again.weights_sha256
    assert (model.dtype, again.dtype) == ("float32", "bfloat16")
    assert model.window == 4096
    assert not model.network.training


def test_the_embedded_model_is_the_one_that_it_claims_to_be(smollm: Any) -> None:
    assert smollm.parameters == 134_515_008
    assert smollm.window == 8192
    assert model_folder(CATALOG[DEFAULT_MODEL]).joinpath("model.safetensors").exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("./nowhere", "does not exist"),
        ("nowhere/at/all", "does not exist"),
        ("nobody/nothing", "--offline forbids fetching"),
        ("unheard-of", "not in the catalogue"),
    ],
)
def test_a_name_that_leads_nowhere(name: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        load(name, offline=True)


def test_a_folder_or_file_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no config\.json"):
        load(str(tmp_path))
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(InputError, match=r"or a \.gguf file"):
        load(str(tmp_path / "notes.txt"))
    (tmp_path / "broken.gguf").write_bytes(b"GGUF but not really")
    with pytest.raises(DiagError, match="tokenizer could be read"):
        load(str(tmp_path / "broken.gguf"))


def test_broken_weights_are_one_sentence(copied: Path) -> None:
    (copied / "model.safetensors").write_bytes(b"\0" * 100)
    with pytest.raises(DiagError, match="could not be read from"):
        load(str(copied))


def test_pickles_are_read_by_a_flag_alone(copied: Path) -> None:
    model = load(str(copied))
    torch.save(model.network.state_dict(), copied / "pytorch_model.bin")
    (copied / "model.safetensors").unlink()
    with pytest.raises(DiagError, match="--allow-pickle"):
        load(str(copied))
    assert load(str(copied), allow_pickle=True).parameters == model.parameters


def test_another_models_tokenizer_is_noticed(copied: Path) -> None:
    config = json.loads((copied / "config.json").read_text())
    small = tiny_model()
    small.network.resize_token_embeddings(300)
    small.network.save_pretrained(copied)
    wrapped("byte_level").save_pretrained(copied)
    assert config["vocab_size"] > 300
    with pytest.raises(DiagError, match="it is another model's"):
        load(str(copied))


def test_a_device_or_type_that_is_not_there(folder: Path) -> None:
    with pytest.raises(InputError, match="auto, cpu, cuda"):
        load(str(folder), device="abacus")
    with pytest.raises(InputError, match="auto, float32"):
        load(str(folder), dtype="int3")  # type: ignore[arg-type]
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="sees no such device"):
            load(str(folder), device="cuda")


def test_what_was_fetched_must_have_its_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONODIAG_CACHE", str(tmp_path))
    fake = tmp_path / "fake.gguf"
    fake.write_bytes(b"not the model")
    monkeypatch.setattr(catalog, "_installed_file", lambda entry: fake)
    with pytest.raises(DiagError, match="it is not the model it claims to be"):
        fetch(DEFAULT_MODEL)
    assert not any((tmp_path / "models").iterdir())


def test_offline_fetches_nothing_and_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONODIAG_CACHE", str(tmp_path))
    monkeypatch.setattr(catalog, "_installed_file", lambda entry: None)
    with pytest.raises(InputError, match="diag models fetch smollm2-135m"):
        fetch(DEFAULT_MODEL, offline=True)
    with pytest.raises(InputError, match="no model is called"):
        fetch("gpt-9")
