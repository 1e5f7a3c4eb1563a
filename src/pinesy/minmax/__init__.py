"""The min-max algebra: arrays in, arrays out; it knows no rule."""

from pinesy.minmax.product import minmax_product

__all__ = ["minmax_product"]
