"""The loop of every training: the same seed gives the same bits, interrupted or not."""

import copy
import math
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pinesy._common.console import Bar
from pinesy._common.console import progress as progress_bar
from pinesy.exceptions import PinesyError
from pinesy.nets.checkpoints import HISTORY, SCORES, Identity, resume, write_checkpoint
from pinesy.nets.networks import device_of


class TrainingLoop:
    """A training that is under way; its kinds say what batches are, and what is made small.

    After each epoch the network is judged, if anything judges it, and what is best so far is kept,
    the latest of equals; else the latest is. A loss that is not a finite number ends the training,
    and leaves the network with what was kept.

    Parameters
    ----------
    network : is trained in place, from the weights it has
    identity : which training it is, with its recipe and seed

    Attributes
    ----------
    history : by name, a number for each epoch; the scores begin with that of the start
    average : a network for the mean of the weights, if the recipe wants it
    kept : the weights that the network will have in the end
    """

    def __init__(self, network: nn.Module, identity: Identity) -> None:
        self.network, self.identity, self.recipe = network, identity, identity.recipe
        self.optimizer = self.recipe.make_optimizer(network)
        self.history: dict[str, list[float]] = {name: [] for name in HISTORY}
        self.average = copy.deepcopy(network) if self.recipe.average_from is not None else None
        self.kept: dict[str, Any] = {}

    # --- what kinds of trainings differ in -----------------------------------------------------

    def batches(self, epoch: int) -> tuple[int | None, Iterable[Any]]:
        """Return how many batches an epoch has, if that is known, and these."""
        raise NotImplementedError

    def loss(self, batch: Any) -> tuple[Tensor, int, float]:
        """Return the mean loss of a batch, how many samples it has, and how many are right."""
        raise NotImplementedError

    def judge(self, _network: nn.Module) -> float | None:
        """Return how good a network is; None if nothing judges it."""
        return None

    def settle(self, _average: nn.Module) -> None:
        """Make an average of weights ready to predict, after an epoch."""

    # --- what they have in common --------------------------------------------------------------

    def run(
        self, checkpoint: str | os.PathLike[str] | None, label: str = "", size: int | None = None
    ) -> int:
        """Train, from a checkpoint on if there is one; return how many epochs it had.

        Parameters
        ----------
        label : of the progress bar; without, there is none
        size : of an epoch, the number of samples
        """
        path = None if checkpoint is None else Path(checkpoint)
        if path is not None and path.exists():
            done = resume(path, self.identity, self.network, self.optimizer, self.average)
            self.history, self.kept = done.history, done.good
        resumed = self.done
        if not resumed:
            self._keep()
        total = None if size is None else (self.recipe.epochs - resumed) * size
        with progress_bar(label, total) as bar:
            for epoch in range(resumed, self.recipe.epochs):
                self._epoch(epoch, bar)
                self._keep()
                self.said(epoch)
                if path is not None:
                    self._write(path)
        self._end()
        return resumed

    @property
    def done(self) -> int:
        """How many epochs are done."""
        return len(self.history["losses"])

    def said(self, epoch: int) -> None:
        """Say how an epoch was."""

    def _epoch(self, epoch: int, bar: Bar) -> None:
        """See every sample once."""
        began, device = time.perf_counter(), device_of(self.network)
        self.network.train()
        total, right, n = 0.0, 0.0, 0
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            # The order of samples and dropout draw from PyTorch's own generator.
            torch.manual_seed(epoch_seed(self.identity.seed, epoch))
            number, batches = self.batches(epoch)
            for step, batch in enumerate(batches):
                share = min(step / number, 1.0) if number else 0.0
                for group in self.optimizer.param_groups:
                    group["lr"] = self.recipe.rate(epoch, share)
                loss, size, good = self._step(batch, epoch, step)
                total, right, n = total + size * loss, right + good, n + size
                self._include(epoch, step, number)
                bar.advance(size)
        if (average := self._average_after(epoch + 1)) is not None:
            self.settle(average)
        numbers = total / n, right / n, time.perf_counter() - began
        for name, value in zip(HISTORY, numbers, strict=True):
            self.history[name].append(value)

    def _step(self, batch: Any, epoch: int, step: int) -> tuple[float, int, float]:
        """Learn from a batch; return its mean loss, its size, and how many samples were right."""
        loss, size, right = self.loss(batch)
        number = loss.item()
        if not math.isfinite(number):
            self._end()
            raise PinesyError(
                f"the loss of step {step + 1} in epoch {epoch + 1} is {number}: training diverges "
                f"with the learning rate {self.recipe.rate(epoch):g}; take a smaller one. The "
                f"weights are those after epoch {self.best}"
            )
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return number, size, right

    @torch.no_grad()
    def _include(self, epoch: int, step: int, number: int | None) -> None:
        """Take the weights after a step into the equal average of those of all steps before."""
        average = self._average_after(epoch + 1)
        if average is not None:
            before = (epoch - (self.recipe.average_from or 0)) * (number or 0) + step
            for mean, one in zip(average.parameters(), self.network.parameters(), strict=True):
                mean.lerp_(one, 1 / (before + 1))

    def _average_after(self, epochs: int) -> nn.Module | None:
        """Return the average if there is one after so many epochs."""
        start = self.recipe.average_from
        return self.average if start is not None and epochs > start else None

    @property
    def best(self) -> int:
        """The epoch whose weights are kept, counted from 1; 0 is the start."""
        scores = self.history.get(SCORES)
        if not scores:
            return self.done
        return max(range(len(scores)), key=lambda i: (scores[i], i))

    def _keep(self) -> None:
        """Judge the network as it is, and keep it if it is as good as the best."""
        current = self._average_after(self.done) or self.network
        score = self.judge(current)
        if score is not None:
            self.history.setdefault(SCORES, []).append(score)
        if self.best == self.done:
            self.kept = copy.deepcopy(current.state_dict())

    def _write(self, path: Path) -> None:
        average = self._average_after(self.done)
        kept = self.kept if SCORES in self.history else None
        write_checkpoint(
            path, self.identity, self.network, self.optimizer, self.history, average, kept
        )

    def _end(self) -> None:
        """Give the network what was kept, ready to predict."""
        self.network.load_state_dict(self.kept)
        self.network.eval()


def epoch_seed(seed: int, epoch: int) -> int:
    """Return a seed for an epoch: others for any two pairs (seed, epoch), seeds below 2**32."""
    return int(np.random.SeedSequence([seed, epoch]).generate_state(1, np.uint64)[0] >> 1)
