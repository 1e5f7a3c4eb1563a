"""What the tests of the service share: a model, a client, samples."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from starlette.testclient import TestClient

from pinesy import decide, parse, save
from pinesy.serve import DecisionLog, ServedModel
from pinesy.serve.model_file_watch import ModelFileWatch
from pinesy.serve.service import Limits, Service, application

LOAN = (Path(__file__).parents[2] / "examples" / "loan.rules").read_text(encoding="utf-8")
SAMPLE = {"income": 52000, "debt_ratio": 0.5, "history": "bad", "job": "permanent", "age": 40}
ADDRESS = "http://127.0.0.1:8800"
Start = Callable[..., TestClient]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Return a file of rules."""
    path = tmp_path / "loan.rules"
    path.write_text(LOAN, encoding="utf-8")
    return path


@pytest.fixture
def model(rules: Path) -> ServedModel:
    """Return the model of the rules, with regions beside the inputs."""
    served = ServedModel.load(rules, ids=["region"])
    served.check()  # loads the kernels, which may take longer than a request
    return served


def watched_service(
    model: ServedModel, log: DecisionLog | None = None, limits: Limits | None = None
) -> Service:
    """Return a service that reads the file of its model again when it is asked to."""
    watch = ModelFileWatch(model.path, lambda: ServedModel.load(model.path, ids=["region"]))
    return Service(model, log, limits or Limits(), watch)


@pytest.fixture
def start() -> Start:
    """Return a function that starts a service and returns a client of it."""

    def client(
        model: ServedModel,
        log: DecisionLog | None = None,
        token: str | None = None,
        base_url: str = ADDRESS,
        **limits: Any,
    ) -> TestClient:
        service = watched_service(model, log, Limits(**limits))
        app = application(service, token)
        app.state.service = service
        return TestClient(app, base_url=base_url, raise_server_exceptions=False)

    return client


@pytest.fixture
def client(start: Start, model: ServedModel) -> TestClient:
    """Return a client of the model."""
    return start(model)


@pytest.fixture(scope="session")
def sure_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of rules with a threshold, which decides with at most 5 % wrong."""
    rules = parse("attribute left in 0..2\nattribute right in 0..2\nfunction total = left + right")
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.1, 0.1, 0.1], (2000, 2))
    digits = (p.cumsum(axis=2) < rng.random((2000, 2, 1))).sum(axis=2)
    read = {"left": p[:, 0], "right": p[:, 1]}
    totals = {"total": digits.sum(axis=1)}
    selective = decide(rules, read, totals, error=0.05, transform="antipignistic")
    path = tmp_path_factory.mktemp("sure") / "sure.json"
    save(selective, path)
    return path
