"""Samples in data files: JSON Lines, CSV and Parquet."""

from pinesy.samples.conversion import Batch
from pinesy.samples.file_layout import value_texts
from pinesy.samples.sample_file import SampleFile, read_samples

__all__ = ["Batch", "SampleFile", "read_samples", "value_texts"]
