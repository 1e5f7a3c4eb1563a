"""The loops of `transform_loops`, compiled. Importing this loads Numba."""

from numba.core import types
from numba.extending import register_jitable

from pinesy._common.jit import compiled
from pinesy.transforms import transform_loops as loops

for _function in (
    loops.fill_block,
    loops.sort,
    loops.exchange,
    loops.is_distribution,
    loops.cumulate,
    loops.store,
):
    register_jitable(_function)

transform_rows = compiled(
    types.int64(
        types.Array(types.float64, 2, "C", readonly=True),
        types.float64[:, ::1],
        types.uint32[::1],
        types.int64,
        types.int64,
        types.float64,
    )
)(loops.transform_rows)
