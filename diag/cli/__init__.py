"""The command `diag`: thin; each command calls the function of its name, and imports what it needs by itself."""

from __future__ import annotations

import sys

import typer

from diag.cli import attribute, check, collapse, models, qa, sparsity
from diag.cli.app import app
from diag.errors import DiagError

__all__ = ["app", "attribute", "check", "collapse", "main", "models", "qa", "sparsity"]

_INTERRUPTED = 130
_MODEL_LIBRARIES = frozenset(
    {
        "torch",
        "transformers",
        "captum",
        "sklearn",
        "datasets",
        "safetensors",
        "gguf",
        "accelerate",
        "numpy",
        "matplotlib",
    }
)


def main() -> None:
    """Run the command line; an error that a user can mend is one sentence and an exit code."""
    debug = "--debug" in sys.argv
    try:
        app()
    except DiagError as error:
        if debug:
            raise
        typer.echo(f"diag: {error}", err=True)
        raise SystemExit(error.exit_code) from None
    except ModuleNotFoundError as error:
        if debug or (error.name or "").split(".")[0] not in _MODEL_LIBRARIES:
            raise
        typer.echo(f"diag: this command needs {error.name}: pip install 'chronodiag[model]'", err=True)
        raise SystemExit(2) from None
    except SystemExit as stop:
        # Typer turns an interrupt into this code before it can be seen here.
        if stop.code != _INTERRUPTED:
            raise
        typer.echo("diag: interrupted; the run goes on with --resume", err=True)
        raise SystemExit(1) from None
    except Exception as error:
        if debug:
            raise
        typer.echo(f"diag: {type(error).__name__}: {error} (a fault of the program; --debug shows where)", err=True)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
