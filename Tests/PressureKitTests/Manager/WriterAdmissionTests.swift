import PressureKitTestSupport
import PressureKitTesting
import SystemPackage
import Testing

@testable import PressureKit

/// What the app made itself is in memory already: its maker is slowed down.
@Suite(.timeLimit(.minutes(5))) struct WriterAdmissionTests {
    typealias Bank = AdmissionTests.Bank

    /// In a task too.
    @Test(arguments: [false, true]) func whoSetsAValueWaitsForItsRoom(inTask: Bool) async throws {
        let bank = Bank(room: .mebibytes(10)) { _ in nil }
        let admission = bank.admission(patience: .seconds(3600))
        let ended = Shared(0)
        let set = { @Sendable in
            for _ in 0..<2 {
                admission.books.note(8 << 20)
                admission.arrived(8 << 20)
                ended.change { $0 += 1 }
            }
        }
        if inTask { Task.detached(operation: set) } else { try WorkerThread.spawn("setter") { set() } }
        while bank.wanted.isEmpty { await Task.yield() }
        #expect(bank.wanted == [.mebibytes(6)])
        #expect(ended.value == 1, "the second waits")
        // Whoever gives something back.
        admission.books.note(-(8 << 20))
        while ended.value < 2 { await Task.yield() }
        #expect(admission.counts.reclaimed == 1)
    }

    /// What is appended in place is as much there as what is set.
    @Test func whoLetsAValueGrowWaitsForItsRoom() async throws {
        let manager = try makeManager()
        let admission = manager.context.admission
        let lazy = try manager.root.cache("lazy") { [UInt8]() }
        let keyed = try manager.root.keyedCache("keyed") { (_: Int) in [UInt8]() }
        let asyncLazy = try manager.root.cache("async lazy") { () async in [UInt8]() }
        let asyncKeyed = try manager.root.keyedCache("async keyed") { (_: Int) async in [UInt8]() }
        try lazy.loadIfNeeded()
        try keyed.loadIfNeeded(for: 1)
        try await asyncLazy.loadIfNeeded()
        try await asyncKeyed.loadIfNeeded(for: 1)
        let wanted = Shared<[ByteCount]>([])
        let available = Shared(10 << 20)
        let room = { @Sendable in AdmissionRoom(bytes: available.value, takenAt: admission.clock.now()) }
        admission.connect(
            Admission.Supply(
                room: room,
                refresh: room,
                reclaim: { bytes, done in
                    wanted.change { $0.append(bytes) }
                    admission.books.note(-bytes.bytes)
                    done(bytes)
                }
            )
        )
        let fails = Shared(false)
        func grow(_ value: inout [UInt8]) throws {
            // Into nothing that was reserved.
            value = [UInt8](repeating: 1, count: value.count + (12 << 20))
            if fails.value { throw Errno.ioError }
        }
        let updates: [(String, () async throws -> Void)] = [
            ("lazy", { try lazy.update(grow) }),
            ("lazy, or a default", { try lazy.update(default: [], grow) }),
            ("keyed", { try keyed.update(for: 1, grow) }),
            ("keyed, or a default", { try keyed.update(for: 1, default: [], grow) }),
            ("async lazy", { try await asyncLazy.update(grow) }),
            ("async lazy, or a default", { try await asyncLazy.update(default: [], grow) }),
            ("async keyed", { try await asyncKeyed.update(for: 1, grow) }),
            ("async keyed, or a default", { try await asyncKeyed.update(for: 1, default: [], grow) }),
            ("a copy, since somebody reads", { try keyed.withValue(for: 1) { _ in try keyed.update(for: 1, grow) } }),
        ]
        for (name, update) in updates {
            wanted.change { $0 = [] }
            try await update()
            #expect(wanted.value.count == 1, "\(name)")
        }
        // What it brought before it failed is there.
        fails.set(true)
        for (name, update) in updates.dropLast() {
            wanted.change { $0 = [] }
            available.set(admission.books.reading.resident)
            await #expect(throws: Errno.ioError) { try await update() }
            #expect(wanted.value.count == 1, "\(name)")
        }
        let copying = try #require(updates.last)
        wanted.change { $0 = [] }
        available.set(admission.books.reading.resident)
        await #expect(throws: Errno.ioError) { try await copying.1() }
        #expect(wanted.value == [], "a copy that failed is gone")
        fails.set(false)
        wanted.change { $0 = [] }
        try keyed.update(for: 1) { $0[0] = 2 }
        try keyed.update(for: 1) { $0 = [] }
        #expect(wanted.value == [], "what stays as large or shrinks waits for nothing")
        try keyed.update(for: 1) { $0.reserveCapacity(64 << 20) }
        wanted.change { $0 = [] }
        available.set(admission.books.reading.resident - (1 << 20))
        try keyed.update(for: 1) { $0 += [UInt8](repeating: 1, count: 32 << 20) }
        #expect(wanted.value.count == 1, "what was reserved is memory once it is written to")
    }
}
