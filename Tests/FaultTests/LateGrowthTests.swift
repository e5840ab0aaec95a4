import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

/// A value that is changed after a reclaim has looked at its size, and before its copy has begun.
@Suite struct LateGrowthTests {
    /// A value that is small when the reclaim looks at it and large, or empty, when its turn has come.
    final class ShiftingEntry: ValueEntry<[UInt8]>, @unchecked Sendable {
        // Sendable: as its superclass; the rest is behind a lock.
        let slot = Slot<[UInt8]>.allocate()
        private let shift = Lock<(looks: Int, value: [UInt8])?>(nil)
        let hasShifted = Atomic<Bool>(false)

        init(_ value: [UInt8], controller: PressureController, then later: [UInt8], afterLooks looks: Int) {
            super.init(name: "shifting", hasLoader: false, host: controller)
            fill(slot, with: value, ValueSize(value))
            finishMutation(slot, hasValue: true)
            shift.withLock { $0 = (looks, later) }
        }

        deinit {
            clear(slot)
            slot.deallocate()
        }

        override func plainByteCount(_ slot: UnsafeMutableRawPointer) -> Int {
            defer { look() }
            return unsafe super.plainByteCount(slot)
        }

        private func look() {
            let later = shift.withLock { shift -> [UInt8]? in
                guard let next = shift else { return nil }
                shift = next.looks > 1 ? (next.looks - 1, next.value) : nil
                return next.looks > 1 ? nil : next.value
            }
            // A writer of another thread, as far as the reclaim can tell.
            guard let later, unsafe slot.header.pointee.apply({ $0.beginningMutation() }) != nil else { return }
            _ = replace(in: slot, hadValue: true, with: later, ValueSize(later))
            hasShifted.store(true, ordering: .relaxed)
        }

        override func forEachSlot(_ body: (UnsafeMutableRawPointer) -> Void) { unsafe body(slot.base) }
        override var residency: Residency { unsafe slot.header.pointee.state.residency }
        override var footprint: Int { unsafe slot.header.pointee.footprint.load(ordering: .relaxed) }
        override var residentByteCount: Int { footprint }
        override var pins: Int { unsafe slot.header.pointee.state.pins }
        override var hasCopy: Bool { unsafe slot.header.pointee.state.isClean }
        override var stamp: UInt32 { unsafe slot.header.pointee.state.stamp }
    }

    @Test(arguments: [0, 1, 16 << 10, 16 << 10 | 1, 300_000, 600_000], 1...8)
    func aValueThatGrowsBeforeItsTurnIsWrittenAsItIs(_ count: Int, afterLooks looks: Int) async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let others = try (0..<3).map { try controller.cache("\($0)", initialValue: makeBytes(900, seed: UInt64($0))) }
        let later = makeBytes(count, seed: 9)
        let entry = ShiftingEntry(makeBytes(1000, seed: 8), controller: controller, then: later, afterLooks: looks)
        controller.state.withLock { state in
            // Second of them: one after the other, since there is no inserting.
            let later = Array(state.entries.dropFirst())
            for other in later { state.entries.remove(other) }
            for next in [entry] + later { state.entries.append(next) }
        }
        manager.context.adopt(entry)
        _ = await manager.simulateMemoryWarning(.critical)
        _ = await manager.simulateMemoryWarning(.critical)
        let word = unsafe entry.slot.header.pointee.state
        if word.phase == .spilled {
            // Nobody else works on it.
            let byteCount = unsafe entry.slot.header.pointee.plainByteCount.load(ordering: .relaxed)
            let value = unsafe try entry.slot.copy.pointee.restore([UInt8].self, plainByteCount: byteCount)
            #expect(value == (entry.hasShifted.load(ordering: .relaxed) ? later : makeBytes(1000, seed: 8)))
        } else {
            #expect(word.isResident)
        }
        for (number, cache) in others.enumerated() {
            #expect(try await cache.value() == makeBytes(900, seed: UInt64(number)))
        }
        controller.state.withLock { _ = $0.entries.remove(entry) }
    }
}
