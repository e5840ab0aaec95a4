"""Exceptions of callbacks reach the caller, and messages say what it can do."""

from __future__ import annotations

import threading

import pressurekit
from tests.support import ManagerTest


class Errors(ManagerTest):
    def test_the_text_of_an_exception_reaches_the_reader(self) -> None:
        original = KeyError("no tile Zürich")

        def load() -> bytes:
            raise original

        cache = self.manager.cache("tiles", load)
        with self.assertRaises(pressurekit.LoadFailed) as caught:
            cache.read()
        self.assertEqual(
            str(caught.exception), "The load callback of \"tiles\" failed: KeyError: 'no tile Zürich'"
        )
        self.assertIs(caught.exception.__cause__, original)
        self.assertEqual(caught.exception.status, -5)

    def test_a_long_text_is_whole(self) -> None:
        def load() -> bytes:
            raise ValueError("x" * 5000)

        with self.assertRaisesRegex(pressurekit.LoadFailed, "x{5000}"):
            self.manager.cache("a", load).read()

    def test_the_text_goes_by_way_of_the_library_as_well(self) -> None:
        tiles: dict[str, bytes] = {}
        cache = self.manager.cache("a", lambda: tiles["ü\0"])
        # As if there had been many failures meanwhile.
        cache._failures._MOST = 0
        with self.assertRaises(pressurekit.LoadFailed) as caught:
            cache.read()
        self.assertEqual(str(caught.exception), "The load callback of \"a\" failed: KeyError: 'ü\\x00'")
        self.assertIsNone(caught.exception.__cause__)

    def test_everybody_who_waits_is_told(self) -> None:
        started, release = threading.Event(), threading.Event()
        loads: list[int] = []

        def load() -> bytes:
            loads.append(1)
            started.set()
            release.wait()
            raise KeyError("for all")

        cache = self.manager.cache("a", load)
        told: list[tuple[str, object]] = []

        def read() -> None:
            try:
                cache.read()
            except pressurekit.LoadFailed as error:
                told.append((str(error), type(error.__cause__)))

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        started.wait()
        release.set()
        for reader in readers:
            reader.join()
        self.assertEqual(told, [("The load callback of \"a\" failed: KeyError: 'for all'", KeyError)] * 4)
        # Nothing is kept when nobody waits any more.
        self.assertEqual(cache._failures._raised, {})

    def test_a_load_in_a_load_says_both(self) -> None:
        inner = self.manager.cache("inner", lambda: b"" + 1)  # type: ignore[operator]
        outer = self.manager.cache("outer", lambda: inner.read())
        with self.assertRaises(pressurekit.LoadFailed) as caught:
            outer.read()
        self.assertIn('"outer" failed', str(caught.exception))
        self.assertIn('"inner" failed: TypeError', str(caught.exception))
        cause = caught.exception.__cause__
        assert cause is not None
        self.assertIsInstance(cause.__cause__, TypeError)

    def test_what_is_no_value_is_told_as_well(self) -> None:
        with self.assertRaises(pressurekit.LoadFailed) as caught:
            self.manager.cache("a", lambda: "text").read()
        self.assertIsInstance(caught.exception.__cause__, TypeError)
        with self.assertRaises(TypeError):
            self.manager.cache("b").set("text")

    def test_who_wants_the_program_to_end_is_not_held_up(self) -> None:
        def load() -> bytes:
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.manager.cache("a", load).read()

    def test_messages_name_the_cache_and_nothing_inside(self) -> None:
        notes = self.manager.cache("notes")
        with self.assertRaises(pressurekit.NoValue) as missing:
            notes.read()
        self.assertEqual(
            str(missing.exception),
            'The cache "notes" has no load callback and no value. Set one, or add it with a load callback.',
        )
        with self.assertRaises(pressurekit.Duplicate) as twice:
            self.manager.cache("notes")
        self.assertTrue(str(twice.exception).startswith('There is a cache "notes" already.'))
        with self.assertRaises(pressurekit.BadArgument) as slash:
            self.manager.cache("a/b")
        self.assertEqual(str(slash.exception), 'The name is "a/b"; it must not be empty or contain a slash.')
        with self.assertRaises(ValueError):
            self.manager.cache("a\0b")
        with self.assertRaisesRegex(pressurekit.Unavailable, "spill_directory"):
            pressurekit.Manager(spill_directory="/no/such/directory")

    def test_a_cache_of_its_own_is_not_used_by_load(self) -> None:
        caches: list[pressurekit.Cache] = []
        caches.append(self.manager.cache("a", lambda: caches[0].read()))
        with self.assertRaises(pressurekit.LoadFailed) as caught:
            caches[0].read()
        self.assertIsInstance(caught.exception.__cause__, pressurekit.Recursive)

    def test_what_was_removed_is_gone(self) -> None:
        cache = self.manager.cache("a")
        cache.remove()
        with self.assertRaises(pressurekit.BadHandle):
            cache.read()
        self.manager.cache("a").set(b"1")
        self.manager.close()
        self.manager.close()
