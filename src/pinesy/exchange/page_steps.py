"""The compiled steps of rule sets as the plain data that the page runs (`web/steps.js`).

The engine compiles a rule set structure into a template, and links templates into a program. The
page does the same: rule sets of one structure share their steps, and read the degrees of their own
inputs. So a page of 810 equal constraints has the steps of one.
"""

from typing import Any

from pinesy._common.budgets import check_output_size
from pinesy.emitters.program_steps import template_steps
from pinesy.engine.circuit import Facet
from pinesy.engine.rule_set_kinds import RuleSetStructure
from pinesy.engine.templates import rule_template


def structure_steps(
    structure: RuleSetStructure, propositions: dict[tuple[int, int], int], name: str
) -> dict[str, Any]:
    """Return the steps of a rule set structure.

    `steps` are lists ``[operation, value, ...]``, with the operations and values of `ProgramSteps`:
    0 and 1, the leaves, and one value a step. `outputs` has the values of the degree of each value
    of the output, of ``lambda_1, lambda_2, ...`` and of ``rho_1, ...``. `leaves` are indices in
    the sequence: ``Pi(P)`` and ``Pi(not P)`` of each proposition; ``s_1, r_1, s_2, ...``; the
    possibilities of `subsets`, pairs (input, digits).

    Parameters
    ----------
    propositions : the distinct propositions of the rule set, (input, mask), and their numbers
    name : of the output
    """
    check_output_size(name, structure.output_size)
    masks = tuple(1 << i for i in range(structure.output_size))
    template = rule_template(structure, masks, degrees=True)
    steps = template_steps(template)
    first_parameter = 2 * len(propositions)
    first_subset = first_parameter + 2 * len(structure.premises)
    known = {key: 2 * number for key, number in propositions.items()}
    for (index, mask), number in propositions.items():
        known.setdefault((index, ((1 << structure.sizes[index]) - 1) ^ mask), 2 * number + 1)
    for index, size in enumerate(structure.sizes):
        known.pop((index, (1 << size) - 1), None)  # true as a proposition, a height as a leaf
    subsets: list[tuple[int, str]] = []
    leaves = []
    for leaf in template.leaves:
        if isinstance(leaf, Facet):
            key = (leaf.attribute, leaf.mask)
            if key not in known:
                known[key] = first_subset + len(subsets)
                subsets.append((leaf.attribute, mask_digits(leaf.mask)))
            leaves.append(known[key])
        else:
            leaves.append(first_parameter + leaf.index)
    outputs = steps.outputs.tolist()
    degrees, premises = outputs[: len(masks)], outputs[len(masks) + 1 :]  # the height is between
    return {
        "leaves": leaves,
        "subsets": subsets,
        "steps": [
            [op, *operands]
            for op, operands in zip(steps.ops.tolist(), steps.operand_lists, strict=True)
        ],
        "outputs": [*degrees, *premises[::2], *premises[1::2]],
    }


def mask_digits(mask: int) -> str:
    """Return a subset as hexadecimal digits, the lowest first.

    Examples
    --------
    >>> mask_digits(0b1_0010)
    '21'
    """
    return f"{mask:x}"[::-1]
