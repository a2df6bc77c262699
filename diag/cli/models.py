"""`diag models list` and `diag models fetch`."""

from __future__ import annotations

from typing import Annotated

import typer

from diag.cli.app import app
from diag.cli.options import Offline, tell

models_app = typer.Typer(help="Models known by a short name.", no_args_is_help=True)
app.add_typer(models_app, name="models")


@models_app.command("list")
def list_models() -> None:
    """The models of the catalogue, and whether each is here already."""
    from diag.models.catalog import CATALOG, is_fetched, model_folder

    for entry in CATALOG.values():
        place = str(model_folder(entry)) if is_fetched(entry) else "not fetched yet"
        typer.echo(f"{entry.name}  {entry.title}, {entry.megabytes} MB, {entry.licence}: {place}")


@models_app.command("fetch")
def fetch_model(
    name: Annotated[str, typer.Argument(help="A name of `diag models list`.")] = "smollm2-135m",
    offline: Offline = False,
) -> None:
    """Fetch a model of the catalogue and convert it, once."""
    from diag.models.catalog import fetch

    typer.echo(fetch(name, offline=offline, tell=tell))
