"""What ``--help`` says, in Rich's markup."""

__all__ = ["CHECK_HELP", "HELP", "INFER_HELP", "SHOW_HELP"]

HELP = """Possibilistic reasoning with rules: check rules, show them, infer from data.

[bold]Exit codes[/bold]
  0  fine
  1  check found warnings
  2  wrong usage
  3  rules or data that cannot be used
  130  interrupted
"""

CHECK_HELP = """Look for what is odd in a file of rules, and say what inference costs.

Warnings are likely mistakes (exit code 1), notes are not.

[bold]Example[/bold]
  pinesy check sum.rules
"""

SHOW_HELP = """Show a file of rules: a summary, attributes and rules, or the parts asked for.

Long parts are shortened, and it is said where; --all shows all.

[bold]Examples[/bold]
  pinesy show sum.rules
  pinesy show sum.rules --partition --matrix --set total
  pinesy show sum.rules --matrix --numbers
"""

INFER_HELP = """Infer the outputs of rules for every sample of a data file.

[bold]Data[/bold]
JSON Lines, one sample a line; for each input the degrees of its values
(those left out have degree 0), a list of degrees in domain order, or one
value that is certain:
  {"left": {"3": 1.0, "8": 0.4}, "right": 5}
CSV; columns input=value hold degrees (those left out have degree 0), columns
input hold values that are certain:
  left=3,left=8,right
  1.0,0.4,5
Degrees are possibilities, or with --transform probabilities.

[bold]Results[/bold]
jsonl  an object a sample; "possibility" leaves out values of degree 0
csv    a row a sample: of each output best value, certainty, flags, degrees
table  for reading: six digits, the first 20 samples (--all: all)
A result is ambiguous if several values are most possible; the best one is
the first of them. It is not normalised if no value is fully possible, here
or on the way: then the rules contradict each other for that sample.

[bold]Examples[/bold]
  pinesy infer sum.rules digits.jsonl
  pinesy infer sum.rules softmax.csv --transform antipignistic -o sums.csv
  cat digits.jsonl | pinesy infer sum.rules - --format jsonl --outputs total
"""
