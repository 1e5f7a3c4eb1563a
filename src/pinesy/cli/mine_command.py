"""The command ``pinesy mine``: rules with variables from triples."""

from pathlib import Path
from typing import Annotated

import typer

import pinesy
from pinesy.cli import options
from pinesy.cli.output import say

TriplesFile = Annotated[
    Path, typer.Argument(metavar="TRIPLES", help="A .tsv or .csv file: head, relation, tail.")
]
MinedOutput = Annotated[Path, typer.Option("--output", "-o", help="The .rules file to write.")]
Valid = Annotated[
    Path | None,
    typer.Option(metavar="TRIPLES", help="Held-out triples that choose the settings."),
]
Test = Annotated[
    Path | None, typer.Option(metavar="TRIPLES", help="Held-out triples that are only ranked.")
]
Chains = Annotated[int, typer.Option(min=1, max=3, help="The most steps of a body.")]
Prefix = Annotated[
    str, typer.Option(help="Before the names of conclusions; if empty, rules are recursive.")
]


def mine(
    triples: TriplesFile,
    output: MinedOutput,
    valid: Valid = None,
    test: Test = None,
    chains: Chains = 2,
    prefix: Prefix = "predicted_",
) -> None:
    """Mine rules with variables from triples: chains, constants and exclusions.

    The file gets the rules that are certain to some degree: more of their
    instances are right than wrong. With --valid, the settings with the greatest
    filtered MRR on these triples are chosen.

    [bold]Examples[/bold]
      pinesy mine examples/family.tsv -o mined.rules
      pinesy mine train.tsv -o mined.rules --valid valid.tsv --test test.tsv
    """
    inputs = [path for path in (triples, valid, test) if path is not None]
    options.check_output_file(output, [".rules"], inputs)
    mined = pinesy.mine(triples, valid, chains=chains)
    rules = mined.to_rules(prefix)
    mined.save(output, prefix)
    if mined.validation_mrr is not None:
        say(f"validation: MRR {mined.validation_mrr:.3f}, by {mined.settings}")
    if test is not None:
        say(f"test: {mined.evaluate(test)}")
    say(f"{len(rules.rules):,} rules written to {output}")
