import Foundation
import Glibc
import PressureKitTestSupport
import Synchronization

@testable import PressureKit
@testable import PressureKitTesting
@testable import SpillStore

/// What has to be after every step, and when all is over.
extension SeedWorld {
    func check() {
        if mistake != nil { plant() }
        for home in homes {
            checkDecisions(home)
            checkNames(home, "now")
            checkBytes(home)
        }
        checkValues()
        checkHolds()
    }

    /// P1: what was set is somewhere.
    private func checkValues() {
        for (number, entry) in entries.enumerated() where entry.exact != nil && !busy.contains(number) {
            let residency = caches[entry.cache].verbs.residency(entry.key)
            if residency != .resident, residency != .spilled, residency != .compressed {
                complain(.p1, "\(name(number)) was set, and is \(residency)")
            }
        }
    }

    /// P2: what is in use is where it was.
    private func checkHolds() {
        for hold in holds {
            if !hold.hold.block.isIntact { complain(.p2, "\(name(hold.entry)) has changed while it is leased") }
            guard !hold.isDetached else { continue }
            let entry = entries[hold.entry]
            let residency = caches[entry.cache].verbs.residency(entry.key)
            if residency != .resident { complain(.p2, "\(name(hold.entry)) is \(residency) while it is leased") }
        }
    }

    /// P11: each decision says why, and begins where the one before it has ended.
    func checkDecisions(_ home: Home) {
        for decision in home.decisions {
            let cause = decision.cause
            if cause.levelBefore != home.level {
                complain(.p11, "from \(cause.levelBefore), but the level was \(home.level): \(cause)")
            }
            home.level = cause.levelAfter
            if decision.levelChanged || decision.reclaim != nil { checkNumbers(cause) }
        }
        home.decisions = []
        if home.manager.level != home.level { complain(.p11, "the level is \(home.manager.level), not \(home.level)") }
    }

    /// The mistake in the library that is switched on, in a copy that has some.
    private static let mutant = ProcessInfo.processInfo.environment["PRESSUREKIT_MUTANT"]

    /// What should be in memory: what the manager says is, and what was replaced while it was leased. Waits a moment if
    /// there is more, for a task that has handed over a value lets go of it after that.
    @discardableResult
    func letTasksEnd(_ home: Home) -> Int {
        var kept: [ObjectIdentifier: Int] = [:]
        for hold in holds where hold.isDetached && entries[hold.entry].home == home.number {
            kept[ObjectIdentifier(hold.hold.block)] = hold.hold.block.content.footprint
        }
        let expected = home.manager.tiers.resident.bytes + kept.values.reduce(0, +)
        var looks = 0
        // Its thread may get no processor for as long as a busy machine likes; a mistake that was planted is not waited for.
        let most = mistake == nil && Self.mutant == nil ? 25_000 : 20_000
        while home.live.bytes != expected, looks < most {
            if looks < 20_000 { Self.giveWay() } else { usleep(1000) }
            looks += 1
        }
        return expected
    }

    /// What is said to be free is: of memory, and of the disk.
    private func checkBytes(_ home: Home) {
        let expected = letTasksEnd(home)
        if home.live.bytes != expected {
            complain(.free, "\(home.live.bytes) bytes are in memory, \(expected) said or kept")
        }
        let booked = home.manager.context.books.reading.resident
        if booked != home.live.bytes { complain(.free, "\(home.live.bytes) bytes are in memory, \(booked) booked") }

        let engine = home.manager.context.engine
        for file in [engine.file, engine.secondary?.file].compactMap(\.self) { checkCopies(in: file, home) }
    }

    private func checkCopies(in file: SegmentFile, _ home: Home) {
        var copies: (stored: Int, count: Int) = (0, 0)
        home.manager.root.forEachEntry { entry in
            unsafe entry.forEachSlot { slot in
                let copy = unsafe entry.copy(slot).pointee
                guard unsafe entry.header(slot).pointee.state.isClean, copy.file === file else { return }
                copies.stored += copy.storedByteCount
                copies.count += copy.chunkCount
            }
        }
        if file.fileSystem.server != nil { counts.onServer += copies.count }
        let usage = file.usage()
        // Of a value that was replaced while somebody has it the copy goes with the last who has it.
        let isKept = holds.contains { $0.isDetached && entries[$0.entry].home == home.number }
        if !isKept ? usage.storedBytes != copies.stored : usage.storedBytes < copies.stored {
            complain(.free, "copies of \(copies.stored) bytes, but \(usage.storedBytes) stored")
        }
        if !isKept, usage.frames != copies.count {
            complain(.free, "\(copies.count) copies, but \(usage.frames) frames")
        }
        // The holes may not have been made yet, and the file says so.
        if let allocated = usage.allocatedBytes, allocated > usage.occupiedBytes + usage.pendingBytes {
            complain(
                .free,
                "\(allocated) bytes on the disk, \(usage.occupiedBytes) in use, \(usage.pendingBytes) to be given back"
            )
        }
    }

    /// Every value there is, byte by byte, wherever it is. The disk is sound for as long as that takes: what it lost is
    /// lost, and what it only refuses to read is not.
    func audit() {
        for home in homes {
            home.disk.faulty.set(nil)
            home.disk.faulty.writeBack()
        }
        var found: Set<Int> = []
        for cache in caches {
            cache.verbs.audit { result in
                switch result {
                case .failure(let error):
                    guard !cache.hasLoader else { return }
                    complain(.p1, "\(cache.entry.path) cannot be read on a sound disk: \(error)")
                case .success(let block):
                    let number = Int(block.content.owner)
                    guard entries.indices.contains(number), cache.keys.contains(number - cache.firstEntry) else {
                        return complain(.p4, "\(cache.entry.path) has a value of number \(number)")
                    }
                    found.insert(number)
                    if !busy.contains(number) { judge(block, number, "audit") }
                }
            }
        }
        for (number, entry) in entries.enumerated() where entry.exact != nil && !busy.contains(number) {
            if !found.contains(number), !caches[entry.cache].hasLoader {
                complain(.p1, "\(name(number)) was set, and is nowhere")
            }
        }
        for home in homes { home.disk.faulty.set(home.rule) }
    }

    /// The end: with sound disks everything is there, may leave and come back, and leaves nothing behind.
    func settle() {
        step += 1
        note("the end")
        finishLoads()
        holds = []
        (loaderDelay, loaderCallsBack) = (0, nil)
        for home in homes {
            heal(home)
            home.disk.latency.store(0, ordering: .relaxed)
            home.disk.faulty.writeBack()
        }
        for node in nodes { (node.delegate.mood, node.delegate.veto, node.delegate.preferred) = (0, 10, nil) }
        for number in entries.indices { entries[number].failures = 0 }
        audit()
        clock.advance(by: .seconds(121))
        for number in homes.indices {
            homes[number].soundSince = nil
            // The first may have to say what was lost before.
            reclaim(number, SeedReclaim(level: .critical))
        }
        clock.advance(by: .seconds(121))
        for number in homes.indices { checkRetried(number, reclaim(number, SeedReclaim(level: .critical))) }
        check()
        for number in entries.indices where entries[number].exact != nil || caches[entries[number].cache].hasLoader {
            read(number)
        }
        check()
        for number in entries.indices { invalidate(number) }
        check()
        for home in homes { checkNothingLeft(home) }
        if !complaints.isEmpty { return }
        close()
    }

    /// P3: what could not be written is tried again, and goes.
    private func checkRetried(_ number: Int, _ report: EvictionReport) {
        let liars = entries.contains { $0.home == number && !$0.lie.isWritable }
        // What has no room in pieces goes to the server.
        let failures = report.failures.filter { setting.server == 0 || $0.code != .diskFull }
        if !liars, !failures.isEmpty { complain(.p3, "failures on a sound disk: \(failures)") }
        for (index, entry) in entries.enumerated() where entry.home == number && entry.lie.isWritable {
            let cache = caches[entry.cache]
            guard cache.allowed.contains(.spill), cache.verbs.residency(entry.key) == .resident else { continue }
            complain(.p3, "\(name(index)) stays in memory on a sound disk: \(report.skipped.map(\.reason))")
        }
    }

    private func checkNothingLeft(_ home: Home) {
        let engine = home.manager.context.engine
        engine.file.punchPending()
        engine.memory?.punchPending()
        engine.secondary?.file.punchPending()
        if home.live.bytes != 0 { complain(.free, "\(home.live.bytes) bytes of values are left in memory") }
        for file in [engine.file, engine.memory, engine.secondary?.file].compactMap(\.self) {
            let usage = file.usage()
            let left = [
                usage.frames, usage.plainBytes, usage.storedBytes, usage.occupiedBytes, usage.pendingBytes,
                usage.fileBytes, usage.allocatedBytes ?? 0,
            ]
            if left.contains(where: { $0 != 0 }) { complain(.free, "left when all values are gone: \(left)") }
        }
    }
}
