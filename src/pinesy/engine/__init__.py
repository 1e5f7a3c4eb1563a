"""Compiles rule sets into one flat program of min and max, and runs it on blocks of samples."""
