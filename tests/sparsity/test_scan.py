from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from typer.testing import CliRunner

from diag import sparsity
from diag.cli import app
from diag.errors import InputError
from diag.sparsity.checkpoint import StoredTensor


def tensor_of(values: np.ndarray) -> StoredTensor:
    rows = values.reshape(values.shape[0] if values.ndim > 1 else 1, -1)
    return StoredTensor("w", "F32", values.shape, Path("w.safetensors"), lambda a, b: rows[a:b], values.nbytes)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 150), st.integers(1, 200), st.floats(0, 1), st.booleans(), st.integers(0, 10_000))
def test_counts_are_those_of_the_whole_matrix(rows: int, columns: int, density: float, blocky: bool, seed: int) -> None:
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(rows, columns)).astype(np.float32)
    kept = draw.random((-(-rows // 64), -(-columns // 64)) if blocky else (rows, columns)) < density
    values *= np.kron(kept, np.ones((64, 64), bool))[:rows, :columns] if blocky else kept
    found = sparsity.count(tensor_of(values))
    assert found.nonzero == np.count_nonzero(values)
    assert found.zero_rows == (values == 0).all(1).sum()
    assert found.zero_columns == (values == 0).all(0).sum()
    blocks = [values[i : i + 64, j : j + 64] for i in range(0, rows, 64) for j in range(0, columns, 64)]
    assert found.blocks == len(blocks)
    assert found.zero_blocks == sum(not block.any() for block in blocks)
    assert found.l2 == pytest.approx(float(np.linalg.norm(values.astype(np.float64))), rel=1e-4, abs=1e-30)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_every_float_type_is_counted_alike(tmp_path: Path, dtype: torch.dtype) -> None:
    weight = torch.randn(130, 70).to(dtype)
    weight[:64] = 0
    weight[64, 0] = -0.0
    save_file({"layers.0.mlp.weight": weight, "ids": torch.arange(4)}, tmp_path / "model.safetensors")
    torch.save({"layers.0.mlp.weight": weight}, tmp_path / "model.bin")
    found = sparsity.scan(tmp_path / "model.safetensors")
    assert found.skipped == ("ids",)
    one = found.tensors[0]
    assert one.nonzero == int((weight != 0).sum())
    assert (one.zero_rows, one.zero_blocks, one.blocks) == (64, 2, 6)
    assert one.l2 == pytest.approx(float(weight.double().norm()), rel=1e-4)
    pickled = sparsity.scan(tmp_path / "model.bin", allow_pickle=True).tensors[0]
    assert (pickled.nonzero, pickled.l2) == (one.nonzero, one.l2)


def sharded(folder: Path) -> dict[str, torch.Tensor]:
    state = {
        f"model.layers.{layer}.{name}.weight": torch.randn(64, 64)
        for layer in range(3)
        for name in ("self_attn.q_proj", "self_attn.o_proj", "mlp.up_proj")
    }
    state["model.layers.1.self_attn.q_proj.weight"].zero_()
    state["model.layers.1.self_attn.o_proj.weight"].zero_()
    state["model.layers.2.self_attn.q_proj.weight"][16:32] = 0
    names = sorted(state)
    save_file({name: state[name] for name in names[:5]}, folder / "model-00001-of-00002.safetensors")
    save_file({name: state[name] for name in names[5:]}, folder / "model-00002-of-00002.safetensors")
    where = {name: f"model-0000{1 + (name not in names[:5])}-of-00002.safetensors" for name in names}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    (folder / "config.json").write_text(json.dumps({"num_attention_heads": 4}))
    return state


def test_zero_sublayers_and_heads_of_a_sharded_model(tmp_path: Path) -> None:
    sharded(tmp_path)
    found = sparsity.scan(tmp_path)
    assert [one.name for one in found.zero_sublayers] == ["model.layers.1.self_attn"]
    assert found.zero_heads == {
        "model.layers.1.self_attn.o_proj": (0, 1, 2, 3),
        "model.layers.1.self_attn.q_proj": (0, 1, 2, 3),
        "model.layers.2.self_attn.q_proj": (1,),
    }
    assert found.sparsity == pytest.approx((2 * 64 * 64 + 16 * 64) / (9 * 64 * 64))


def test_broken_checkpoints_are_refused_in_one_sentence(tmp_path: Path) -> None:
    def refused(match: str, place: Path = tmp_path, **options: bool) -> None:
        with pytest.raises(InputError, match=match):
            sparsity.scan(place, **options)

    refused("does not exist", tmp_path / "nowhere")
    refused("holds no .safetensors")
    sharded(tmp_path)
    first, second = sorted(tmp_path.glob("*.safetensors"))
    content = second.read_bytes()
    second.write_bytes(content[:-100])
    refused("it is cut short")
    second.write_bytes(content[:4])
    refused("header is cut short or broken")
    second.write_bytes((10**12).to_bytes(8, "little") + content[8:])
    refused("header is cut short or broken")
    second.write_bytes(content[:8] + b"x" + content[9:])
    refused("header is no JSON")
    second.write_bytes(first.read_bytes())
    refused("both hold")
    second.unlink()
    refused("names the shard model-00002-of-00002.safetensors, which is not there")
    second.write_bytes(content)
    index = tmp_path / "model.safetensors.index.json"
    where = json.loads(index.read_text())["weight_map"]
    index.write_text(json.dumps({"weight_map": {**where, "lm_head.weight": second.name}}))
    refused("the index names 'lm_head.weight', and no shard holds it")
    index.write_text(json.dumps({"weight_map": {"a": "../secret.safetensors"}}))
    refused("outside its own folder|not there")


def test_a_pickle_with_code_runs_nothing(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str, ...]]:
            import os

            return os.system, (f"touch {tmp_path / 'ran'}",)

    torch.save({"weight": Evil()}, tmp_path / "model.bin")
    with pytest.raises(InputError, match="is a pickle: add --allow-pickle"):
        sparsity.scan(tmp_path)
    with pytest.raises(InputError, match="nothing of it was run"):
        sparsity.scan(tmp_path, allow_pickle=True)
    assert not (tmp_path / "ran").exists()


def test_not_finite_values_are_named(tmp_path: Path) -> None:
    weight = torch.randn(8, 8)
    weight[0, 0], weight[1, 1] = float("nan"), float("inf")
    save_file({"a.weight": weight}, tmp_path / "m.safetensors")
    found = sparsity.scan(tmp_path / "m.safetensors")
    assert found.tensors[0].not_finite == 2
    assert np.isfinite(found.tensors[0].l2)


def test_masks_are_fake_until_they_are_hardened(tmp_path: Path) -> None:
    weight, mask = torch.randn(64, 64), torch.zeros(64, 64)
    mask[:8] = 1
    state = {"a.weight_orig": weight, "a.weight_mask": mask, "b.weight": 1e-12 * torch.randn(64, 64)}
    save_file(state, tmp_path / "model.safetensors")
    found = sparsity.gate(tmp_path / "model.safetensors", min_sparsity=0.5)
    assert not found.passed
    assert {(fake.tensor, fake.kind) for fake in found.fakes} == {("a.weight_orig", "mask"), ("b.weight", "tiny")}
    hard = sparsity.harden(tmp_path / "model.safetensors", tmp_path / "hard")
    assert hard.masked == ("a.weight",)
    assert hard.zeroed == 64 * 64
    passed = sparsity.gate(tmp_path / "hard", min_sparsity=0.9)
    assert passed.passed, passed.reasons
    assert passed.sparsity == pytest.approx(1 - 8 * 64 / (2 * 64 * 64))
    assert not sparsity.gate(tmp_path / "hard", min_sparsity=0.99).passed
    assert sparsity.gate(tmp_path / "hard", min_sparsity=0.99, scope="b.*").passed
    with pytest.raises(InputError, match="is not empty"):
        sparsity.harden(tmp_path / "model.safetensors", tmp_path / "hard")


def test_a_bias_behind_a_zero_weight_is_named(tmp_path: Path) -> None:
    save_file({"a.weight": torch.zeros(4, 4), "a.bias": torch.ones(4)}, tmp_path / "m.safetensors")
    found = sparsity.gate(tmp_path / "m.safetensors", min_sparsity=0.5)
    assert [(fake.tensor, fake.kind) for fake in found.fakes] == [("a.bias", "bias")]


def test_a_hardened_model_answers_as_before(tmp_path: Path) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2,
    )  # fmt: skip
    network = LlamaForCausalLM(config)
    with torch.no_grad():
        network.model.layers[0].mlp.up_proj.weight[:16] = 1e-12
    network.save_pretrained(tmp_path / "soft")
    found = sparsity.harden(tmp_path / "soft", tmp_path / "hard")
    assert found.zeroed == 16 * 16
    assert found.probe_difference is not None
    assert found.probe_difference < 1e-5
    LlamaForCausalLM.from_pretrained(tmp_path / "hard")


def test_the_commands(tmp_path: Path) -> None:
    sharded(tmp_path)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["sparsity", "scan", str(tmp_path), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "self_attn                    100.00% zero  ZERO" in done.output
    assert "zero heads of model.layers.2.self_attn.q_proj: 1" in done.output
    assert (out / "sparsity.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (out / "sparsity.html").read_text()
    assert json.loads((out / "sparsity.json").read_text())["map"]["shares"][1][:2] != [0.0, 0.0]
    done = CliRunner().invoke(app, ["sparsity", "gate", str(tmp_path), "--min-sparsity", "0.2", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["passed"]
    done = CliRunner().invoke(app, ["sparsity", "gate", str(tmp_path), "--scope", "*mlp*"])
    assert done.exit_code != 0
    assert "0.00% of the values are zero, and 75.00% are asked for" in str(done.exception)
    done = CliRunner().invoke(app, ["sparsity", "harden", str(tmp_path), "--out", str(tmp_path / "hard")])
    assert done.exit_code == 0, done.output
    assert "0 masks applied" in done.output


def test_the_embedded_model_as_gguf_and_as_safetensors() -> None:
    from diag.models.catalog import CATALOG, model_folder

    found = sparsity.scan(model_folder(CATALOG["smollm2-135m"]))
    assert found.size > 130_000_000
    assert found.sparsity < 0.01
    assert not found.zero_sublayers
