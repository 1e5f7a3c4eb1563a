"""Rules as C: one file without dependencies, and its header."""

import re
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import NamedTuple

from pinesy._common.validation import cut_repr
from pinesy._version import __version__
from pinesy.emitters.c_blocks import CBlocks, c_number, write_blocks
from pinesy.emitters.program_steps import program_steps
from pinesy.emitters.raw_columns import intervals_of
from pinesy.engine.program import Program
from pinesy.exceptions import DomainError
from pinesy.rulebase.cascade import Cascade, HasRules, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.samples import value_texts

#: Samples of a block, and the most numbers of all its rows, which are on the stack.
MAX_BLOCK, MIN_BLOCK, MAX_NUMBERS = 64, 8, 1 << 16
KEYWORDS = frozenset(
    {
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else"),
        *("enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "main"),
        *("register", "restrict", "return", "short", "signed", "sizeof", "static", "struct"),
        *("switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
    }
)


class CFiles(NamedTuple):
    """Rules as C.

    Attributes
    ----------
    source : the file to compile; it needs no other
    header : the declarations
    """

    source: str
    header: str


def to_c(
    rules: Cascade | RuleSet | HasRules,
    name: str = "rules",
    outputs: Iterable[str | Attribute] | None = None,
) -> CFiles:
    """Return rules as a file of C99 and its header.

    ``name_infer_values`` takes a number for each input of a sample: that of a numeric attribute, or
    the index of a category; NaN where nothing is known. ``name_infer_degrees`` takes the
    possibilities of all values side by side. Both take many samples, one after the other, and write
    for each output the degrees of its values and its height; ``name_answer`` reads the outcome from
    these. They return the number of samples or, where `infer` would raise an error, the index of
    the sample. Results have the bits of `infer`, if the compiler keeps to IEEE 754 (no
    ``-ffast-math``).

    Induced rules have the degrees of `infer`, the cautious reading of blanks.

    Parameters
    ----------
    rules : rules, or a fitted `pinesy.estimators.RuleClassifier` (its degrees, not calibrated ones)
    name : what the names of all functions begin with
    outputs : what is inferred; by default the attributes that no premise uses

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse("number age cuts {18} attribute b in {yes, no} if age < 18 then b in {no}")
    >>> "size_t adult_infer_values(" in to_c(rules, "adult").header
    True
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name, re.ASCII):
        raise DomainError(f"{cut_repr(name)} is no name in C; give letters, digits and _")
    if name in KEYWORDS:
        raise DomainError(f"{name!r} is a word of C; give another name")
    program = as_cascade(rules).compile(outputs)
    blocks = write_blocks(program_steps(program.code))
    declarations = _declarations(program, name)
    guard = f"{name.upper()}_H"
    head = f"/* pinesy {__version__}. Compile without -ffast-math. */\n"
    header = f"{head}#ifndef {guard}\n#define {guard}\n{declarations}\n#endif\n"
    parts = [head, declarations, _tables(program, name), _PRELUDE, blocks.functions]
    parts += [
        _run(program, blocks),
        _degrees_function(program, name),
        _values_function(program, name),
    ]
    n_rows = max(1, blocks.n_rows)
    block = max(MIN_BLOCK, min(MAX_BLOCK, MAX_NUMBERS // n_rows))
    source = "\n".join([*parts, _ANSWER.replace("NAME", name)])
    sizes = f"enum {{ BLOCK = {block}, ROWS = {n_rows} }};\n"
    return CFiles(source.replace("SIZES;\n", sizes), header)


def _declarations(program: Program, name: str) -> str:
    upper = name.upper()
    sizes = {
        "INPUTS": len(program.inputs),
        "DEGREES": program.code.n_inputs,
        "OUTPUTS": len(program.outputs),
        "RESULTS": sum(len(a.domain) + 1 for a in program.outputs),
    }
    enum = ", ".join(f"{upper}_{key} = {size}" for key, size in sizes.items())
    texts = {"NAME": name, "UPPER": upper, "ENUM": enum}  # at once: a name may have these words
    return re.sub("NAME|UPPER|ENUM", lambda match: texts[match[0]], _DECLARATIONS)


_DECLARATIONS = """\
#include <stddef.h>

/* Numbers a sample: raw inputs, degrees of inputs, output attributes, results. */
enum { ENUM };
enum NAME_outcome { UPPER_DECIDED, UPPER_SEVERAL, UPPER_NO_RULE, UPPER_CONTRADICTION };
/* best is the index of the decided value, or -1; certainty is NaN in contradictions. */
struct NAME_answer { enum NAME_outcome outcome; int best; double certainty, contradiction; };

/* Names of inputs and outputs, and of their values; both end in a null pointer. */
extern const char *const NAME_input_names[], *const *const NAME_input_values[];
extern const char *const NAME_output_names[], *const *const NAME_output_values[];

/* Each writes UPPER_RESULTS numbers a sample, and returns n, or the index of an invalid sample. */
size_t NAME_infer_values(const double *values, size_t n, double *results);
size_t NAME_infer_degrees(const double *degrees, size_t n, double *results);
/* Reads an output (0 is the first) of one sample. */
struct NAME_answer NAME_answer(const double *results, int output);
"""

_PRELUDE = """\
SIZES;
static inline double max2(double a, double b) { return a > b ? a : b; }
static inline double min2(double a, double b) { return a < b ? a : b; }
"""


def _tables(program: Program, name: str) -> str:
    texts = []
    for kind, attributes in (("input", program.inputs), ("output", program.outputs)):
        for index, attribute in enumerate(attributes):
            values = ", ".join(map(c_text, value_texts(attribute)))
            texts.append(f"static const char *const {kind}_{index}[] = {{{values}, 0}};")
        names = "".join(f"{c_text(a.name)}, " for a in attributes)
        tables = "".join(f"{kind}_{i}, " for i in range(len(attributes)))
        texts.append(f"const char *const {name}_{kind}_names[] = {{{names}0}};")
        texts.append(f"const char *const *const {name}_{kind}_values[] = {{{tables}0}};")
    sizes = ", ".join(str(len(a.domain)) for a in program.outputs)
    texts.append(f"static const int output_sizes[] = {{{sizes}}};")
    bounds = ", ".join(map(str, program.code.bounds.tolist()))
    return "\n".join([*texts, f"static const int input_bounds[] = {{{bounds}}};\n"])


def c_text(text: str) -> str:
    r"""Return a text as C: UTF-8, with all but letters, digits and spaces as octal numbers.

    Examples
    --------
    >>> c_text('a"b')
    '"a\\042b"'
    """
    encoded = text.encode("utf-8", "surrogatepass")
    if 0 in encoded:
        raise DomainError(f"C has no text with the character NUL; rename {cut_repr(text)}")
    plain = frozenset(b" abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    signs = (chr(byte) if byte in plain else f"\\{byte:03o}" for byte in encoded)
    return f'"{"".join(signs)}"'


def _run(program: Program, blocks: CBlocks) -> str:
    """Return the function that computes a block and writes its results."""
    calls = "".join(f"    step_{k}(w);\n" for k in range(blocks.n_chunks))
    lines, column = [], 0
    for attribute in program.outputs:
        span = program.code.columns[attribute.name]
        degrees, first = blocks.outputs[span], column
        for degree in degrees:
            lines.append(f"        out[{column}] = {degree};")
            column += 1
        lines.append(f"        double h{first} = out[{first}];")
        lines += [f"        h{first} = max2(h{first}, out[{c}]);" for c in range(first + 1, column)]
        index = program.code.coherence.get(attribute.name)
        coherence = "1.0" if index is None else blocks.outputs[index]
        lines.append(f"        out[{column}] = min2(h{first}, {coherence});")
        column += 1
    return (
        "static void run_block(double (*w)[BLOCK], size_t n, double *out)\n{\n"
        f"    (void)w; /* constant results use no row */\n{calls}"
        f"    for (size_t i = 0; i < n; i++, out += {column}) {{\n"
        + "\n".join(lines)
        + "\n    }\n}\n"
    )


def _loop(signature: str, width: int, statements: str, n_results: int) -> str:
    """Return a function that reads blocks of samples and runs them."""
    return f"""\
size_t {signature}
{{
    static const double zero = 0.0;
    double w[ROWS][BLOCK];
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < BLOCK; i++)
            w[row][i] = zero;
    for (size_t first = 0; first < n; first += BLOCK) {{
        const size_t m = n - first < BLOCK ? n - first : BLOCK;
        for (size_t i = 0; i < m; i++) {{
            const double *x = inputs + (first + i) * {width};
{statements}        }}
        run_block(w, m, results + first * {n_results});
    }}
    return n;
}}
"""


def _n_results(program: Program) -> int:
    return sum(len(a.domain) + 1 for a in program.outputs)


def _degrees_function(program: Program, name: str) -> str:
    heights = program.code.min_heights.tolist()
    must = ", ".join(str(int(height > 0)) for height in heights) or "0"
    statements = f"""\
            static const int must_be_normalised[] = {{{must}}};
            for (int a = 0; a < {len(program.inputs)}; a++) {{
                double top = 0.0;
                for (int c = input_bounds[a]; c < input_bounds[a + 1]; c++) {{
                    if (!(x[c] >= 0.0 && x[c] <= 1.0))
                        return first + i;
                    w[c][i] = x[c] + zero; /* -0.0 becomes 0.0 */
                    top = max2(top, x[c]);
                }}
                if (must_be_normalised[a] && top < 1.0)
                    return first + i;
            }}
"""
    signature = f"{name}_infer_degrees(const double *inputs, size_t n, double *results)"
    return _loop(signature, program.code.n_inputs, statements, _n_results(program))


def _values_function(program: Program, name: str) -> str:
    first, reads = 0, list[str]()
    for index, attribute in enumerate(program.inputs):
        reads += _read_value(attribute, index, first)
        first += len(attribute.domain)
    statements = "".join(f"            {line}\n" for line in reads)
    signature = f"{name}_infer_values(const double *inputs, size_t n, double *results)"
    return _loop(signature, len(program.inputs), statements, _n_results(program))


def _read_value(attribute: Attribute, index: int, first: int) -> Sequence[str]:
    """Return statements that set the degrees of an attribute from ``x[index]``."""
    x, size = f"x[{index}]", len(attribute.domain)
    if attribute.scale is None:
        is_index = f"{x} >= 0.0 && {x} < {size} && {x} == (int)({x})"
        return [
            f"if ({x} == {x} && !({is_index}))",
            "    return first + i;",
            f"for (int c = 0; c < {size}; c++)",
            f"    w[{first} + c][i] = {x} != {x} || {x} == c;",
        ]
    lines, blur = [], attribute.scale.blur
    for column, interval in enumerate(intervals_of(attribute.scale), first):
        tests = [f"{x} >= {c_number(interval.low)}"] if isfinite(interval.low) else []
        tests += [f"{x} < {c_number(interval.high)}"] if isfinite(interval.high) else []
        degree = "0.0"
        if blur and isfinite(interval.low):
            distance = f"({c_number(interval.low_limit)} - {x})"
            condition = f"{x} < {c_number(interval.low)} && {distance} < {c_number(blur)}"
            degree = f"{condition} ? 1.0 - {distance} / {c_number(blur)} : {degree}"
        if blur and isfinite(interval.high):
            distance = f"({x} - {c_number(interval.high_limit)})"
            condition = f"{x} >= {c_number(interval.high)} && {distance} < {c_number(blur)}"
            degree = f"{condition} ? 1.0 - {distance} / {c_number(blur)} : {degree}"
        is_in = f"{x} != {x} || ({' && '.join(tests) or '1'})"
        lines.append(f"w[{column}][i] = {is_in} ? 1.0 : {degree};")
    return lines


_ANSWER = """\
struct NAME_answer NAME_answer(const double *results, int output)
{
    for (int k = 0; k < output; k++)
        results += output_sizes[k] + 1;
    const int size = output_sizes[output];
    const double height = results[size];
    struct NAME_answer answer = {0, -1, 0.0, 1.0 - height};
    int count = 0;
    double second = 0.0;
    for (int v = 0; v < size; v++) {
        if (results[v] == 1.0) {
            count++;
            answer.best = v;
        } else {
            second = max2(second, results[v]);
        }
    }
    answer.outcome = height < 1.0 ? 3 : count == 1 ? 0 : count == size ? 2 : 1;
    answer.best = answer.outcome == 0 ? answer.best : -1;
    answer.certainty = count == 1 ? 1.0 - second : 0.0;
    if (height < 1.0)
        answer.certainty = (height - height) / (height - height); /* NaN */
    return answer;
}
"""
