"""Checkpoints on disk, tensor by tensor: safetensors, GGUF and (by flag) PyTorch files, mapped into memory and never executed."""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from diag.errors import InputError

Values = NDArray[Any]

_MOST_HEADER = 100_000_000
_WIDTHS = {
    "F64": ("<f8", 8), "F32": ("<f4", 4), "F16": ("<f2", 2), "BF16": ("<u2", 2), "I64": ("<i8", 8), "I32": ("<i4", 4),
    "I16": ("<i2", 2), "I8": ("i1", 1), "U8": ("u1", 1), "BOOL": ("u1", 1),
}  # fmt: skip
_FLOATS = ("F64", "F32", "F16", "BF16")


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor in a file; nothing of it is read before `rows` is called."""

    name: str
    dtype: str
    """As safetensors writes it: `F32`, `BF16`, …; `Q4_1` and the like in GGUF."""
    shape: tuple[int, ...]
    file: Path
    read: Callable[[int, int], Values]
    """Rows from the first up to the second, shape (rows, columns); `BF16` as its 16 bits."""
    stored_bytes: int
    release: Callable[[], None] = lambda: None
    """Give the memory back that reading took, where pages of a file were mapped; what is read again is mapped again."""

    @property
    def row_count(self) -> int:
        """Of the tensor as a matrix: a vector is one row, further dimensions are columns."""
        return self.shape[0] if len(self.shape) > 1 else 1

    @property
    def column_count(self) -> int:
        """Of the tensor as a matrix."""
        return math.prod(self.shape[1:]) if len(self.shape) > 1 else math.prod(self.shape)

    @property
    def size(self) -> int:
        """Values in all."""
        return math.prod(self.shape)


def tensors(place: str | Path, *, allow_pickle: bool = False) -> list[StoredTensor]:
    """The tensors of a file or a model's folder, by name, from headers alone.

    Raises InputError for what is no checkpoint, a header that is broken or does not fit its file, a shard that is missing or
    cut short, a tensor in two shards, and a pickle without `allow_pickle`.
    """
    files, wanted = _files(Path(place), allow_pickle)
    found: dict[str, StoredTensor] = {}
    for file in files:
        for tensor in _in_file(file):
            if tensor.name in found:
                raise InputError(f"{file} and {found[tensor.name].file} both hold {tensor.name!r}: which is right?")
            found[tensor.name] = tensor
    missing = sorted(wanted - set(found))
    if missing:
        raise InputError(f"{place}: the index names {missing[0]!r}, and no shard holds it ({len(missing):,} in all)")
    return list(found.values())


def _files(place: Path, allow_pickle: bool) -> tuple[list[Path], set[str]]:
    if not place.exists():
        raise InputError(f"{place} does not exist")
    if place.is_file():
        if place.suffix in (".safetensors", ".gguf"):
            return [place], set()
        if place.suffix in (".bin", ".pt", ".pth"):
            _allow(place, allow_pickle)
            return [place], set()
        raise InputError(f"{place} is no checkpoint: a .safetensors, .gguf, .bin, .pt or .pth file is")
    for index in sorted(place.glob("*.index.json")):
        return _of_index(index, allow_pickle)
    for suffix in (".safetensors", ".gguf"):
        if files := sorted(place.glob(f"*{suffix}")):
            return files, set()
    if files := sorted([*place.glob("*.bin"), *place.glob("*.pt"), *place.glob("*.pth")]):
        _allow(files[0], allow_pickle)
        return files, set()
    raise InputError(f"{place} holds no .safetensors, .gguf, .bin, .pt or .pth file")


def _allow(file: Path, allow_pickle: bool) -> None:
    if not allow_pickle:
        raise InputError(f"{file} is a pickle: add --allow-pickle to read its tensors (nothing else in it is run)")


def _of_index(index: Path, allow_pickle: bool) -> tuple[list[Path], set[str]]:
    try:
        where: dict[str, str] = json.loads(index.read_bytes())["weight_map"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{index} is no index of shards") from error
    files = sorted({index.parent / name for name in where.values()})
    for file in files:
        if file.parent != index.parent:
            raise InputError(f"{index} names {file}, outside its own folder")
        if not file.exists():
            raise InputError(f"{index} names the shard {file.name}, which is not there")
    if files and files[0].suffix != ".safetensors":
        _allow(files[0], allow_pickle)
    return files, set(where)


def _in_file(file: Path) -> Iterator[StoredTensor]:
    if file.suffix == ".gguf":
        yield from _in_gguf(file)
    elif file.suffix == ".safetensors":
        yield from _in_safetensors(file)
    else:
        yield from _in_pickle(file)


def _in_safetensors(file: Path) -> Iterator[StoredTensor]:
    size = file.stat().st_size
    with file.open("rb") as stream:
        first = stream.read(8)
        length = int.from_bytes(first, "little")
        if len(first) < 8 or length > min(size - 8, _MOST_HEADER):
            raise InputError(f"{file}: its header is cut short or broken")
        try:
            header: dict[str, Any] = json.loads(stream.read(length))
        except ValueError as error:
            raise InputError(f"{file}: its header is no JSON") from error
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    header.pop("__metadata__", None)
    start = 8 + length
    taken: list[tuple[int, int, str]] = []
    for name, entry in header.items():
        dtype, shape, begin, end = _entry(file, name, entry)
        if start + end > size:
            raise InputError(
                f"{file}: {name!r} ends at byte {start + end:,}, and the file at {size:,}: it is cut short"
            )
        taken.append((begin, end, name))
        read = _mapped_rows(mapped, start + begin, dtype, shape)
        release = partial(_release, mapped, start + begin, start + end)
        yield StoredTensor(name, dtype, shape, file, read, end - begin, release)
    taken.sort()
    for (_, end, one), (begin, _, other) in pairwise(taken):
        if begin < end:
            raise InputError(f"{file}: {one!r} and {other!r} lie over each other: the header is broken")


def _entry(file: Path, name: str, entry: Any) -> tuple[str, tuple[int, ...], int, int]:
    try:
        dtype, shape, (begin, end) = (
            str(entry["dtype"]),
            tuple(int(one) for one in entry["shape"]),
            entry["data_offsets"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: the header's entry for {name!r} is broken") from error
    if dtype not in _WIDTHS:
        raise InputError(f"{file}: {name!r} is of type {dtype}, which is not known here")
    if begin < 0 or min(shape, default=0) < 0 or end - begin != math.prod(shape) * _WIDTHS[dtype][1]:
        raise InputError(f"{file}: the header gives {name!r} another size than its shape has")
    return dtype, shape, int(begin), int(end)


def _mapped_rows(mapped: mmap.mmap, start: int, dtype: str, shape: tuple[int, ...]) -> Callable[[int, int], Values]:
    code, width = _WIDTHS[dtype]
    columns = math.prod(shape[1:]) if len(shape) > 1 else math.prod(shape)

    def read(first: int, last: int) -> Values:
        count = (last - first) * columns
        return np.frombuffer(mapped, code, count, start + first * columns * width).reshape(last - first, columns)

    return read


def _release(mapped: mmap.mmap, first: int, last: int) -> None:
    # Pages are dropped from this process alone: the file is not touched, and the system's cache keeps it.
    start = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE
    length = last // mmap.PAGESIZE * mmap.PAGESIZE - start
    if length > 0 and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED, start, length)


def _in_gguf(file: Path) -> Iterator[StoredTensor]:
    try:
        from gguf import GGUFReader, dequantize
    except ImportError as error:
        raise InputError("reading GGUF needs the package gguf: pip install 'chronodiag[model]'") from error
    try:
        reader: Any = GGUFReader(file)
    except (ValueError, IndexError, OSError, KeyError) as error:
        raise InputError(f"{file} is no readable GGUF file: {error}") from error
    for tensor in reader.tensors:
        shape = tuple(int(one) for one in reversed(tensor.shape.tolist()))

        def read(first: int, last: int, tensor: Any = tensor, shape: tuple[int, ...] = shape) -> Values:
            data: Any = tensor.data if len(shape) > 1 else tensor.data[None]
            rows = data.reshape(shape[0] if len(shape) > 1 else 1, -1)[first:last]
            return np.asarray(dequantize(rows, tensor.tensor_type)).reshape(last - first, -1)

        name = str(tensor.tensor_type.name)
        yield StoredTensor(str(tensor.name), name, shape, file, read, int(tensor.n_bytes))


def _in_pickle(file: Path) -> Iterator[StoredTensor]:
    import torch

    try:
        state = torch.load(file, map_location="cpu", mmap=True, weights_only=True)
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{file} holds more than tensors, or is broken; nothing of it was run ({reason})") from error
    if not isinstance(state, dict):
        raise InputError(f"{file} holds no dictionary of tensors")
    entries = cast("dict[object, object]", state)
    known = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}
    for name, value in entries.items():
        if not isinstance(value, torch.Tensor):
            continue
        dtype = known.get(value.dtype, str(value.dtype).removeprefix("torch."))

        def read(first: int, last: int, value: torch.Tensor = value) -> Values:
            rows = value.detach().reshape(value.shape[0] if value.dim() > 1 else 1, -1)[first:last].contiguous()
            return rows.view(torch.uint16).numpy() if rows.dtype == torch.bfloat16 else rows.numpy()

        yield StoredTensor(str(name), dtype, tuple(value.shape), file, read, value.numel() * value.element_size())


def is_float(tensor: StoredTensor) -> bool:
    """Whether its values are weights that may be zero by pruning: floats, and what GGUF quantises."""
    return tensor.dtype in _FLOATS or tensor.file.suffix == ".gguf"
