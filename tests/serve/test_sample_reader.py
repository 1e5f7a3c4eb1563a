"""The short way of reading plain values gives what data files give, bit for bit."""

import json
from io import BytesIO
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from pinesy import parse
from pinesy.exceptions import PinesyError
from pinesy.rules.possibility import Possibility
from pinesy.samples import evidence_of, read_samples
from pinesy.serve.sample_reader import ReadSample, SampleReader

RULES = parse("""
number age cuts {18, <= 65}
number blurred cuts {1, 2} [blur=0.5]
attribute word in {yes, no, "3", none}
attribute digit in 0..3
attribute flag in {true, false}
attribute out in {a, b}
if age < 18 and blurred < 1 and word == yes and digit == 1 and flag == true then out == a
""")
READER = SampleReader(RULES, RULES.inputs, ids=["region"])

NUMBERS = st.one_of(
    st.integers(-5, 100), st.floats(allow_nan=False, allow_infinity=False), st.integers(),
    st.sampled_from([18, 18.0, 65, 65.0, 65.00000000000001, 2**53 + 1, 10**400]),
)  # fmt: skip
ENTRIES = st.one_of(
    NUMBERS,
    st.none(),
    st.booleans(),
    st.sampled_from(["yes", "no", " yes ", "3", "1", "none", "", "NA", '"yes"', "<18", ">65", "x"]),
    st.sampled_from([{"yes": 1.0}, {"1": 1, "0": 0.25}, [1, 0, 0], [0.5, 1.0, 0, 0], {}]),
)
SAMPLES = st.fixed_dictionaries({a.name: ENTRIES for a in RULES.inputs})


def read(content: dict[str, Any]) -> ReadSample | None:
    try:
        return READER.read([content])[0][0]
    except PinesyError:
        return None


@pytest.mark.filterwarnings("ignore::pinesy.exceptions.DataWarning")
@given(SAMPLES)
def test_samples_are_read_as_those_of_files(content: dict[str, Any]) -> None:
    sample = read(content)
    file = BytesIO(json.dumps(content).encode())
    try:
        [batch] = read_samples(file, RULES.inputs)
    except PinesyError:
        assert sample is None
        return
    assert sample is not None
    np.testing.assert_array_equal(sample.row, batch.evidence[0])
    evidence = evidence_of(batch, 0, RULES.inputs)
    plain = {name: v for name, v in evidence.items() if not isinstance(v, Possibility)}
    assert sample.plain_values == plain
    assert [*map(type, sample.plain_values.values())] == [*map(type, plain.values())]


def test_plain_values_take_the_short_way() -> None:
    reader = SampleReader(RULES, [a for a in RULES.inputs if a.name in ("age", "word", "digit")])
    content = {"age": 30, "word": "no", "digit": 2, "id": 1}
    sample = reader._plain_sample(content)
    assert sample is not None
    assert sample.plain_values == {"age": 30.0, "word": "no", "digit": 2}
    assert reader._plain_sample(content | {"word": " no "}) is None
    assert reader._plain_sample(content | {"other": 1}) is None


def test_all_bad_samples_are_named() -> None:
    content: dict[str, Any] = {"age": 1, "blurred": 1, "word": "yes", "digit": 1, "flag": True}
    samples, notices = READER.read([content | {"region": "north"}, content | {"flag": "perhaps"}])
    assert (len(samples), len(notices)) == (2, 1)
    with pytest.raises(PinesyError, match="the request, sample 2: attribute 'digit'"):
        READER.read([content, content | {"digit": 7}])
