"""Updates, warnings, saved state, and how managers end."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import unittest.mock

import pressurekit
from tests.support import ManagerTest


class Updates(ManagerTest):
    def test_a_value_is_changed_and_not_loaded_again(self) -> None:
        cache = self.manager.cache("a", lambda: b"abcd")

        def shout(value: memoryview) -> None:
            value[:] = value.tobytes().upper()

        cache.update(shout)
        self.manager.warn()
        self.assertEqual(cache.residency, "spilled")
        self.assertEqual(cache.read(), b"ABCD")

    def test_one_that_fails_changes_nothing(self) -> None:
        cache = self.manager.cache("a", lambda: b"abcd")

        def fail(value: memoryview) -> None:
            value[0] = 0
            raise KeyError("changed my mind")

        with self.assertRaisesRegex(KeyError, "changed my mind"):
            cache.update(fail)
        self.assertEqual(cache.read(), b"abcd")
        broken = self.manager.cache("broken", lambda: 1 // 0)
        with self.assertRaisesRegex(pressurekit.LoadFailed, "ZeroDivisionError"):
            broken.update(fail)


class Warnings(ManagerTest):
    def test_who_wants_to_is_told_before_values_leave(self) -> None:
        cache = self.manager.cache("a")
        cache.set(b"abcd")
        told: list[tuple[pressurekit.MemoryWarning, str]] = []
        self.manager.on_warning(lambda warning: told.append((warning, cache.residency)))
        self.manager.warn(pressurekit.Level.WARNING, 4096)
        cache.read()
        self.manager.warn()
        self.assertEqual([(one.level, where) for one, where in told], [(1, "resident"), (2, "resident")])
        self.assertEqual(cache.residency, "spilled")
        self.assertEqual(told[0][0].bytes_wanted, 4096)
        self.assertIn("pressurekit_warn", told[0][0].reason)
        self.manager.on_warning(None)
        self.manager.warn()
        self.assertEqual(len(told), 2)

    def test_one_that_is_told_may_not_ask_for_another(self) -> None:
        found: list[type] = []

        def warned(_: pressurekit.MemoryWarning) -> None:
            for call in (self.manager.warn, self.manager.enter_foreground, self.manager.close):
                try:
                    call()
                except pressurekit.Error as error:
                    found.append(type(error))
            # It may take itself away.
            self.manager.on_warning(None)

        self.manager.on_warning(warned)
        self.manager.warn()
        self.manager.warn()
        self.assertEqual(found, [pressurekit.Recursive, pressurekit.Recursive, pressurekit.InUse])

    def test_what_it_raises_goes_to_the_hook(self) -> None:
        self.manager.on_warning(lambda _: 1 // 0)
        with unittest.mock.patch("sys.unraisablehook") as hook:
            self.manager.warn()
        self.assertEqual([call.args[0].exc_type for call in hook.call_args_list], [ZeroDivisionError])


class States(ManagerTest):
    def test_values_come_back_in_the_next_process(self) -> None:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
            place = os.path.join(directory, "state")
            self.assertEqual(self.manager.restore_state(place).found, 0)
            self.manager.cache("notes").set(b"kept")
            self.manager.keyed_cache("tiles", key=bytes).set(b"\0\xff", b"tile")
            self.manager.keyed_cache("words").set("#zürich", b"word")
            saved = self.manager.save_state(place, "1.0")
            self.assertEqual((saved.caches, saved.failures), (3, 0))
            with pressurekit.Manager(watch=False) as other:
                with self.assertRaisesRegex(pressurekit.Unavailable, "held by another"):
                    other.restore_state(place, "1.0")
            self.manager.close()
            with pressurekit.Manager(watch=False) as later:
                notes, tiles = later.cache("notes"), later.keyed_cache("tiles", key=bytes)
                with self.assertRaisesRegex(pressurekit.StateRefused, 'version "1.0"'):
                    later.restore_state(place, "2.0")
                report = later.restore_state(place, "1.0")
                self.assertEqual((report.found, report.caches, report.missing), (1, 2, 1))
                self.assertEqual((notes.residency, notes.read()), ("spilled", b"kept"))
                self.assertEqual(tiles.read(b"\0\xff"), b"tile")


class Ends(ManagerTest):
    def test_a_manager_that_nobody_refers_to_ends(self) -> None:
        manager = pressurekit.Manager(watch=False)
        cache = manager.cache("a", lambda: b"1")
        handle, library = manager._handle, manager._library
        del manager
        # The cache needs it.
        self.assertEqual(cache.read(), b"1")
        del cache
        gc.collect()
        with self.assertRaises(pressurekit.BadHandle):
            library.call("enter_foreground", handle)

    def test_a_child_and_the_end_of_the_program_do_no_harm(self) -> None:
        program = """if True:
            import os, pressurekit
            manager = pressurekit.Manager(watch=False)
            cache = manager.cache("a")
            cache.set(b"abcd")
            view = cache.view()
            child = os.fork()
            if child == 0:
                del view
                try:
                    cache.read()
                except pressurekit.Unavailable as error:
                    assert "forked" in str(error)
                else:
                    raise AssertionError("the child has no cache")
                manager.close()
                with pressurekit.Manager(watch=False) as mine:
                    assert mine.cache("a", lambda: b"1").read() == b"1"
            else:
                assert os.waitpid(child, 0)[1] == 0
                assert view.tobytes() == b"abcd"
        """
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
