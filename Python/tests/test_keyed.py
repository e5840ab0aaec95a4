"""Many values by key."""

from __future__ import annotations

import pressurekit
from tests.support import ManagerTest


class Keyed(ManagerTest):
    def test_values_are_loaded_by_key_and_come_back(self) -> None:
        loads: list[str] = []

        def load(key: str) -> bytes:
            loads.append(key)
            return key.encode() * 1000

        tiles = self.manager.keyed_cache("tiles", load)
        self.assertEqual(tiles.read("zürich"), "zürich".encode() * 1000)
        self.assertEqual(tiles.read("zürich"), "zürich".encode() * 1000)
        self.assertEqual((loads, tiles.count), (["zürich"], 1))
        tiles.set("mine", b"kept")
        with tiles.pinned("mine") as view:
            self.assertEqual(view[1:3].tobytes(), b"ep")
        with self.assertRaises(ValueError):
            view.tobytes()
        with self.assertRaises(BufferError):
            with tiles.pinned("mine") as view:
                part = view[1:3]
        self.assertEqual(part.tobytes(), b"ep")
        del part
        self.manager.warn()
        self.assertEqual(tiles.residency("mine"), "spilled")
        self.assertEqual(tiles.read("mine"), b"kept")
        tiles.invalidate("mine")
        self.assertEqual((tiles.residency("mine"), tiles.read("mine")), ("unloaded", b"mine" * 1000))
        self.assertEqual(tiles.view("")[:0].tobytes(), b"")

    def test_keys_are_of_one_type(self) -> None:
        def text(key: int) -> bytes:
            return str(key).encode()

        numbers = self.manager.keyed_cache("numbers", text, key=int)
        self.assertEqual([numbers.read(key) for key in (0, -7, 10**40)], [b"0", b"-7", b"1" + b"0" * 40])
        raw = self.manager.keyed_cache("raw", lambda key: key + b"!", key=bytes)
        self.assertEqual([raw.read(key) for key in (b"", b"\0\xff#", b"#00ff23")], [b"!", b"\0\xff#!", b"#00ff23!"])
        with self.assertRaisesRegex(TypeError, "int, and not str"):
            numbers.read("1")  # type: ignore[arg-type]
        with self.assertRaises(TypeError):
            self.manager.keyed_cache("x", key=float)  # type: ignore[type-var]
        with self.assertRaises(pressurekit.BadArgument):
            raw.read(b"x" * 4097)

    def test_an_exception_names_its_cause(self) -> None:
        tiles = self.manager.keyed_cache("tiles", lambda key: {"a": b"1"}[key])
        self.assertEqual(tiles.read("a"), b"1")
        with self.assertRaisesRegex(pressurekit.LoadFailed, "KeyError: 'b'") as caught:
            tiles.read("b")
        self.assertIsInstance(caught.exception.__cause__, KeyError)
        unset = self.manager.keyed_cache("unset")
        with self.assertRaisesRegex(pressurekit.NoValue, r'"unset\[7\]"'):
            unset.read("7")

    def test_it_keeps_to_its_limit(self) -> None:
        few = self.manager.keyed_cache("few", lambda key: bytes(key), key=int, limit_values=4)
        for key in range(1, 50):
            few.read(key)
        self.assertLessEqual(sum(few.residency(key) == "resident" for key in range(1, 50)), 4)

    def test_values_are_updated(self) -> None:
        counts = self.manager.keyed_cache("counts", lambda _: bytes(1))

        def add(value: memoryview) -> None:
            value[0] += 1

        for _ in range(3):
            counts.update("a", add)
        self.assertEqual((counts.read("a"), counts.read("b")), (b"\3", b"\0"))
        with self.assertRaises(ZeroDivisionError):
            counts.update("a", lambda value: 1 // 0)
        self.assertEqual(counts.read("a"), b"\3")
