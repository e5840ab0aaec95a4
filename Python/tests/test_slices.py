"""No view, and nothing that was made of one, sees bytes that are not there any more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pickle import PickleBuffer

import pressurekit
from tests.support import ManagerTest


class Slices(ManagerTest):
    def setUp(self) -> None:
        super().setUp()
        self.cache = self.manager.cache("a")
        self.cache.set(bytes(range(256)) * 1024)

    def expect_unpinned(self) -> None:
        report = self.manager.warn()
        self.assertEqual((report.evicted, report.skipped), (1, 0))

    def test_a_view_ends_with_its_block(self) -> None:
        with self.cache.pinned() as view:
            self.assertEqual(view[10:20].tobytes(), bytes(range(10, 20)))
            self.assertEqual(self.manager.warn().skipped, 1)
        self.expect_unpinned()
        with self.assertRaises(ValueError):
            view[0]

    def test_a_slice_that_is_left_is_an_error_and_never_dangles(self) -> None:
        made: list[tuple[str, Callable[[memoryview], object]]] = [
            ("slice", lambda view: view[10:20]),
            ("slice of a slice", lambda view: view[5:][5:15]),
            ("view", lambda view: memoryview(view)[10:20]),
            ("cast", lambda view: view.cast("b")[10:20]),
            ("buffer", lambda view: PickleBuffer(view[10:20])),
        ]
        for name, make in made:
            with self.subTest(name):
                with self.assertRaisesRegex(BufferError, "still there"):
                    with self.cache.pinned() as view:
                        kept = make(view)
                self.assertEqual(self.manager.warn().skipped, 1)
                with self.assertRaises(pressurekit.InUse):
                    self.cache.remove()
                with self.assertRaises(pressurekit.InUse):
                    self.manager.close()
                self.assertEqual(bytes(kept), bytes(range(10, 20)))  # type: ignore[call-overload]
                with self.assertRaises(ValueError):
                    view[0]
                del kept
                self.expect_unpinned()

    def test_a_slice_on_another_thread_is_an_error_and_never_dangles(self) -> None:
        started, ended = threading.Event(), threading.Event()
        found: list[bytes] = []

        def read(mine: memoryview) -> None:
            started.set()
            ended.wait()
            found.append(mine.tobytes())

        with self.assertRaises(BufferError):
            with self.cache.pinned() as view:
                thread = threading.Thread(target=read, args=(view[7:9],))
                thread.start()
                started.wait()
        self.assertEqual(self.manager.warn().skipped, 1)
        ended.set()
        thread.join()
        self.assertEqual(found, [b"\7\10"])
        self.expect_unpinned()

    def test_a_slice_that_nobody_can_reach_is_none(self) -> None:
        with self.cache.pinned() as view:
            cycle: list[object] = [view[0:1]]
            cycle.append(cycle)
            del cycle
        self.expect_unpinned()

    def test_an_exception_of_the_block_comes_first(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "first"):
            with self.cache.pinned() as view:
                kept = view[0:3]
                raise RuntimeError("first")
        self.assertEqual(kept.tobytes(), b"\0\1\2")
        del kept
        self.expect_unpinned()

    def test_a_view_pins_for_as_long_as_it_or_a_slice_is_there(self) -> None:
        part = self.cache.view()[100:104]
        self.assertEqual(self.manager.warn().skipped, 1)
        self.assertEqual(part.tobytes(), bytes(range(100, 104)))
        # A value that is set meanwhile is another one.
        self.cache.set(b"new")
        self.assertEqual(part.tobytes(), bytes(range(100, 104)))
        self.assertEqual(self.cache.read(), b"new")
        del part
        self.expect_unpinned()

    def test_a_view_outlives_the_names_of_its_cache(self) -> None:
        manager = pressurekit.Manager(spill_directory="/var/tmp", workers=1, watch=False)
        cache = manager.cache("a")
        cache.set(b"abcd")
        view = cache.view()
        del cache, manager
        self.assertEqual(view.tobytes(), b"abcd")

    def test_nothing_of_an_update_can_be_written_to_later(self) -> None:
        kept: list[memoryview] = []
        self.cache.update(lambda view: kept.append(view[0:4]))
        kept[0][:] = b"oops"
        self.assertEqual(self.cache.read()[:4], b"\0\1\2\3")

