"""The steps of a program as C: loops over the samples of a block, which compilers vectorise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from pinesy.emitters.program_steps import ProgramSteps, write_step

#: Steps of one loop: compilers take long for larger ones, and run out of registers.
CHUNK = 64


def c_number(number: float) -> str:
    """Return a finite number as C, with all bits."""
    return float(number).hex()


@dataclass(frozen=True)
class CBlocks:
    """Loops of C over the rows ``w[row][i]`` of a block.

    Attributes
    ----------
    functions : the text of the loops
    n_chunks : how many there are, ``step_0`` and so on
    n_rows : the rows of `w`: the input columns, and the values that several loops use
    outputs : each output column of sample `i`, as C
    """

    functions: str
    n_chunks: int
    n_rows: int
    outputs: list[str]


def write_blocks(steps: ProgramSteps) -> CBlocks:
    """Return the loops of a program."""
    first, n_steps = steps.n_fixed, len(steps.ops)
    n_chunks = -(-n_steps // CHUNK)
    last_chunk = dict.fromkeys(steps.outputs.tolist(), n_chunks)
    for index in range(n_steps - 1, -1, -1):
        for value in steps.operand_lists[index]:
            last_chunk.setdefault(value, index // CHUNK)
    constants = len(steps.constants)
    rows = {constants + j: j for j in range(steps.n_inputs)}
    free: list[int] = []
    n_rows, functions = steps.n_inputs, []
    for chunk in range(n_chunks):
        inner = range(first + chunk * CHUNK, first + min((chunk + 1) * CHUNK, n_steps))
        stored = [value for value in inner if last_chunk.get(value, chunk) > chunk]
        for value in stored:
            if not free:
                free, n_rows = [n_rows], n_rows + 1
            rows[value] = free.pop()
        functions.append(_function(chunk, steps, inner, rows, stored))
        ended = [value for value in rows if value >= first and last_chunk[value] == chunk]
        free += [rows.pop(value) for value in ended]
    outputs = [
        c_number(steps.constants[v]) if v < constants else f"w[{rows[v]}][i]"
        for v in steps.outputs.tolist()
    ]
    return CBlocks("\n".join(functions), n_chunks, n_rows, outputs)


def _function(
    chunk: int, steps: ProgramSteps, inner: range, rows: dict[int, int], stored: list[int]
) -> str:
    lines = "\n".join(f"        {line}" for line in _lines(steps, inner, rows, set(stored)))
    return (
        f"static void step_{chunk}(double (*w)[BLOCK])\n{{\n"
        f"    for (int i = 0; i < BLOCK; i++) {{\n{lines}\n    }}\n}}\n"
    )


def _lines(
    steps: ProgramSteps, inner: range, rows: dict[int, int], stored: set[int]
) -> Iterator[str]:
    """Yield the statements of a loop; a value is loaded before its first use."""
    names = {v: c_number(number) for v, number in enumerate(steps.constants)}
    for value in inner:
        op, operands = (
            int(steps.ops[value - steps.n_fixed]),
            steps.operand_lists[value - steps.n_fixed],
        )
        for operand in operands:
            if operand not in names:
                names[operand] = f"v{operand}"
                yield f"const double v{operand} = w[{rows[operand]}][i];"
        names[value] = f"v{value}"
        text = write_step(op, [names[v] for v in operands], _maximum, _minimum)
        yield f"const double v{value} = {text};"
        if value in stored:
            yield f"w[{rows[value]}][i] = v{value};"


def _maximum(operands: Sequence[str]) -> str:
    return reduce(lambda a, b: f"max2({a}, {b})", operands)


def _minimum(operands: Sequence[str]) -> str:
    return reduce(lambda a, b: f"min2({a}, {b})", operands)
