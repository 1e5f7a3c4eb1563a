"""Grey images as PNG files and data URIs."""

import struct
import zlib
from base64 import b64encode

import numpy as np
import numpy.typing as npt

from pinesy.exceptions import DataError

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def png(image: npt.NDArray[np.uint8]) -> bytes:
    """Return a grey image, an array (height, width) of uint8, as the content of a PNG file.

    Examples
    --------
    >>> png(np.zeros((2, 3), np.uint8))[1:4]
    b'PNG'
    """
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 2:
        dtype = getattr(image, "dtype", type(image).__name__)
        raise DataError(f"an image is a uint8 array (height, width); got {dtype} {np.shape(image)}")
    if 0 in image.shape:
        raise DataError(f"an image of shape {image.shape} has no pixels")
    height, width = image.shape
    # Each line begins with the code of its filter: 0, none.
    lines = np.hstack([np.zeros((height, 1), np.uint8), image]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # 8 bits, grey
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")
    return SIGNATURE + b"".join(_chunk(name, content) for name, content in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)


def data_uri(image: npt.NDArray[np.uint8]) -> str:
    """Return a grey image as a data URI, for ``<img>`` and ``<image>``."""
    return "data:image/png;base64," + b64encode(png(image)).decode("ascii")
