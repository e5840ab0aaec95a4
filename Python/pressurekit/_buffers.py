"""Bytes that cross the border: an object's, lent to the library, and a value's, shown to Python."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import re
import weakref
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_int, c_ssize_t, c_void_p, py_object
from typing import Any


class _PyBuffer(ctypes.Structure):
    """`Py_buffer`, as Python's stable interface has it."""

    _fields_ = [
        ("buf", c_void_p),
        ("obj", c_void_p),
        ("len", c_ssize_t),
        ("itemsize", c_ssize_t),
        ("readonly", c_int),
        ("ndim", c_int),
        ("format", c_char_p),
        ("shape", POINTER(c_ssize_t)),
        ("strides", POINTER(c_ssize_t)),
        ("suboffsets", POINTER(c_ssize_t)),
        ("internal", c_void_p),
    ]


_get = ctypes.pythonapi.PyObject_GetBuffer
_get.argtypes, _get.restype = (py_object, POINTER(_PyBuffer), c_int), c_int
_release = ctypes.pythonapi.PyBuffer_Release
_release.argtypes, _release.restype = (POINTER(_PyBuffer),), None


class Lent:
    """The bytes of an object where they are, which neither moves nor resizes them until they are given back.

    An array whose elements do not lie one behind the other is copied, in C's order.

    Raises `TypeError` for an object without the buffer protocol, and for one whose elements are Python objects: their
    addresses mean nothing later.
    """

    def __init__(self, value: Any) -> None:
        with memoryview(value) as view:
            # Names of members stand between colons.
            if "O" in re.sub(":[^:]*:", "", view.format):
                raise TypeError("the elements are Python objects, which have no bytes of their own")
            if not view.c_contiguous:
                value = view.tobytes()
        self._buffer = _PyBuffer()
        _get(value, ctypes.byref(self._buffer), 0)

    @property
    def count(self) -> int:
        return int(self._buffer.len)

    @property
    def address(self) -> int | None:
        """`None` if there are no bytes."""
        return self._buffer.buf if self.count else None

    def give_back(self) -> None:
        _release(ctypes.byref(self._buffer))

    def __enter__(self) -> Lent:
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()


class Shown:
    """A pinned value as a read-only `memoryview`.

    What keeps the pin is the object that the view is made of. Views of it, slices of them, and arrays that share its memory
    all refer to that object, so none of them can see bytes that are not there any more.
    """

    def __init__(self, address: int, count: int, unpin: Callable[[], None]) -> None:
        owner = (ctypes.c_ubyte * count).from_address(address)
        weakref.finalize(owner, unpin).atexit = False
        self._owner: Callable[[], object | None] = weakref.ref(owner)
        # ctypes says "<B", which memoryview cannot read single bytes of.
        self.view = memoryview(owner).cast("B").toreadonly()

    def end(self) -> None:
        """Releases the view: reading it raises `ValueError` from now on.

        Raises `BufferError` if a slice, an array or another view of the memory is still there. The value stays pinned until
        the last of them is gone, so that none ever reads what is not there. They cannot be ended from here: an array of
        NumPy's refers to its memory by a view that looks like any other.
        """
        with contextlib.suppress(BufferError):
            self.view.release()
        if self._owner() is None:
            return
        # It may only be waiting to be found.
        gc.collect()
        if self._owner() is not None:
            raise BufferError(
                "a slice or an array that was made of the view is still there, and keeps the value in memory: delete it in "
                "the block, or copy it; use view() in place of pinned() for one that is to outlive the block"
            )
