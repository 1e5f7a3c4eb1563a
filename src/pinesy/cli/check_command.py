"""The command ``pinesy check``."""

import typer

from pinesy.cli.options import RulesFile
from pinesy.cli.output import counted
from pinesy.model.storage import load_rules


def check(rules: RulesFile) -> None:
    """Look for what is odd in a file of rules, and say what inference costs.

    Warnings are likely mistakes (exit code 1), notes are not.

    [bold]Example[/bold]
      pinesy check sum.rules
    """
    findings = load_rules(rules).check()
    typer.echo(str(findings))
    warnings = len(findings.warnings)
    notes = len(findings.findings) - warnings
    typer.echo(f"{counted(warnings, 'warning')}, {counted(notes, 'note')}")
    raise typer.Exit(1 if warnings else 0)
