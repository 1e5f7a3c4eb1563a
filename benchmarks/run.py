"""The speed figures in one table, all measured in one run: ``make bench``.

``python benchmarks/run.py --only inference learning`` runs some sections. A line compares what a
case takes with other ways of the same work, and with the physical limit: the operations and bytes
that the work consists of, at the peaks of this machine.
"""

import argparse
import os
import platform
import sys
from collections.abc import Iterator
from importlib import import_module

import measure
import peaks
from bench_table import table
from measure import Line

#: The modules of each section.
SECTIONS = {
    "inference": ["inference_speed"],
    "evidence": ["evidence_speed"],
    "command line": ["command_line_speed"],
    "number types": ["number_type_speed"],
    "transformations": ["transform_speed"],
    "compile growth": ["compile_growth", "function_growth"],
    "gradients": ["gradient_speed"],
    "learning": ["learning_speed"],
    "equations": ["equations_speed"],
    "backpropagation": ["backpropagation_speed"],
    "exact": ["exact_speed"],
    "explanations": ["explanation_speed"],
    "calibration": ["calibration_speed", "monitoring_speed"],
    "induction": ["induction_speed"],
    "onnx": ["onnx_speed"],
    "where rules run": ["where_rules_run"],
    "relations": ["relation_speed"],
    "first answer": ["first_answer"],
}


def measured(section: str, tiny: bool = False) -> Iterator[Line]:
    """Yield the lines of a section."""
    print(f"{section} ...", file=sys.stderr, flush=True)
    for name in SECTIONS[section]:
        yield from import_module(name).lines(tiny=tiny)


def main() -> None:
    """Print the sections that are named on the command line, or all, each when it is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--tiny", action="store_true", help="smallest cases: does it all run?")
    wish = parser.parse_args()
    measure.ONCE = wish.tiny
    limits = peaks.measured()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores: {limits}\n")
    for section in SECTIONS:
        if section in wish.only:
            print(table(measured(section, wish.tiny), limits), flush=True)


if __name__ == "__main__":
    main()
