"""Draws the pictures of docs/automation.md: the share that is decided, and groups.

``python docs/pictures/guarantee_pictures.py`` writes them beside this file. The images are
scikit-learn's digits, and a logistic regression reads them; those of an old camera are noisy.
"""

from pathlib import Path
from typing import Any

import numpy as np

from pinesy import Attribute, Iff, RuleSet, calibrate
from pinesy.display.markup import CERTAIN, GREY, POSSIBLE
from pinesy.display.plots import SIZE
from pinesy.guarantees import calibrate_groups, decide_classes

HERE = Path(__file__).parent
TRAINING, CALIBRATION, SPLITS, LEVEL = 500, 800, 100, 0.9
CAMERAS = ("new camera", "old camera")


def main() -> None:
    """Write the pictures."""
    p, labels, camera = read_digits()
    _save(lambda axes: draw_decided(p, labels, axes), "decided-share.svg")
    _save(lambda axes: draw_groups(p, labels, camera, axes), "groups.svg")


def read_digits() -> tuple[Any, Any, Any]:
    """Return the probabilities of images that were not trained on, their digits and cameras."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    x, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    camera = np.where(rng.random(len(y)) < 0.25, CAMERAS[1], CAMERAS[0])
    noise = np.where(camera == CAMERAS[1], 5.0, 0.5)[:, None]
    x = x + noise * rng.normal(size=x.shape)
    order = rng.permutation(len(y))
    first, others = order[:TRAINING], order[TRAINING:]
    model = LogisticRegression(C=0.01, max_iter=1000).fit(x[first], y[first])
    return model.predict_proba(x[others]), y[others], camera[others]


def draw_decided(p: Any, labels: Any, axes: Any) -> None:
    """Draw the share that is decided against the promised error."""
    decide_classes(p, labels, error=0.02).threshold.plot(axes)


def draw_groups(p: Any, labels: Any, camera: Any, axes: Any) -> None:
    """Draw the coverage of both cameras, calibrated together and for every group."""
    digit = Attribute("digit", range(10))
    even = Attribute("even", [False, True])
    rules = RuleSet([Iff(digit.isin({0, 2, 4, 6, 8})).then(even.isin({True}))])
    covered: dict[str, list[tuple[float, float]]] = {"all together": [], "for every group": []}
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(len(labels))
        known, new = order[:CALIBRATION], order[CALIBRATION:]
        evidence, truth = {"digit": p[known]}, {"digit": labels[known]}
        plain = calibrate(rules, evidence, truth)
        fair = calibrate_groups(rules, evidence, truth, camera[known]).for_groups(
            camera[new], len(new)
        )
        for name, calibrated in zip(covered, (plain, fair), strict=True):
            degrees = calibrated.degrees({"digit": p[new]})  # type: ignore[attr-defined]
            hits = degrees[np.arange(len(new)), labels[new]] > 1.0 - LEVEL + 1e-12
            covered[name].append(tuple(hits[camera[new] == c].mean() for c in CAMERAS))
    x = np.arange(len(CAMERAS))
    for offset, colour, (name, shares) in zip(
        (-0.2, 0.2), (POSSIBLE, CERTAIN), covered.items(), strict=True
    ):
        axes.bar(x + offset, np.mean(shares, axis=0), 0.38, color=colour, label=name)
    axes.axhline(LEVEL, color=GREY, linewidth=1, linestyle="--", label="promised")
    axes.set_xticks(x, CAMERAS)
    axes.set(ylabel="true digits in their sets", ylim=(0.5, 1.0), title="Coverage by group at 90 %")
    axes.legend(loc="lower left")


def _save(draw: Any, name: str) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "pinesy", "svg.fonttype": "none"}):
        figure = Figure(**SIZE)
        draw(figure.subplots())
        metadata = dict.fromkeys(("Creator", "Date"))
        figure.savefig(HERE / name, format="svg", metadata=metadata)


if __name__ == "__main__":
    main()
