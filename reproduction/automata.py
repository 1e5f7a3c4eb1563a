"""Words of digit images that a finite automaton accepts or rejects, and no other label.

The automaton counts: its states are the numbers from 0 to a bound, a digit is added to the state,
and the bound is never left. A word is accepted if its digits add up to the bound at least, half of
what they can add up to. Each image is in one word, so that a run has ``60,000 / n`` single bits to
learn ten digits from. The probability that a word is accepted is exact: rules of an automaton read
each image once. With the network that was learned, an automaton of more states judges longer words.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pinesy import Attribute, Cascade, function
from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError
from pinesy.nets import (
    AnsweredInputs,
    AnswerPhase,
    DeepSoftLogCNN,
    Recipe,
    RuleLayer,
    answer_score,
    fit_from_starts,
    predict_proba,
    preprocess,
    using_threads,
)
from reproduction.environment import environment
from reproduction.run_files import do_missing_files, read_file
from reproduction.scales import Images
from reproduction.standard_errors import share_and_error

Indices = npt.NDArray[np.int64]

FORMAT: Final = "pinesy.automata/1"
LENGTHS: Final = (4, 8, 16)
#: The length of the words that no network was trained with, and how many of them are judged.
LONG, LONG_WORDS = 100, 1000
EPOCHS: Final = 10
STARTS: Final = 3
SEEDS_A_RUN: Final = 100
#: The share of the words that are not trained with: a start is chosen by them.
VALID_SHARE: Final = 0.05
#: Shares, and what the table calls them.
MEASURES: Final = {
    "words": "words right",
    "digits": "digits right",
    "long_words": f"words of {LONG} right",
}


def bound_of(length: int) -> int:
    """Return what the digits of an accepted word add up to at least."""
    return 9 * length // 2


def automaton_rules(length: int, bound: int) -> Cascade:
    """Return the rules of the automaton for words of some length: from digits to `accepted`.

    Examples
    --------
    >>> rules = automaton_rules(3, 13)
    >>> answer = rules.infer({"digit_0": 9, "digit_1": 1, "digit_2": {3: 1.0, 2: 0.4}})
    >>> answer["accepted"][True], answer["accepted"][False]
    (1.0, 0.4)
    """
    digits = [Attribute(f"digit_{index}", range(10)) for index in range(length)]
    steps: list[Cascade] = []
    state = digits[0]
    for index, digit in enumerate(digits[1:-1], 1):
        steps.append(function(f"state_{index}", [state, digit], lambda a, b: min(a + b, bound)))
        (state,) = steps[-1].outputs
    steps.append(function("accepted", [state, digits[-1]], lambda a, b: a + b >= bound))
    return Cascade(*steps)


def answered_words(words: Indices, images: Images) -> AnsweredInputs:
    """Return words (n, length) of images with what the automaton says, and nothing else."""
    return AnsweredInputs(
        {f"digit_{i}": preprocess(images.pixels[column]) for i, column in enumerate(words.T)},
        {"accepted": _accepted(images.labels[words])},
    )


def _accepted(digits: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which words (n, length) of digits are accepted, by a sum and no automaton."""
    return np.asarray(digits.sum(axis=1, dtype=np.int64) >= bound_of(digits.shape[1]))


def words_of(pool: Indices, length: int, rng: np.random.Generator) -> Indices:
    """Return words (n, length) of images in random order, each image in one word at most."""
    if len(pool) < length:
        raise DataError(f"a word of {length} needs as many images; there are {len(pool)}")
    n = len(pool) // length
    return rng.permutation(pool)[: n * length].reshape(n, length)


def long_share(
    probabilities: FloatArray, labels: npt.NDArray[Any], rng: np.random.Generator, n: int
) -> float:
    """Return the share of `n` long words of test images that are judged correctly.

    The rules of the long automaton infer it by min and max; a word counts only if one of accepted
    and rejected alone is fully possible. Images are used again and again, equally often.
    """
    pool = np.arange(len(labels))
    words = np.concatenate(
        [words_of(pool, LONG, rng) for _ in range(-(-n // (len(pool) // LONG)))]
    )[:n]
    rules = automaton_rules(LONG, bound_of(LONG))
    evidence = {f"digit_{i}": probabilities[column] for i, column in enumerate(words.T)}
    inferred = rules.infer(evidence, transform="antipignistic")["accepted"]
    truth = _accepted(labels[words])
    return float(np.mean(np.where(truth, inferred[False] < 1.0, inferred[True] < 1.0)))


def automaton_record(
    length: int,
    run: int,
    images: Images,
    *,
    epochs: int = EPOCHS,
    long_words: int = LONG_WORDS,
    say: Callable[[str], Any] = lambda _: None,
) -> dict[str, Any]:
    """Train from accepted and rejected words, judge words of test images, return the record."""
    rng = np.random.default_rng([run, length])
    words = words_of(np.arange(images.n_train), length, rng)
    valid, train = np.split(words, [max(int(VALID_SHARE * len(words)), 1)])
    test = words_of(images.test, length, rng)
    rules = automaton_rules(length, bound_of(length))
    layer = RuleLayer(rules, semantics="probabilistic")
    recipe = Recipe("adamw", 2e-3, "one-cycle", batch=32, epochs=epochs, t_max=epochs, eta_min=1e-5)
    began = process_time()
    with using_threads(1):
        start = fit_from_starts(
            lambda seed: DeepSoftLogCNN(10, seed=seed),
            [AnswerPhase(layer, recipe)],
            answered_words(train, images),
            answered_words(valid, images),
            seeds=range(SEEDS_A_RUN * run, SEEDS_A_RUN * run + STARTS),
            say=say,
        )
        trained = process_time()
        share = answer_score(start.reader, layer, answered_words(test, images))
        probabilities = predict_proba(start.reader.network, images.pixels[images.test])
    labels = images.labels[images.test]
    return {
        "format": FORMAT,
        "length": length,
        "run": run,
        "training_words": len(train),
        "accepted": float(_accepted(images.labels[train]).mean()),
        "test_words": len(test),
        "epochs": epochs,
        "starts": len(start.scores),
        "validation": start.score,
        "words": share,
        "digits": float((probabilities.argmax(axis=1) == labels).mean()),
        "long_words": long_share(probabilities, labels, rng, long_words),
        "seconds": {"training": trained - began},
        **environment(1),
    }


def do_automata(
    lengths: Iterable[int],
    runs: Iterable[int],
    images: Images,
    results: Path,
    say: Callable[[str], Any],
    **settings: Any,
) -> list[dict[str, Any]]:
    """Do the runs that have no record yet, and return the records of all."""
    paths = {(n, run): results / "automata" / f"{n}-{run}.json" for run in runs for n in lengths}

    def make(key: tuple[int, int]) -> dict[str, Any]:
        say(f"words of {key[0]}, run {key[1]}")
        return automaton_record(*key, images, say=say, **settings)

    do_missing_files(paths, make)
    return [read_automaton_record(path) for path in paths.values()]


def read_automaton_record(path: Path) -> dict[str, Any]:
    """Return a record, or raise `DataError`."""
    names = [*MEASURES, "length", "run", "training_words", "test_words"]
    return read_file(
        path,
        FORMAT,
        lambda record: [*(record[name] for name in names), record["seconds"]["training"]],
        "delete it",
    )


def automata_table(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the means over runs, in %, with standard errors, as a table in Markdown."""
    lines = [
        f"| length | states | training words | runs | {' | '.join(MEASURES.values())} | training |",
        "|---" * (5 + len(MEASURES)) + "|",
    ]
    for length in sorted({record["length"] for record in records}):
        group = [record for record in records if record["length"] == length]
        # All runs share the test images; their words are put together anew.
        n_samples = {
            "words": sum(record["test_words"] for record in group),
            "digits": group[0]["length"] * group[0]["test_words"],
            "long_words": LONG_WORDS * len(group),
        }
        cells = [share_and_error([record[m] for record in group], n_samples[m]) for m in MEASURES]
        seconds = np.mean([record["seconds"]["training"] for record in group])
        lines.append(
            f"| {length} | {bound_of(length) + 1} | {group[0]['training_words']:,} | {len(group)} "
            f"| {' | '.join(cells)} | {seconds:.0f} s |"
        )
    return "\n".join(lines) + "\n"
