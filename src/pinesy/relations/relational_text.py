"""Reads ``.rules`` text that declares relations; ``str(rules)`` writes it.

::

    relation parent(person, person)                  # open: what is not listed is unknown
    closed relation married(person, person)          # what is not listed is false
    attribute digit(image) in 0..9

    if parent(X, Y) and parent(Y, Z) then grandparent(X, Z) [certainty=0.9]
    iff exists Y: married(X, Y) then spouse(X)
    function total(X, Y) = digit(X) + digit(Y) for next(X, Y)

Words in brackets that begin with a capital letter are variables. Templates, comments and parameters
are those of `pinesy.rulebase.parse`, whose reader this one extends.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, TypeVar

from pinesy._common.budgets import budget, value_limit
from pinesy.exceptions import DataError, PinesyError
from pinesy.relations.literals import (
    Case,
    CountPremise,
    Part,
    RelationLiteral,
    Term,
    TermComparison,
    Variable,
    atom_text,
    is_variable_name,
)
from pinesy.relations.relational_rule import (
    EntityAttribute,
    GuardedFunction,
    Relation,
    RelationalRule,
)
from pinesy.relations.rule_checks import RelationalRuleError
from pinesy.relations.rule_program import RuleProgram, function_rules
from pinesy.rulebase.parse import RulesReader
from pinesy.rules.syntax.expressions import COMPARISONS
from pinesy.rules.syntax.lexer import KEYWORDS, Token, TokenizedText, join_tokens

Program = TypeVar("Program", bound=RuleProgram)

#: Cases of a premise, at most.
MAX_CASES = 1_000
#: A formula in disjunctive normal form.
Cases = list[Case]


def parse_atom(text: str) -> RelationLiteral:
    """Return the atom of a question, such as ``grandparent(ann, Z)``.

    Examples
    --------
    >>> parse_atom("grandparent(ann, Z)").terms
    ('ann', Variable(name='Z'))
    """
    if not isinstance(text, str):
        raise DataError(f"a question is a text such as 'parent(ann, X)'; got {text!r:.60}")
    with budget(value_limit(None)):
        reader = RelationsReader(text)
        literal = reader.atom()
        reader.expect_end()
    return literal


class RelationsReader(RulesReader):
    """Recursive descent parser of relational declarations and rules."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.declarations: list[Relation | EntityAttribute] = []
        self.relational_rules: list[RelationalRule] = []
        self.functions: list[GuardedFunction] = []
        #: Where each literal of the rule stands that is being read.
        self.positions: dict[object, tuple[TokenizedText, Token]] = {}
        self._function_positions: dict[str, dict[object, tuple[TokenizedText, Token]]] = {}
        #: Variables of the rule, those of ``exists`` and ``at least`` whose scope has ended, and
        #: those of ``at least`` among them.
        self._seen: set[Variable] = set()
        self._ended: set[Variable] = set()
        self._counted: set[Variable] = set()
        version = self._statements["version"]
        self._statements = {
            "attribute": self._entity_attribute,
            "closed": partial(self._relation, True),
            "function": self._guarded_function,
            "if": partial(self._relational_rule, "if"),
            "iff": partial(self._relational_rule, "iff"),
            "relation": partial(self._relation, False),
            "version": version,
        }

    def finish(self, rules_type: type[Program]) -> Program:
        """Return the rules; an error is reported where it stands in the text."""
        try:
            return rules_type(self.declarations, self.relational_rules, self.functions)
        except RelationalRuleError as error:
            positions = getattr(error.rule, "position", None)
            if isinstance(error.rule, GuardedFunction):
                positions = self._function_positions[error.rule.name]
            if not positions:
                raise
            source, token = positions.get(error.literal) or positions[None]
            raise _located(error, source, token) from None

    # --- declarations ---

    def _relation(self, closed: bool) -> None:
        """Read ``parent(person, person)``, after ``relation`` or ``closed``."""
        if closed:
            self.expect("relation")
        token = self.token
        name = self._new_relation_name()
        declaration = self.at(token, partial(Relation, name, self._sorts(), closed))
        self.declarations.append(declaration)

    def _new_relation_name(self) -> str:
        token = self.token
        name = self.name("the name of a relation")
        names = [d.name for d in self.declarations] + [f.name for f in self.functions]
        if name in names:
            self.fail(f"{name!r} is declared twice", token)
        return name

    def _sorts(self) -> tuple[str, ...]:
        if not self.accept("("):
            return ()
        return tuple(self.listing(")", lambda: self.plain_name("the name of a sort")))

    def _entity_attribute(self) -> None:
        """Read ``digit(image) in 0..9``."""
        token = self.token
        name = self._new_relation_name()
        sorts = self._sorts()
        self.expect("in")
        values = self.subset()
        declare = partial(EntityAttribute, name, sorts, tuple(values))
        self.declarations.append(self.at(token, declare))

    def _attribute_named(self, name: str) -> EntityAttribute | None:
        for declaration in self.declarations:
            if declaration.name == name and isinstance(declaration, EntityAttribute):
                return declaration
        for function in self.functions:
            if function.name == name:
                sorts = tuple("" for _ in function.variables)
                domain = self._function_domains()[name]
                return EntityAttribute(name, sorts, domain)
        return None

    def _function_domains(self) -> dict[str, tuple[Any, ...]]:
        domains = {d.name: d.domain for d in self.declarations if isinstance(d, EntityAttribute)}
        for function in self.functions:
            cascade = function_rules(function, domains)
            domains[function.name] = cascade.attributes[function.name].domain
        return domains

    def _guarded_function(self) -> None:
        """Read ``total(X, Y) = digit(X) + digit(Y) for next(X, Y)``."""
        start, token = self.tokens[self.index - 1], self.token
        self._begin(start)
        name = self._new_relation_name()
        terms = self._terms()
        if not all(isinstance(term, Variable) for term in terms) or len({*terms}) < len(terms):
            self.fail(f"the arguments of function {name!r} are different variables", token)
        domain = tuple(self.subset()) if self.accept("in") else None
        self.expect("=")
        text, arguments = self._expression_text(start)
        self.expect("for")
        cases = self._disjunction()
        if len(cases) != 1:
            self.fail("the guard after 'for' is a conjunction; write a function for each", token)
        variables = tuple(t for t in terms if isinstance(t, Variable))
        function = GuardedFunction(name, variables, text, tuple(arguments), cases[0], domain)
        self.functions.append(function)
        self._function_positions[name] = self.positions
        try:
            self._function_domains()
        except RelationalRuleError as error:
            self.fail(str(error), token)

    def _expression_text(self, start: Token) -> tuple[str, list[RelationLiteral]]:
        """Read an expression up to ``for``; return it with its arguments in backquotes."""
        texts: list[tuple[str, bool]] = []
        arguments: dict[RelationLiteral, None] = {}
        while not (self.token.kind == "word" and self.token.text == "for"):
            if self.token.kind == "end":
                self.fail("a function ends with 'for' and the relation of its tuples", start)
            is_name = self.token.kind in ("word", "name") and self.token.text not in KEYWORDS
            if is_name and self.peek() == "(":
                literal = RelationLiteral(self.name("an attribute"), self._terms())
                arguments[literal] = None
                texts.append((f"`{atom_text(literal.name, literal.terms)}`", False))
                continue
            token = self.take()
            texts.append((token.text, token.kind == "sign"))
        return join_tokens(texts), list(arguments)

    # --- rules ---

    def _begin(self, start: Token) -> None:
        """Start a rule: forget the variables of the last one."""
        self._seen, self._ended, self._counted = set(), set(), set()
        self.positions = {None: (self.source, start)}

    def _relational_rule(self, keyword: str) -> None:
        start = self.tokens[self.index - 1]
        self._begin(start)
        cases = self._disjunction()
        self.expect("then")
        negated = False
        while self.accept("not"):
            negated = not negated
        token = self.token
        head = self.atom()
        head = ~head if negated else head
        self.positions[head] = self.source, token
        s, r = self._parameters(keyword)
        if self.token.text in ("and", "or", "else") and self.token.kind == "word":
            self.fail("a rule has one conclusion; write a rule for each")
        make = partial(RelationalRule, head, tuple(cases), s, r, keyword == "iff", self.positions)
        self.relational_rules.append(self.at(start, make))

    def _disjunction(self) -> Cases:
        """Read ``f or f or ...``, in disjunctive normal form."""
        cases = self._relational_conjunction()
        while self.accept("or"):
            cases = cases + self._relational_conjunction()
        return self._check_cases(cases)

    def _relational_conjunction(self) -> Cases:
        cases = self._part()
        while self.accept("and"):
            more_cases = self._part()
            cases = [(*a, *b) for a in cases for b in more_cases]
            self._check_cases(cases)
        return cases

    def _check_cases(self, cases: Cases) -> Cases:
        if len(cases) > MAX_CASES:
            self.fail(f"this premise has more than {MAX_CASES:,} cases; name parts by rules")
        self.take_steps(sum(map(len, cases)))
        return cases

    def _part(self) -> Cases:
        """Read a literal, ``X != Y``, ``not f``, ``(f)``, ``exists Y: f``, ``at least 2 Z: f``."""
        self.enter_bracket("this formula nests")
        token, text = self.token, self.token.text
        is_word = token.kind == "word"
        if is_word and text == "not":
            self.take()
            cases = self._negate(token, self._part())
        elif self.is_sign("("):
            self.take()
            cases = self._disjunction()
            self.expect(")")
        elif is_word and text == "exists" and self.peek() != "(":
            cases = self._exists()
        elif is_word and text == "forall" and self.peek() != "(":
            self._fail_forall(token)
        elif is_word and text == "at" and self.peek() in ("least", "most"):
            cases = [(self._at_least(),)]
        elif self._is_comparison():
            cases = [(self._term_comparison(),)]
        else:
            literal = self.atom()
            self.positions.setdefault(literal, (self.source, token))
            self.positions.setdefault(~literal, (self.source, token))
            cases = [(literal,)]
        self.depth -= 1
        return cases

    def _fail_forall(self, token: Token) -> NoReturn:
        self.fail(
            "'forall' is not known; name its opposite by a rule, iff exists Y: ... then some(X), "
            "and write not some(X)",
            token,
        )

    def _negate(self, token: Token, cases: Cases) -> Cases:
        """Return the negation of a formula: literals are negated, ``and`` and ``or`` exchanged."""
        if any(v in self._ended for case in cases for part in case for v in part.variables()):
            self.fail(
                "'not exists' needs a name: write iff exists Y: ... then some(X), and not some(X)",
                token,
            )
        negated: Cases = [()]
        for case in cases:
            negated = [(*a, b) for a in negated for b in self._opposites(token, case)]
            self._check_cases(negated)
        return negated

    def _opposites(self, token: Token, case: Case) -> list[Part]:
        return [self.at(token, partial(_invert, part)) for part in case]

    def _scoped(
        self, names: list[Variable], read_scope: Callable[[], Cases], token: Token
    ) -> Cases:
        """Read the scope of some variables, which may not be used outside it.

        But one that was counted may be counted again, as the cases of an ``or`` do.
        """
        for variable in names:
            is_used = variable in self._seen or variable in self._ended
            if is_used and not (self._is_count(token) and variable in self._counted):
                self.fail(f"variable {variable} is used outside of this too; rename one", token)
        self._ended -= {*names}
        cases = read_scope()
        self._ended |= {*names}
        if self._is_count(token):
            self._counted |= {*names}
        return cases

    @staticmethod
    def _is_count(token: Token) -> bool:
        """Return whether a scope is that of ``at least``."""
        return token.text == "at"

    def _exists(self) -> Cases:
        """Read ``exists Y, Z: f``."""
        token = self.take()
        names = [self._variable()]
        while self.accept(","):
            names.append(self._variable())
        if self.token.text == "in":
            self.fail("'exists' takes a variable and ':'; entities have sorts, not ranges")
        self.expect(":")
        return self._scoped(names, self._part, token)

    def _at_least(self) -> CountPremise:
        """Read ``at least 2 Z: f``."""
        token = self.take()
        if self.take().text == "most":
            self.fail("'at most' is not known: write 'not' of an iff with 'at least'", token)
        least = self.value()
        variable = self._variable()
        self.expect(":")
        cases = self._scoped([variable], self._part, token)
        parts = [p for p in cases[0] if isinstance(p, RelationLiteral | TermComparison)]
        if len(cases) != 1 or len(parts) != len(cases[0]):
            self.fail("what is counted is a conjunction of literals; name others by a rule", token)
        count = self.at(token, partial(CountPremise, least, variable, tuple(parts)))
        self.positions[count] = self.source, token
        return count

    # --- literals ---

    def atom(self) -> RelationLiteral:
        """Read ``parent(X, ann)``, or ``digit(X) == 3`` of an attribute."""
        token = self.token
        name = self.name("a relation")
        terms = self._terms()
        attribute = self._attribute_named(name)
        if attribute is None:
            if self.is_sign(*COMPARISONS):
                self.fail(
                    f"{name!r} is no attribute that is declared before this; compare variables, "
                    f"as in {name}(X, A) and A < 5"
                )
            return RelationLiteral(name, terms)
        plain = attribute.as_attribute()
        keyword = self.accept("in", "not")
        if keyword:
            if keyword == "not":
                self.expect("in")
            subset_token = self.token
            values = self.subset()
            proposition = self.at(subset_token, partial(plain.isin, values))
            negated = keyword == "not"
        elif self.is_sign(*COMPARISONS):
            proposition, negated = self._comparison(plain), False
        else:
            self.fail(f"{name!r} is an attribute: compare its value, as in {name}(X) == ...", token)
        return RelationLiteral(name, terms, negated, tuple(proposition.values))

    def _terms(self) -> tuple[Term, ...]:
        return tuple(self.listing(")", self._term_of_literal)) if self.accept("(") else ()

    def _term_of_literal(self) -> Term:
        """Read a variable or an entity."""
        token = self.take()
        if self.token.text == "(" and token.kind == "word":
            self.fail(f"{token.text!r} is in brackets: entities are names, not functions", token)
        known, value = self.variable(token)
        if known:
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                self.fail(f"an entity is a text or a number; got {value!r:.60}", token)
            return value
        if token.kind == "word" and token.text not in KEYWORDS:
            return self._word_term(token)
        if token.kind == "string":
            return self.string(token)
        if token.kind == "name":
            return token.text[1:-1]
        if token.kind == "number":
            return self.number(token)
        if token.text == "-" and self.token.kind == "number":
            return -self.number(self.take())
        self.fail_expected("a variable or an entity", token)

    def _word_term(self, token: Token) -> Term:
        """Return the term of a word: a variable or an entity."""
        if token.text == "_":
            self.fail("give the variable a name; one that is used once is read 'exists'", token)
        if not is_variable_name(token.text):
            return token.text
        variable = Variable(token.text)
        if variable in self._ended:
            self.fail(f"variable {variable} is used outside its 'exists'; rename one", token)
        self._seen.add(variable)
        return variable

    def _variable(self) -> Variable:
        token = self.take()
        if token.kind != "word" or not is_variable_name(token.text):
            self.fail_expected("a variable, which begins with a capital letter", token)
        return Variable(token.text)

    def _is_comparison(self) -> bool:
        """Return whether a comparison of terms comes next."""
        return self.peek() in COMPARISONS and (
            self.token.kind in ("number", "string")
            or (self.token.kind == "word" and self._attribute_named(self.token.text) is None)
        )

    def _term_comparison(self) -> TermComparison:
        token = self.token
        left = self._term_of_literal()
        sign = self.take().text
        right = self._term_of_literal()
        comparison = TermComparison(left, sign, right)
        self.positions.setdefault(comparison, (self.source, token))
        if not any(isinstance(t, Variable) for t in (left, right)):
            self.fail(f"'{comparison}' has no variable: it always holds, or never", token)
        return comparison


def _located(error: PinesyError, source: TokenizedText, token: Token) -> PinesyError:
    """Return an error with the line and column of a token."""
    try:
        source.fail(str(error), token)
    except PinesyError as located:
        return located


def _invert(part: Part) -> Part:
    return ~part
