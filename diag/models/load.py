"""`load`: a causal LM from the catalogue, a folder, a GGUF file or the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from diag.errors import DiagError, InputError
from diag.models.catalog import CATALOG, Tell, fetch, no_bars
from diag.models.model import Model

Dtype = Literal["auto", "float32", "bfloat16", "float16"]

_WEIGHTS = ("*.safetensors", "*.safetensors.index.json")
_PICKLES = ("*.bin", "*.bin.index.json")
_SMALL = ("*.json", "*.jinja", "*.model", "*.txt", "*.tiktoken")


def load(
    name: str,
    *,
    device: str = "auto",
    dtype: Dtype = "auto",
    offline: bool = False,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    tell: Tell = lambda _: None,
) -> Model:
    """Load a causal LM and its tokenizer.

    `name` is a catalogue name (`smollm2-135m`), a folder, a `.gguf` file, or a hub id. `device` is `auto`, `cpu`, `cuda`,
    `cuda:N`, `mps`; on several GPUs `auto` spreads the layers over them (accelerate's device map). `dtype` `auto` is fp32
    on a CPU, bf16 on CUDA, fp16 on MPS. What must be fetched is told first, with its size and licence.

    Raises InputError for a name that leads nowhere (or would need fetching, with `offline`) or a device that is not there,
    DiagError where the model's files cannot be read.
    """
    place = _place(name, offline, allow_pickle, tell)
    where = _device(device)
    options: dict[str, Any] = {
        "dtype": _dtype(dtype, where),
        "trust_remote_code": trust_remote_code,
        "local_files_only": True,
    }
    source = place
    if place.is_file():
        options["gguf_file"] = place.name
        source = place.parent
    elif not allow_pickle:
        options["use_safetensors"] = True
    if where == "auto":
        options["device_map"] = "auto"
    network, tokenizer = _read(name, source, options)
    network.eval()
    if where != "auto":
        network.to(where)
    return Model(name, network, tokenizer, _weights_hash(place))


def _read(name: str, source: Path, options: dict[str, Any]) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    shared = {
        key: value for key, value in options.items() if key in ("trust_remote_code", "local_files_only", "gguf_file")
    }
    tokenizer: Any
    network: Any
    with no_bars():
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(source), **shared)
        except Exception as error:
            raise DiagError(f"model {name}: no tokenizer could be read from {source} ({_first_line(error)})") from error
        try:
            network = AutoModelForCausalLM.from_pretrained(str(source), **options)
        except Exception as error:
            hint = ""
            if any(source.glob("*.bin")) and not any(source.glob("*.safetensors")):
                hint = "; its weights are pickles, which are read only with --allow-pickle"
            raise DiagError(f"model {name} could not be read from {source} ({_first_line(error)}){hint}") from error
    rows: int = network.get_input_embeddings().weight.shape[0]
    if len(tokenizer) > rows:
        raise DiagError(
            f"model {name}: the tokenizer has {len(tokenizer):,} tokens and the model only {rows:,}: it is another model's"
        )
    return network, tokenizer


def _place(name: str, offline: bool, allow_pickle: bool, tell: Tell) -> Path:
    """The folder or GGUF file that a name stands for, fetched where need be."""
    if name in CATALOG:
        return fetch(name, offline=offline, tell=tell)
    place = Path(name).expanduser()
    if place.is_dir():
        if not (place / "config.json").exists():
            raise InputError(f"{place} is no model folder: it has no config.json")
        return place
    if place.is_file():
        if place.suffix.lower() != ".gguf":
            raise InputError(f"{place} is no model: give a folder with config.json, or a .gguf file")
        return place
    if name.count("/") > 1 or name.startswith((".", "/", "~")) or place.suffix.lower() == ".gguf":
        raise InputError(f"{place} does not exist")
    return _from_hub(name, offline, allow_pickle, tell)


def _from_hub(name: str, offline: bool, allow_pickle: bool, tell: Tell) -> Path:
    """A hub model's snapshot: the one in the hub's own cache, else fetched."""
    from huggingface_hub import HfApi, snapshot_download

    wanted = [*_SMALL, *_WEIGHTS, *(_PICKLES if allow_pickle else ())]
    try:
        return Path(snapshot_download(name, allow_patterns=wanted, local_files_only=True))
    except Exception as error:
        if offline:
            raise InputError(
                f"model {name} is no folder, is not in the catalogue ({', '.join(CATALOG)}), and is not in the hub's cache; "
                "--offline forbids fetching it"
            ) from error
    try:
        info = HfApi().model_info(name, files_metadata=True)
        siblings: list[Any] = info.siblings or []
        files = [file for file in siblings if any(Path(file.rfilename).match(one) for one in wanted)]
        size: int = sum(file.size or 0 for file in files)
        licence = getattr(info.card_data, "license", None) or "no licence named"
        tell(f"fetching {name} from the hub: {size / 1e6:,.0f} MB, {licence}")
        return Path(snapshot_download(name, allow_patterns=wanted))
    except Exception as error:
        raise InputError(
            f"model {name} is no folder, is not in the catalogue ({', '.join(CATALOG)}), "
            f"and could not be fetched from the hub ({_first_line(error)})"
        ) from error


def _device(asked: str) -> str:
    import torch

    if asked == "auto":
        if torch.cuda.is_available():
            return "auto" if torch.cuda.device_count() > 1 else "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    kind = asked.split(":")[0]
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if kind not in there:
        raise InputError(f"--device {asked!r}: write auto, cpu, cuda, cuda:N or mps")
    if not there[kind]:
        raise InputError(f"--device {asked}: torch {torch.__version__} sees no such device here")
    return asked


def _dtype(asked: Dtype, where: str) -> Any:
    import torch

    if asked == "auto":
        asked = "float32" if where == "cpu" else "float16" if where == "mps" else "bfloat16"
    if asked not in ("float32", "bfloat16", "float16"):
        raise InputError(f"--dtype {asked!r}: write auto, float32, bfloat16 or float16")
    return getattr(torch, asked)


def _weights_hash(place: Path) -> str:
    """The SHA-256 of the weight files, in the order of their names."""
    from diag.runs import hash_files

    if place.is_file():
        return hash_files([place])
    return hash_files(sorted(file for kind in ("*.safetensors", "*.bin") for file in place.glob(kind)))


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:200]}" if text else type(error).__name__
