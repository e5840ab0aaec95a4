"""A value of Python's leaves memory under a simulated warning, comes back when it is read, and is the same.

    PYTHONPATH=../../Python python3 example.py path/to/libPressureKitC.so    # or where the wheel is installed
"""

import hashlib
import sys
import threading

import pressurekit


def expect(holds, what):
    if not holds:
        sys.exit(f"failed: {what}")


def resident_kibibytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def main(path):
    loads = []

    def render():
        loads.append(threading.get_ident())
        return b"".join(hashlib.sha256(b"%d" % (index // 64)).digest() for index in range(1 << 19))

    with pressurekit.Manager(path, watch=False) as manager:
        rendered = manager.cache("rendered", load=render)
        notes = manager.cache("notes")
        expect(rendered.residency == "unloaded", "nothing is loaded before it is read")

        value = render()
        loads.clear()
        expect(rendered.read() == value, "the loader's value is read")
        # Nobody can make this one again, so it must come back from the disk.
        text = value[::-1]
        notes.set(text)

        with rendered.pinned() as view:
            report = manager.warn()
            expect(report.evicted == 1 and report.skipped == 1, "what is in use stays")
            expect(view[:100].tobytes() == value[:100], "and can be read meanwhile")
        before = resident_kibibytes()
        report = manager.warn()
        freed = before - resident_kibibytes()
        expect(report.evicted == 1, "what is not in use goes")
        expect(notes.residency == "spilled", "what was set is in the spill file")
        expect(freed > 12 << 10, f"the system gets its memory back, and not {freed} KiB of 16 MiB")

        expect(notes.read() == text, "what comes back is what was set")
        expect(rendered.read() == value, "and what was made")
        statistics = manager.statistics
        expect(statistics.failures == 0, "nothing has failed")
        print(f"freed {report.claimed_bytes >> 20} MiB in {report.nanoseconds / 1e6:.1f} ms, of which the system got {freed >> 10}")
        print(f"{len(loads)} loads, {statistics.restores} restores, {statistics.evictions} evictions")

        # Readers on many threads cause one load.
        loads.clear()
        rendered.invalidate()
        readers = [threading.Thread(target=rendered.read) for _ in range(8)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        expect(len(loads) == 1, f"eight readers cause one load, and not {len(loads)}")

        # Mistakes are exceptions with words, and nothing worse.
        broken = manager.cache("broken", load=lambda: 1 // 0)
        for mistake, status in [(broken.read, -5), (lambda: manager.cache("notes"), -8), (lambda: manager.cache("a/b"), -1)]:
            try:
                mistake()
            except pressurekit.Error as error:
                expect(error.status == status and str(error), f"{error.status} is {status}")
                expect(status != -5 or "ZeroDivisionError" in str(error), f"the words of the exception: {error}")
            else:
                expect(False, "a mistake is an exception")

        # Many values by key, a limit on what they take, and somebody who is told when memory is short.
        warnings = []
        manager.on_warning(warnings.append)
        tiles = manager.keyed_cache("tiles", load=lambda key: bytes([key]) * (1 << 16), key=int, limit_bytes=1 << 20)
        expect(all(tiles.read(key)[0] == key for key in range(64)), "each key has its value")
        manager.warn()
        expect([warning.level for warning in warnings] == [pressurekit.Level.CRITICAL], "a warning is told")
        notes.remove()
        try:
            notes.read()
        except pressurekit.Error as error:
            expect(error.status == -2, "what was removed is gone")
    print("everything came back as it was")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
