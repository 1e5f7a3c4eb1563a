"""The commands of ``pinesy`` with a line on each, for ``--help`` without importing them all."""

from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from pinesy.cli.loading import loading

#: What each command does, by what the commands are for, as `--help` groups them. Command ``NAME``
#: is the function, or the commands, of that name in the module ``NAME_command``.
COMMANDS = {
    "Ask: what is decided, and why": {
        "infer": "Infer the outputs of rules for every sample of a data file.",
        "explain": "Say what is decided of one sample, why, what would change it, and how firm it "
        "is.",
        "backprop": "Find what the inputs should have been, from what should have been inferred.",
        "ask": "Ask rules with variables about a graph of facts.",
    },
    "Rules: look at them, find them, fit them": {
        "check": "Say what to look at first in a file of rules, with a case for each finding.",
        "show": "Show a file of rules: a summary, attributes and rules, or the parts asked for.",
        "induce": "Induce rules from a table: short rules that give points to the classes.",
        "mine": "Mine rules with variables from triples: chains, constants and exclusions.",
        "learn": "Learn the parameters of rules from a file of samples, and write a model.",
        "calibrate": "Calibrate rules or a learned model, so that the sets of a level are "
        "guaranteed.",
    },
    "Data: how good rules are, which labels are wrong": {
        "evaluate": "Compare what rules predict with the true values in a file.",
        "audit": "Rank the samples of a file by how suspicious their labels are.",
        "shortcuts": "Count the wrong readings of inputs that still give right answers.",
    },
    "See and share": {
        "studio": "See rules, samples and answers in the browser, change them, and ask why.",
        "demo": "See it work: a network learns to read digits, rules add numbers and judge "
        "Sudokus.",
        "export": "Write rules for other programs: each command below is one of the forms.",
        "import": "Make rules of what other programs write.",
    },
    "Serve: answer other programs": {
        "serve": "Answer requests over HTTP by a model, with reasons, and log the decisions.",
        "replay": "Compare a log of decisions with a new model: which would differ, and why.",
    },
    "Mathematics alone": {
        "solve": "Solve fuzzy relational equations, or report how far they are from solvable.",
    },
}


class UnloadedCommand(TyperCommand):
    """A command by its name and what it does; its module is imported when it is called."""

    def __init__(self, name: str, summary: str, panel: str) -> None:
        super().__init__(name, help=summary, rich_help_panel=panel, rich_markup_mode="rich")

    @cached_property
    def loaded(self) -> Any:
        """The command with its options and its full help, or the group of its commands."""
        with loading():
            from pinesy.cli.options import with_single_options

            module = import_module(f"pinesy.cli.{self.name}_command")
        command = getattr(module, "imports" if self.name == "import" else str(self.name))
        if not isinstance(command, typer.Typer):
            program = typer.Typer(rich_markup_mode="rich", add_completion=False)
            program.command(self.name)(with_single_options(command))
            command = program
        loaded = get_command(command)
        loaded.name = self.name
        return loaded

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """Return the context of the loaded command."""
        return self.loaded.make_context(*arguments, **settings)
