"""Tasks whose answers leave reasoning shortcuts, in one form: digits of MNIST, and figures."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pinesy import Attribute, Cascade, Shortcuts, function, joint, shortcuts
from pinesy.nets import AnsweredInputs, DeepSoftLogCNN, preprocess
from reproduction import figures
from reproduction.scales import Images
from reproduction.sum_splits import FEW, SAMPLES, TASKS, drawn_images, sum_parts

Indices = npt.NDArray[np.int64]
Values = Mapping[str, Indices]
#: Samples of each combination of digits, by part; the sums of rsbench have its numbers.
MATH_SAMPLES: Final[Mapping[str, int]] = {"train": 210, "valid": 60, "test": 60, "ood": 1}
FEW_MATH: Final[Mapping[str, int]] = {"train": 30, "valid": 10, "test": 10, "ood": 1}
#: Samples of figures, by part.
FIGURE_SAMPLES: Final[Mapping[str, int]] = {"train": 1200, "valid": 400, "test": 400, "ood": 400}
FEW_FIGURES: Final[Mapping[str, int]] = {"train": 400, "valid": 100, "test": 100, "ood": 100}
#: Combinations that tell what answers leave open; more of the thousands leave as much open.
N_OBSERVED: Final = 500
#: What is seen in MNMath: every pair of the first equation with every pair of the second.
FIRST_PAIRS: Final = ((0, 8), (4, 2), (1, 9), (7, 3))
SECOND_PAIRS: Final = ((0, 4), (6, 4), (1, 7), (5, 7))
#: Combinations out of distribution, of all others.
N_UNSEEN: Final = 1000


@dataclass(frozen=True, eq=False)
class ConceptSamples:
    """Samples: images (n, places, ...), and by concept the indices (n, places) of true values."""

    images: Tensor
    values: Values

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.images)


@dataclass(frozen=True, eq=False)
class ConceptTask:
    """A task: rules from concepts of images to answers, and its samples.

    Attributes
    ----------
    name : what it is called
    rules : from the concepts to the answers
    inputs : by concept, the names of the rules' inputs, one for each place of an image
    answers : from the indices of values (n, places) by concept to the answers by attribute
    make_parts : gives the samples for training, validation, test, and out of distribution, from a
        function that gives the images of digits, and whether few are enough
    make_network : gives a network that reads a concept, for a concept and a seed
    batch : samples of a step of training
    last_epochs : epochs of the last training, from soft labels
    """

    name: str
    rules: Cascade
    inputs: Mapping[str, tuple[str, ...]]
    answers: Callable[[Values], Mapping[str, Any]]
    make_parts: Callable[[Callable[[], Images], bool], Mapping[str, ConceptSamples]]
    make_network: Callable[[str, int], nn.Module]
    batch: int = 32
    last_epochs: int = 8

    @cached_property
    def domains(self) -> dict[str, tuple[Hashable, ...]]:
        """The values of each concept."""
        by_name = {a.name: a.domain for a in self.rules.inputs}
        return {concept: by_name[names[0]] for concept, names in self.inputs.items()}

    def shortcuts(self, samples: ConceptSamples) -> Shortcuts:
        """Return the remappings of concepts that the answers of samples leave open."""
        columns = {
            name: samples.values[concept][:, place]
            for concept, names in self.inputs.items()
            for place, name in enumerate(names)
        }
        rows = np.unique(np.stack([*columns.values()], axis=1), axis=0)[:N_OBSERVED]
        by_name = {a.name: a.domain for a in self.rules.inputs}
        observed = {
            name: [by_name[name][index] for index in rows[:, column]]
            for column, name in enumerate(columns)
        }
        return shortcuts(self.rules, observed, kinds=self.inputs, limit=1)

    def answered(self, samples: ConceptSamples) -> AnsweredInputs:
        """Return samples with their answers, and nothing else that is known of them."""
        return AnsweredInputs(self.by_input(samples.images), self.answers(samples.values))

    def by_input(self, images: Tensor) -> dict[str, Tensor]:
        """Return images (n, places, ...) by the names of the inputs that are read from them."""
        return {
            name: images[:, place]
            for names in self.inputs.values()
            for place, name in enumerate(names)
        }


# --- digits -------------------------------------------------------------------------------------


def _digit_samples(images: Images, indices: Indices, digits: Indices) -> ConceptSamples:
    pixels = preprocess(images.pixels[indices.ravel()])
    return ConceptSamples(pixels.reshape(*indices.shape, *pixels.shape[1:]), {"digit": digits})


def _sum_task(name: str) -> ConceptTask:
    """Return a task of rsbench's sums of two digits (`sum_splits`)."""
    task = TASKS[name]

    def parts(digits: Callable[[], Images], quick: bool) -> dict[str, ConceptSamples]:
        images = digits()
        return {
            part: _digit_samples(images, pairs.images, pairs.digits)
            for part, pairs in sum_parts(task, images, FEW if quick else SAMPLES).items()
        }

    return ConceptTask(
        name,
        task.rules(),
        {"digit": ("left", "right")},
        lambda values: {"total": values["digit"].sum(axis=1)},
        parts,
        lambda _, seed: DeepSoftLogCNN(task.n_digits, seed=seed),
    )


def _math_rules() -> Cascade:
    c1, c2, c3, c4 = (Attribute(f"c{i}", range(10)) for i in range(1, 5))
    first = function("first", joint("first_pair", c1, c2), lambda a, b: 2 * a + b)
    second = function("second", joint("second_pair", c3, c4), "c3 + c4")
    return Cascade(*first.sets.values(), *second.sets.values())


def _math_parts(digits_of: Callable[[], Images], quick: bool) -> dict[str, ConceptSamples]:
    """Return samples of the seen combinations, equally many each, and of random others."""
    images = digits_of()
    seen = np.array([(*one, *other) for one in FIRST_PAIRS for other in SECOND_PAIRS])
    everything = np.indices((10,) * 4).reshape(4, -1).T
    powers = 10 ** np.arange(3, -1, -1)
    others = everything[~np.isin(everything @ powers, seen @ powers)]
    parts = {}
    for number, (part, count) in enumerate((FEW_MATH if quick else MATH_SAMPLES).items()):
        rng = np.random.default_rng([44, number])
        is_unseen = part == "ood"
        combinations = rng.permutation(others)[:N_UNSEEN] if is_unseen else seen
        digits = np.repeat(combinations, count, axis=0)
        pool = np.arange(images.n_train) if part in ("train", "valid") else images.test
        parts[part] = _digit_samples(images, drawn_images(images.labels, pool, digits, rng), digits)
    return parts


def _math_answers(values: Values) -> dict[str, Indices]:
    c1, c2, c3, c4 = values["digit"].T
    return {"first": 2 * c1 + c2, "second": c3 + c4}


# --- figures ------------------------------------------------------------------------------------


class FigureCNN(nn.Module):
    """A small network from figures (n, 3, 20, 20) to the scores of three shapes or colours.

    The network of shapes sees no colours, only how much pixels differ from the background, which
    is the mean of the border: else it may take colours for shapes.
    """

    def __init__(self, concept: str, seed: int) -> None:
        super().__init__()
        self.sees_colours = concept == "colour"
        channels = 3 if self.sees_colours else 1
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.layers = nn.Sequential(
                *(nn.Conv2d(channels, 8, 5), nn.MaxPool2d(2), nn.ReLU()),
                *(nn.Conv2d(8, 16, 3), nn.MaxPool2d(2), nn.ReLU()),
                *(nn.Flatten(), nn.Linear(16 * 3 * 3, 48), nn.ReLU(), nn.Linear(48, 3)),
            )

    def forward(self, images: Tensor) -> Tensor:
        """Return the scores of each value."""
        scores: Tensor = self.layers(2 * images - 1 if self.sees_colours else _contrast(images))
        return scores


def _contrast(images: Tensor) -> Tensor:
    """Return the distance (n, 1, 20, 20) of pixels from the background; about 1 in the figure."""
    border = torch.cat([images[..., 0, :], images[..., -1, :]], dim=-1).mean(dim=-1)
    distance: Tensor = (images - border[..., None, None]).norm(dim=1, keepdim=True)
    contrast: Tensor = 2 * distance / distance.amax(dim=(2, 3), keepdim=True) - 1
    return contrast


def _figure_parts(_images: Callable[[], Images], quick: bool) -> dict[str, ConceptSamples]:
    parts = {}
    for number, (part, count) in enumerate((FEW_FIGURES if quick else FIGURE_SAMPLES).items()):
        rng = np.random.default_rng([33, number])
        shapes, colours = figures.drawn_concepts(count, rng, unseen=part == "ood")
        pixels = torch.from_numpy(figures.draw_figures(shapes.ravel(), colours.ravel(), rng))
        shaped = pixels.reshape(*shapes.shape, *pixels.shape[1:])
        parts[part] = ConceptSamples(shaped, {"shape": shapes, "colour": colours})
    return parts


def concept_tasks() -> dict[str, ConceptTask]:
    """Return the tasks by name."""
    math_inputs = {"digit": ("c1", "c2", "c3", "c4")}
    figure_inputs = {concept: figures.input_names(concept) for concept in ("shape", "colour")}
    tasks: Sequence[ConceptTask] = (
        _sum_task("half"),
        _sum_task("evenodd"),
        ConceptTask(
            "mnmath",
            _math_rules(),
            math_inputs,
            _math_answers,
            _math_parts,
            lambda _, seed: DeepSoftLogCNN(10, seed=seed),
        ),
        ConceptTask(
            "kandinsky",
            figures.pattern_rules(),
            figure_inputs,
            lambda values: {"pattern": figures.pattern_of(values["shape"], values["colour"])},
            _figure_parts,
            lambda concept, seed: FigureCNN(concept, 2 * seed + (concept == "colour")),
            batch=8,
            last_epochs=2,
        ),
    )
    return {task.name: task for task in tasks}
