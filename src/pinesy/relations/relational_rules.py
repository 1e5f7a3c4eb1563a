"""`RelationalRules`: rules with variables, on relations between entities."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pinesy._common.budgets import allow_tokens, budget, value_limit
from pinesy._common.files import as_path
from pinesy.exceptions import DataError
from pinesy.relations.graph import Graph
from pinesy.relations.grounding import GroundCascade, Grounding
from pinesy.relations.known_graph import KnownGraph
from pinesy.relations.relational_text import RelationsReader
from pinesy.relations.rule_program import RuleProgram
from pinesy.rules.syntax.template_reader import TemplateReader


class RelationalRules(RuleProgram):
    """Rules on relations between entities, with variables, recursion and negation.

    Parameters
    ----------
    declarations : relations and attributes of entities; relations that a rule concludes on need
        not be declared: they are open, and their sorts follow from the variables
    rules : `RelationalRule` objects
    functions : `GuardedFunction` objects

    Attributes
    ----------
    declarations, rules, functions : as given, in tuples
    relations : every relation and attribute by name, also those that were not declared
    strata : the relations in the order of evaluation

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse('''
    ...     relation parent(person, person)
    ...     if parent(X, Y) and parent(Y, Z) then grandparent(X, Z)
    ... ''')
    >>> rules
    RelationalRules(1 rules: parent -> grandparent)
    >>> rules.infer({"parent": [("ann", "bob"), ("bob", "cleo")]}).ask("grandparent(ann, Z)")
    Z     certain  possible
    cleo  1        1
    """

    @classmethod
    def parse(cls, text: str, directory: str | Path | None = None) -> "RelationalRules":
        """Return the rules of a text; `pinesy.parse` gives the same."""
        return parse_relational(text, directory)

    def infer(self, graph: Graph | Mapping[str, Any]) -> KnownGraph:
        """Return what follows from the facts of a graph: a graph of facts and conclusions.

        Relations are evaluated when they are first used.

        Parameters
        ----------
        graph : a `Graph`, or a dict from relations to facts in any form that `Graph.add` takes
        """
        return KnownGraph(self, graph if isinstance(graph, Graph) else Graph(graph))

    def ground(self, graph: Graph | Mapping[str, Any] | KnownGraph, atom: str) -> GroundCascade:
        """Return the propositional rules that an atom depends on, with the graph's evidence.

        For everything that cascades can do: posteriors, margins, pages, the studio.

        Examples
        --------
        >>> from pinesy import parse
        >>> rules = parse("relation p(t) if p(X) then q(X) [certainty=0.9]")
        >>> cascade = rules.ground({"p": [("a", 0.8)]}, "q(a)")
        >>> cascade.infer(cascade.evidence)["q(a)"]
        Possibility(q(a), {true: 1, false: 0.2})
        """
        known = graph if isinstance(graph, KnownGraph) else self.infer(graph)
        return Grounding(known, known.ground_literal(atom)).cascade()


def parse_relational(
    text: str,
    directory: str | Path | None = None,
    file: Path | None = None,
    max_values: int | None = None,
) -> RelationalRules:
    """Return the relational rules of a text; see `pinesy.parse`."""
    if not isinstance(text, str):
        raise DataError(f"rules are read from text; got {type(text).__name__}")
    path = None if directory is None else as_path(directory)
    with budget(value_limit(max_values)):
        reader = RelationsReader(text)
        allow_tokens(len(reader.tokens))
        TemplateReader(reader, reader.statements, path, file).read()
        return reader.finish(RelationalRules)
