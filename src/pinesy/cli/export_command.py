"""The commands ``pinesy export ...``: rules as something that other programs read."""

import typer

export = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@export.callback()
def _about() -> None:
    """Write rules for other programs: each command below is one of the forms."""
