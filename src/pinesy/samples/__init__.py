"""Samples in data files: JSON Lines, CSV and Parquet."""

from pinesy.samples.conversion import Batch
from pinesy.samples.file_layout import degrees_by_name, value_texts
from pinesy.samples.sample_file import (
    SampleFile,
    columns_of,
    evidence_of,
    read_samples,
    read_table,
)

__all__ = [
    "Batch",
    "SampleFile",
    "columns_of",
    "degrees_by_name",
    "evidence_of",
    "read_samples",
    "read_table",
    "value_texts",
]
