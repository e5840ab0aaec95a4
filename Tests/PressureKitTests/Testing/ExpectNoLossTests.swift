import Glibc
import PressureKit
import PressureKitTesting
import Synchronization
import Testing

/// Public interface only, as an app's own tests have it.
@Suite struct ExpectNoLossTests {
    private struct Note: Codable, Sendable, Equatable {
        var text: String
        var tags: [String: Int]
    }

    @Test func whatIsSpilledAndDroppedIsNoLossAndStaysWhereItIs() async throws {
        let manager = try PressureManager(configuration: .testing())
        let shelf = PressureController("shelf")
        try manager.root.addChild(shelf)
        let kept = try shelf.cache("kept", initialValue: [UInt8](repeating: 3, count: 100_000))
        let made = try shelf.cache("made") { [Float](repeating: 1, count: 50_000) }
        let note = try shelf.cache("note", initialValue: Coded(Note(text: "hm", tags: ["b": 2, "a": 1, "c": 3])))
        let pages = try shelf.keyedCache("pages", key: Int.self, value: [UInt8].self)
        try made.loadIfNeeded()
        for key in 0..<20 { pages.set([UInt8](repeating: UInt8(key), count: 5_000), for: key) }

        let report = try await expectNoLoss(in: manager) { await manager.simulateMemoryWarning(.critical) }
        #expect(report.evictedCount == 23)
        #expect(kept.residency == .spilled && note.residency == .spilled && pages.residency(for: 7) == .spilled)
        // Once more, from copies alone.
        try await expectNoLoss(in: shelf) { #expect(kept.residency == .spilled) }
        #expect(kept.residency == .spilled && pages.residency(for: 7) == .spilled)
    }

    @Test func whatIsCompressedStaysCompressed() async throws {
        let manager = try PressureManager(configuration: .testing(disk: InMemoryFileSystem(capacity: .zero)))
        let blank = try manager.root.cache("blank", initialValue: [UInt8](repeating: 0, count: 1 << 20))
        try await expectNoLoss(in: manager) { await manager.simulateMemoryWarning(.critical) }
        #expect(blank.residency == .compressed)
        try await expectNoLoss(in: manager) {}
        #expect(blank.residency == .compressed)
    }

    @Test func aLighterAlternateIsNoLoss() async throws {
        let clock = ManualClock()
        let marbles = MarbleSource("nccc", clock: clock)
        let manager = try PressureManager(configuration: .testing(clock: clock, sources: [marbles.pressureSource]))
        let picture = try manager.root.cache(
            "picture",
            alternateFrom: .warning,
            alternate: { [UInt8](repeating: 1, count: 1_000) },
            loader: { [UInt8](repeating: 2, count: 100_000) }
        )
        try picture.loadIfNeeded()
        try await expectNoLoss(in: manager) {
            await manager.play(marbles)
            try picture.invalidate()
            try picture.loadIfNeeded()
            #expect(picture.variant == .alternate)
        }
    }

    @Test func everyLostValueIsNamedWithWhatIsWrong() async throws {
        let disk = InMemoryFileSystem()
        let manager = try PressureManager(configuration: .testing(disk: disk))
        let shelf = PressureController("shelf")
        try manager.root.addChild(shelf)
        let gone = try shelf.cache("gone", initialValue: [UInt8](repeating: 1, count: 10_000))
        let pages = try shelf.keyedCache("pages", key: Int.self, value: [UInt8].self)
        pages.set([1, 2, 3], for: 5)
        let changed = try shelf.cache("changed", initialValue: "before")
        let rebuilt = try shelf.cache("rebuilt", options: .init(supportedDispositions: [.keep, .spill])) {
            [UInt8](repeating: 9, count: 9_000)
        }
        try rebuilt.loadIfNeeded()

        let lost = try #require(
            await #expect(throws: LostValues.self) {
                try await expectNoLoss(in: manager) {
                    try changed.update { $0 += "!" }
                    await manager.simulateMemoryWarning(.critical)
                    disk.damageEverything()
                }
            }
        )
        #expect(lost.compared == 4)
        #expect(Set(lost.losses.map(\.path)) == ["shelf/gone", "shelf/pages[5]", "shelf/changed"])
        // A damaged copy is noticed; the loader makes what it held.
        #expect(rebuilt.isLoaded)
        #expect("\(lost)".contains("3 of 4 values lost:\n  shelf/gone cannot be read: damagedCopy at shelf/gone"))
        #expect(throws: PressureError.self) { try gone.value() }
    }

    @Test func aChangedValueIsNamedWithBothSizes() async throws {
        let manager = try PressureManager(configuration: .testing())
        let title = try manager.root.cache("title", initialValue: "short")
        await #expect(throws: LostValues.self) { try await expectNoLoss(in: manager) { try title.set("longer") } }
        let counter = Counter()
        let odd = try manager.root.cache("odd") { [UInt8](repeating: counter.next(), count: 64) }
        try odd.loadIfNeeded()
        let lost = await #expect(throws: LostValues.self) {
            try await expectNoLoss(in: manager) { try odd.invalidate() }
        }
        #expect(lost?.losses.map(\.reason) == [.changed(from: ByteCount(bytes: 64), to: ByteCount(bytes: 64))])
        #expect(lost?.description == "1 of 2 values lost:\n  odd has other bytes than before (64 B)")
    }

    /// Writes a set in the order in which it happens to be.
    private struct Unordered: EncodedSpillable {
        var numbers: Set<Int>

        init(_ numbers: some Sequence<Int>, room: Int) {
            self.numbers = Set(minimumCapacity: room)
            for number in numbers { self.numbers.insert(number) }
        }

        func writeSpillBytes(to writer: SpillWriter) throws { for number in numbers { try writer.write(number) } }

        init(spillBytes: RawSpan) throws {
            let numbers = (0..<spillBytes.byteCount / 8).map { index in
                // Every eight bytes are a number.
                unsafe spillBytes.unsafeLoadUnaligned(fromByteOffset: index * 8, as: Int.self)
            }
            self.init(numbers, room: 0)
        }
    }

    @Test func bytesThatComeInAnotherOrderAreNoLossAndSaySo() async throws {
        let manager = try PressureManager(configuration: .testing())
        _ = try manager.root.cache("odd", initialValue: Unordered(0..<500, room: 5_000))
        _ = try manager.root.cache("even", initialValue: "even")
        let lost = await #expect(throws: LostValues.self) {
            try await expectNoLoss(in: manager) { await manager.simulateMemoryWarning(.critical) }
        }
        #expect(lost?.losses.map(\.reason) == [.unstable(ByteCount(bytes: 4_000))])
        #expect(
            lost?.description == """
                1 of 2 values cannot be compared:
                  the bytes of odd differ from one time to the next (3.9 KiB): write a Set or Dictionary in order
                """
        )
    }

    @Test func whatTheBodyThrowsComesFirst() async throws {
        struct Mishap: Error {}
        let manager = try PressureManager(configuration: .testing())
        let title = try manager.root.cache("title", initialValue: "short")
        await #expect(throws: Mishap.self) {
            try await expectNoLoss(in: manager) {
                try title.invalidate()
                throw Mishap()
            }
        }
    }

    @Test func noFailingWriteLosesAValue() async throws {
        let runs = try await FaultyFileSystem.forEachCall(failingWith: .error(EIO), on: .write) { disk in
            // On a disk that fails at once there is none.
            guard let manager = try? PressureManager(configuration: .testing(disk: disk)) else { return }
            for name in ["a", "b", "c"] {
                _ = try manager.root.cache(name, initialValue: [UInt8](repeating: 7, count: 400_000))
            }
            try await expectNoLoss(in: manager) { await manager.simulateMemoryWarning(.critical) }
        }
        #expect(runs >= 3)
    }

    private final class Counter: Sendable {
        private let count = Atomic<UInt8>(0)

        func next() -> UInt8 { count.wrappingAdd(1, ordering: .relaxed).newValue }
    }
}
