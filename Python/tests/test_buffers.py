"""Values are whatever has the buffer protocol."""

from __future__ import annotations

import array
import functools
import mmap
import unittest

import pressurekit
from tests.support import ManagerTest

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]


def _same(value: object) -> object:
    return value


class Buffers(ManagerTest):
    def values(self) -> list[object]:
        mapped = mmap.mmap(-1, 4)
        mapped[:] = b"abcd"
        return [
            b"abcd",
            bytearray(b"abcd"),
            memoryview(b"abcd"),
            memoryview(b"xabcdx")[1:5],
            memoryview(bytearray(b"abcd")).toreadonly(),
            array.array("B", b"abcd"),
            array.array("h", b"abcd"),
            memoryview(b"abcd").cast("B", (2, 2)),
            mapped,
        ]

    def test_each_is_set_and_loaded(self) -> None:
        for number, value in enumerate(self.values()):
            with self.subTest(type=type(value).__name__, number=number):
                kept = self.manager.cache(f"kept {number}")
                kept.set(value)
                self.assertEqual(kept.read(), b"abcd")
                made = self.manager.cache(f"made {number}", functools.partial(_same, value))
                self.assertEqual(made.read(), b"abcd")

    def test_what_is_not_contiguous_is_copied(self) -> None:
        cache = self.manager.cache("a")
        cache.set(memoryview(b"a-b-c-d-")[::2])
        self.assertEqual(cache.read(), b"abcd")
        made = self.manager.cache("b", lambda: memoryview(b"dcba")[::-1])
        self.assertEqual(made.read(), b"abcd")

    def test_a_loader_may_resize_what_it_gave(self) -> None:
        value = bytearray(b"abcd")
        cache = self.manager.cache("a", lambda: value)
        self.assertEqual(cache.read(), b"abcd")
        # It was lent while it was copied, and no longer.
        value += b"e"
        cache.invalidate()
        self.assertEqual(cache.read(), b"abcde")

    def test_an_empty_value_is_a_value(self) -> None:
        for number, value in enumerate([b"", bytearray(), memoryview(b""), array.array("d")]):
            kept = self.manager.cache(f"kept {number}")
            kept.set(value)
            made = self.manager.cache(f"made {number}", functools.partial(_same, value))
            for cache in (kept, made):
                self.assertEqual(cache.read(), b"")
                with cache.pinned() as view:
                    self.assertEqual(len(view), 0)
                cache.update(lambda view: self.assertEqual(len(view), 0))
        self.assertEqual(self.manager.warn().failures, 0)
        self.assertEqual(kept.read(), b"")

    def test_a_view_has_single_bytes(self) -> None:
        cache = self.manager.cache("a")
        cache.set(b"abcd")
        with cache.pinned() as view:
            self.assertEqual((view[0], view.format, view.readonly), (97, "B", True))

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_arrays_go_in_and_come_out(self) -> None:
        numbers = numpy.arange(24, dtype=numpy.float64).reshape(4, 6)
        read_only = numbers.copy()
        read_only.flags.writeable = False
        cache = self.manager.cache("a")
        for value in (numbers, read_only, numpy.asfortranarray(numbers), numbers.repeat(2, axis=1)[:, ::2]):
            cache.set(value)
            self.manager.warn()
            found = numpy.frombuffer(cache.view()).reshape(4, 6)
            self.assertTrue((found == numbers).all())
            self.assertFalse(found.flags.writeable)
            del found
        self.assertEqual(self.manager.cache("b", lambda: numpy.zeros(3)).read(), bytes(24))
        with self.assertRaisesRegex(TypeError, "Python objects"):
            cache.set(numpy.array([object()]))
        cache.set(numpy.zeros(2, dtype=[("Origin", "f4"), ("O", "i2")]))
        self.assertEqual(cache.read(), bytes(12))

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_an_array_that_outlives_its_block_is_an_error_and_stays_readable(self) -> None:
        cache = self.manager.cache("a")
        cache.set(bytes(range(100)))
        with self.assertRaisesRegex(BufferError, "array"):
            with cache.pinned() as view:
                kept = numpy.frombuffer(view[10:20], dtype=numpy.uint8)
        self.assertEqual(self.manager.warn().skipped, 1)
        with self.assertRaises(pressurekit.InUse):
            cache.remove()
        self.assertEqual(kept.tolist(), list(range(10, 20)))
        del kept
        self.assertEqual(self.manager.warn().evicted, 1)
