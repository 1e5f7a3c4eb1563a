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
from pinesy.serve.sample_reader import SampleReader

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


@pytest.mark.filterwarnings("ignore::pinesy.exceptions.DataWarning")
@pytest.mark.parametrize("name", [a.name for a in RULES.inputs])
@given(entry=ENTRIES)
def test_samples_are_read_as_those_of_files(name: str, entry: Any) -> None:
    inputs = [RULES.attributes[name]]  # alone, as one long way makes that of a sample
    reader, content = SampleReader(RULES, inputs), {name: entry}
    file = BytesIO(json.dumps(content).encode())
    try:
        [batch] = read_samples(file, inputs)
    except PinesyError:
        with pytest.raises(PinesyError):
            reader.read([content])
        return
    [sample], _ = reader.read([content])
    np.testing.assert_array_equal(sample.row, batch.evidence[0])
    evidence = evidence_of(batch, 0, inputs)
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
