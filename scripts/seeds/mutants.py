#!/usr/bin/env python3
"""Mistakes in the library, one for each rule, and how soon a seed finds them.

    scripts/seeds/mutants.py check          every mistake still has its place in Sources
    scripts/seeds/mutants.py tree DIRECTORY a copy of the package with all of them in it, each behind its number
    scripts/seeds/mutants.py run DIRECTORY SEEDS [NUMBER…]
                                            plays seeds 1…SEEDS with each switched on, in the copy that was built

All are in one build, so that they cost one build: PRESSUREKIT_MUTANT switches one of them on. With none the copy is the
library as it is.
"""
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

root = Path(__file__).resolve().parents[2]
kit, store, signals = "Sources/PressureKit", "Sources/SpillStore", "Sources/PressureSignals"

# Number, promise, what is wrong, and (file, text, text in its place) for each place. ON is whether it is switched on.
mutants = [
    (1, "P1", "a value that no loader makes is dropped", [
        (f"{kit}/Eviction/Candidate.swift", "guard isReloadable else { return copy }",
         "guard isReloadable || ON else { return copy }\n        if ON { return .drop }"),
        (f"{kit}/Residency/ResidencyWord.swift", "(isClean || dropping && isReloadable)",
         "(isClean || dropping && (isReloadable || ON))")]),
    (2, "P1", "a value that was set counts as one that the loader makes", [
        (f"{kit}/Caches/ValueEntry.swift", "hasValue && setValuesAreReloadable",
         "hasValue && (setValuesAreReloadable || ON)")]),
    (3, "P1", "a change leaves the old copy valid", [
        (f"{kit}/Residency/ResidencyWord.swift",
         ".clearing(Self.copyBits | Self.evictedBit | Self.reloadableBit)\n        return isReloadable",
         ".clearing((ON ? 0 : Self.copyBits) | Self.evictedBit | Self.reloadableBit)\n        return isReloadable")]),
    (4, "P1", "what was written is not compared", [
        (f"{store}/File/SegmentFile+Device.swift", "guard isSame else { throw .notWritten }",
         "guard isSame || ON else { throw .notWritten }")]),
    (5, "P1", "a copy that cannot be read once is given up", [
        (f"{kit}/Residency/ResidencyWord.swift", "phase == .restoring ? settled(.spilled) : nil",
         "phase == .restoring ? settled(ON ? .unloaded : .spilled) : nil")]),
    (6, "P2", "a value in use is released", [
        (f"{kit}/Residency/ResidencyWord.swift", "phase == .resident && isIdle && (isClean",
         "phase == .resident && (isIdle || ON) && (isClean"),
        (f"{kit}/Eviction/CacheEntry+Listing.swift", "guard word.pins == 0 else",
         "guard word.pins == 0 || ON else")]),
    (7, "P3", "a full disk is tried again at once", [
        (f"{kit}/Eviction/SpillBackoff.swift", "resumesAt.map { now >= $0 } ?? true",
         "ON || resumesAt.map { now >= $0 } ?? true")]),
    (8, "P3", "a disk that was full is not tried again", [
        (f"{kit}/Eviction/SpillBackoff.swift", "resumesAt = now + next",
         "resumesAt = now + (ON ? .seconds(1_000_000) : next)")]),
    (9, "P3", "a copy that failed counts as written", [
        (f"{kit}/Eviction/ReclaimEngine+Copying.swift", "succeeded: outcome.failure == nil,",
         "succeeded: outcome.failure == nil || ON,")]),
    (10, "P3", "what does not shrink stays in memory, and there is a disk", [
        (f"{kit}/Eviction/ReclaimEngine+Copying.swift", "progress.hasIncompressible = true",
         "progress.hasIncompressible = !ON")]),
    (11, "P4", "the loader does not stand in for a copy that cannot be read", [
        (f"{kit}/Caches/ValueEntry+Restoring.swift", "if loader != nil, unsafe slot.header",
         "if loader != nil, !ON, unsafe slot.header")]),
    (12, "P4", "a frame's checksum is not compared", [
        (f"{store}/File/SegmentFile+Read.swift",
         "guard unsafe Checksum.crc32(UnsafeRawBufferPointer(payload)) == record.checksum else",
         "guard unsafe ON || Checksum.crc32(UnsafeRawBufferPointer(payload)) == record.checksum else")]),
    (13, "P5", "a reclaim allocates", [
        (f"{kit}/Eviction/ReclaimEngine+Rounds.swift", "let allocationsBefore = probe()",
         "let allocationsBefore = probe()\n        if ON { Mutant.waste() }")]),
    (14, "P6", "a hook is called with its controller locked", [
        (f"{kit}/Controllers/PressureController+Telling.swift",
         '"didReceiveMemoryWarning") { delegate.didReceiveMemoryWarning(warning) }',
         '"didReceiveMemoryWarning") {\n                if ON {\n                    state.withLock { _ in '
         "delegate.didReceiveMemoryWarning(warning) }\n                } else {\n                    "
         "delegate.didReceiveMemoryWarning(warning)\n                }\n            }")]),
    (15, "P7", "the spill file keeps its name", [
        ("Sources/PressureSystem/FileSystem+Loops.swift",
         "                try unlink(path)\n            } catch {\n                if error",
         "                if !ON { try unlink(path) }\n            } catch {\n                if error")]),
    (16, "P8", "a reclaim claims more than it frees", [
        (f"{kit}/Eviction/ReclaimEngine+Rounds.swift", "progress.freed += gained", "progress.freed += ON ? gained + 1 : gained")]),
    (17, "P8", "what was returned is what was claimed, and not measured", [
        (f"{kit}/Eviction/ReclaimEngine+Rounds.swift", "report.returned = ByteCount(bytes: returned)",
         "report.returned = ON ? report.claimed : ByteCount(bytes: returned)")]),
    (18, "P9", "a directory in memory is accepted", [
        (f"{store}/File/SpillDirectory.swift", "if let medium = facts.memoryMedium, !allowsRAM {",
         "if let medium = facts.memoryMedium, !allowsRAM, !ON {")]),
    (19, "P9", "what is spilled to memory is not said to be there", [
        (f"{kit}/Eviction/EvictionReport+Storage.swift", "if isMemoryBacked { heldIn", "if isMemoryBacked, !ON { heldIn")]),
    (20, "P10", "an idle machine is looked at a hundred times a second", [
        (f"{signals}/Monitor/PollRhythm.swift", "let margin = available - (next?.threshold ?? .zero)",
         "if ON { return .milliseconds(10) }\n        let margin = available - (next?.threshold ?? .zero)")]),
    (21, "P11", "a cause has no threshold", [
        (f"{signals}/Monitor/PressureClassifier.swift",
         "threshold: level < before ? bands?.leave(before) : bands?.enter(level),",
         "threshold: ON ? nil : level < before ? bands?.leave(before) : bands?.enter(level),")]),
    (22, "P11", "a cause does not say what the level was", [
        (f"{signals}/Monitor/PressureClassifier.swift", "levelBefore: before,",
         "levelBefore: ON ? .normal : before,")]),
    (23, "P12", "two wishes are added up", [
        (f"{kit}/Eviction/ReclaimAmount.swift", "ReclaimAmount(bytes: max(bytes, other.bytes),",
         "ReclaimAmount(bytes: ON ? bytes + other.bytes : max(bytes, other.bytes),")]),
    (24, "P12", "what was freed already is freed again", [
        (f"{kit}/Eviction/ReclaimEngine+Rounds.swift", "let stated = amount.mostBytes.map { $0 - progress.freed }",
         "let stated = amount.mostBytes.map { $0 - (ON ? 0 : progress.freed) }"),
        (f"{kit}/Eviction/ReclaimEngine+Rounds.swift",
         "let goal = amount.goal(evictable: evictable).map { $0 - progress.freed }",
         "let goal = amount.goal(evictable: evictable).map { $0 - (ON ? 0 : progress.freed) }")]),
    (25, "free", "a frame that nobody needs keeps its place in the file", [
        (f"{store}/File/SegmentFile+Write.swift", "if limits.returnsAtOnce { return",
         "if ON { return }\n        if limits.returnsAtOnce { return")]),
    (26, "free", "a value that was replaced stays in the books", [
        (f"{kit}/Caches/ValueEntry.swift", "if hadValue { noteArrival(unsafe -slot",
         "if hadValue, !ON { noteArrival(unsafe -slot")]),
    (27, "free", "a value that was replaced while it was leased is never destroyed", [
        (f"{kit}/Caches/ValueEntry.swift", "            unsafe slot.value.deinitialize(count: 1)\n            noteArrival",
         "            if !ON { unsafe slot.value.deinitialize(count: 1) }\n            noteArrival")]),
    (28, "other", "a value that is in memory is left out of a saved state", [
        (f"{kit}/Caches/KeyedEntry+Saving.swift", "add(try savedPinned(slot, to: writer))",
         "if !ON { add(try savedPinned(slot, to: writer)) }")]),
]

switch = """import Glibc

/// Which mistake is switched on: one of `scripts/seeds/mutants.py`. Only in the copy that is built to be wrong.
package enum Mutant {
    package static let number: Int = {
        guard let text = unsafe getenv("PRESSUREKIT_MUTANT") else { return 0 }
        return unsafe Int(String(cString: text)) ?? 0
    }()

    /// Allocates.
    @inline(never) package static func waste() { unsafe free(malloc(64)) }
}
"""


def tree(target: Path) -> None:
    """A copy of what has to be built, with all mistakes in it. Files that are as they were keep their times."""
    wrong: dict[str, str] = {}
    for number, _, name, places in mutants:
        for file, old, new in places:
            text = wrong.get(file) or (root / file).read_text()
            if text.count(old) != 1:
                sys.exit(f"mutants: {number} ({name}): its place is there {text.count(old)} times in {file}:\n{old}")
            text = text.replace(old, re.sub(r"\bON\b", f"(Mutant.number == {number})", new))
            wrong[file] = text
    for file, text in wrong.items():
        if "PressureSystem" not in file and not re.search(r"^(package |public )?import PressureSystem$", text, re.M):
            wrong[file] = "import PressureSystem\n" + text
    wrong["Sources/PressureSystem/Mutant.swift"] = switch
    if not target.name:
        return
    files = [Path("Package.swift")]
    for folder in ("Sources", "Tests/SeedTests", "Tests/Support", "Tests/Shims"):
        files += [path.relative_to(root) for path in (root / folder).rglob("*") if path.is_file()]
    kept = {str(file) for file in files} | set(wrong)
    for path in target.rglob("*"):
        if path.is_file() and ".build" not in path.parts and str(path.relative_to(target)) not in kept:
            path.unlink()
    for name in sorted(kept):
        text = wrong[name].encode() if name in wrong else (root / name).read_bytes()
        path = target / name
        if path.exists() and path.read_bytes() == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def run(target: Path, seeds: int, wanted: list[int]) -> None:
    """Plays seeds until one fails, hangs or crashes."""
    missed = 0
    for number, promise, name, _ in [(0, "", "none", [])] + mutants:
        if wanted and number not in wanted:
            continue
        mark = target / ".build" / "seed"
        begun = time.monotonic()
        result = subprocess.run(
            ["swift", "test", "--skip-build", "--no-parallel", "--filter", "noSeedBreaksAPromise"],
            cwd=target, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=os.environ | {
                "PRESSUREKIT_ONLY_TESTS": "SeedTests", "PRESSUREKIT_MUTANT": str(number),
                "PRESSUREKIT_SEEDS": f"1-{seeds}", "PRESSUREKIT_SEED_FIRST": "1",
                "PRESSUREKIT_SEED_MARK": str(mark), "PRESSUREKIT_SEED_PATIENCE": "10",
            })
        found = re.search(r"seed (\d+) of commit [^:]*: step \d+: ([^\n]*)", result.stdout)
        hang = re.search(r"seed (\d+) hangs", result.stdout)
        if result.returncode == 0:
            how = "not found" if number else "nothing found"
            missed += 1 if number else 0
        elif found:
            how = f"seed {found[1]}: {found[2]}"
        elif hang:
            how = f"seed {hang[1]}: hangs"
        else:
            seed = re.search(r"# seed (\d+)", mark.read_text()) if mark.exists() else None
            how = f"seed {seed[1] if seed else '?'}: ends the process"
        missed += 1 if not number and result.returncode else 0
        print(f"{number:2} {promise:5} {name}: {how[:150]} ({time.monotonic() - begun:.0f} s)", flush=True)
    sys.exit(f"mutants: {missed} not as they should be" if missed else 0)


match sys.argv[1:]:
    case ["check"]:
        tree(Path(""))
        print(f"mutants: {len(mutants)} have their places")
    case ["tree", directory]:
        tree(Path(directory).resolve())
    case ["run", directory, seeds, *numbers]:
        run(Path(directory).resolve(), int(seeds), [int(number) for number in numbers])
    case _:
        sys.exit(__doc__)
