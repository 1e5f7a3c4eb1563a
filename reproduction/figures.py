"""A task in the manner of Kandinsky patterns: three images of three coloured figures each.

The generator and its rule are ours. A figure is 20 x 20 pixels of RGB, a circle, a square or a
triangle, red, yellow or blue. All shapes have the same area; place, size, angle, shade, background
and noise are random. The answer is whether the three images have equally many different shapes,
equally many different colours, both, or neither.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from pinesy import Attribute, Cascade, function
from pinesy._common.validation import FloatArray

SHAPES: Final = ("circle", "square", "triangle")
COLOURS: Final = ("red", "yellow", "blue")
#: Images of a sample, and figures of an image.
N_IMAGES, N_FIGURES = 3, 3
FIGURE_SIDE: Final = 20
#: Pairs of a shape and a colour that only samples out of distribution have.
UNSEEN: Final = ((0, 2), (2, 0))
#: The answers, by whether all images have equally many shapes, and equally many colours.
PATTERNS: Final = {
    (False, False): "neither",
    (False, True): "colours",
    (True, False): "shapes",
    (True, True): "both",
}
#: The largest angle of a figure (radians), and the standard deviation of the noise.
ANGLE, NOISE = 0.2, 0.04
RGB: Final = np.array([[0.85, 0.15, 0.15], [0.9, 0.85, 0.15], [0.15, 0.25, 0.85]])

Indices = npt.NDArray[np.int64]


def input_names(concept: str) -> tuple[str, ...]:
    """Return the names of the inputs of a concept, ``shape`` or ``colour``, figure by figure.

    Examples
    --------
    >>> input_names("shape")[:4]
    ('shape_11', 'shape_12', 'shape_13', 'shape_21')
    """
    images, figures = range(1, N_IMAGES + 1), range(1, N_FIGURES + 1)
    return tuple(f"{concept}_{image}{figure}" for image in images for figure in figures)


def pattern_rules() -> Cascade:
    """Return the rules of the answer, from the numbers of shapes and colours of each image."""
    cascades: list[Cascade] = []
    for concept, values in (("shape", SHAPES), ("colour", COLOURS)):
        figures, counts = [Attribute(name, values) for name in input_names(concept)], []
        for image in range(N_IMAGES):
            own = figures[N_FIGURES * image : N_FIGURES * (image + 1)]
            cascades.append(function(f"{concept}s_{image + 1}", own, lambda *x: len(set(x))))
            counts.append(cascades[-1].outputs[0])
        cascades.append(function(f"same_{concept}s", counts, lambda *x: len(set(x)) == 1))
    same = [cascade.outputs[0] for cascade in cascades if len(cascade.outputs[0].domain) == 2]
    cascades.append(function("pattern", same, lambda *pair: PATTERNS[pair]))
    return Cascade(*(rule_set for cascade in cascades for rule_set in cascade.sets.values()))


def pattern_of(shapes: Indices, colours: Indices) -> list[str]:
    """Return the answers of samples with these shapes and colours (n, 9)."""
    both = zip(_same_counts(shapes).tolist(), _same_counts(colours).tolist(), strict=True)
    return [PATTERNS[pair] for pair in both]


def _same_counts(values: Indices) -> npt.NDArray[np.bool_]:
    by_image = np.sort(values.reshape(-1, N_IMAGES, N_FIGURES), axis=2)
    counts = (np.diff(by_image, axis=2) != 0).sum(axis=2)
    return np.asarray((counts == counts[:, :1]).all(axis=1))


def drawn_concepts(
    n: int, rng: np.random.Generator, *, unseen: bool = False
) -> tuple[Indices, Indices]:
    """Return shapes and colours (n, 9) without the pairs `UNSEEN`; or with at least one of them.

    Of shapes, and likewise of colours, the three images of every second sample have equally many
    different ones, on the average; else each image has 1, 2 or 3, with equal probabilities.
    """
    is_unseen = np.zeros((len(SHAPES), len(COLOURS)), dtype=bool)
    is_unseen[tuple(np.transpose(UNSEEN))] = True
    shapes, colours = np.empty((2, 0, N_IMAGES * N_FIGURES), dtype=np.int64)
    while len(shapes) < n:
        new_shapes, new_colours = _values(n, rng), _values(n, rng)
        fits = is_unseen[new_shapes, new_colours].any(axis=1) == unseen
        shapes = np.concatenate([shapes, new_shapes[fits]])
        colours = np.concatenate([colours, new_colours[fits]])
    return shapes[:n], colours[:n]


def _values(n: int, rng: np.random.Generator) -> Indices:
    """Return random values (n, 9) of one concept."""
    counts = rng.integers(1, N_FIGURES + 1, size=(n, N_IMAGES))
    is_same = rng.random(n) < 0.5
    counts[is_same] = counts[is_same, :1]
    names = rng.permuted(np.tile(np.arange(3), (n, N_IMAGES, 1)), axis=2)
    # with 1 the first value stands everywhere, with 2 at two places, with 3 at one
    of_count = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 2]])[counts]
    places = rng.permuted(of_count, axis=2)
    return np.take_along_axis(names, places, axis=2).reshape(n, -1)


def draw_figures(shapes: Indices, colours: Indices, rng: np.random.Generator) -> FloatArray:
    """Return figures (n, 3, 20, 20) of float32, about 0 to 1, for shapes and colours (n,)."""
    n, middle = len(shapes), (FIGURE_SIDE - 1) / 2
    centre, radius = rng.uniform(-1.5, 1.5, (2, n, 1, 1)), rng.uniform(5.0, 6.5, (n, 1, 1))
    angle = rng.uniform(-ANGLE, ANGLE, (n, 1, 1))
    rows, columns = np.indices((FIGURE_SIDE, FIGURE_SIDE)) - middle
    y, x = rows - centre[0], columns - centre[1]
    u, v = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
    area = np.pi * radius**2
    inradius = np.sqrt(area / (3 * np.sqrt(3)))  # of the triangle of this area
    sides = [np.sin(a) * u + np.cos(a) * v for a in 2 * np.pi * np.arange(3) / 3]
    distances = np.stack(  # below 0 within the figure
        [
            np.hypot(x, y) - radius,
            np.maximum(abs(u), abs(v)) - np.sqrt(area) / 2,
            np.max(sides, axis=0) - inradius,
        ]
    )[shapes, np.arange(n)]
    share = np.clip(0.5 - distances, 0.0, 1.0)[:, None]
    shade = RGB[colours] * rng.uniform(0.75, 1.1, (n, 1)) + rng.normal(0.0, 0.05, (n, 3))
    background = rng.uniform(0.5, 1.0, (n, 1, 1, 1))
    images = share * shade[:, :, None, None] + (1 - share) * background
    noise = rng.normal(0.0, NOISE, images.shape)
    return np.asarray((images + noise).astype(np.float32))
