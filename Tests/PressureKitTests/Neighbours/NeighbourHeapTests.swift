import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureSignals
@testable import PressureSystem

/// What one of two processes below a limit has free in its heap, as the other one sees it. In virtual time.
@Suite struct NeighbourHeapTests {
    private static let limit = 128 << 20

    /// What the kernel charges to the limit: values and free heaps of both.
    private final class Charges: SignalSource {
        let name = "/limit"
        let processes = Shared<[Process]>([])

        func sample(at now: MonotonicInstant) -> SignalReading? {
            let used = processes.value.reduce(8 << 20) { $0 + $1.books.reading.resident + $1.heap.value }
            return Headroom(available: .bytes(limit - used), limit: .bytes(limit)).map {
                SignalReading(origin: .cgroup, source: name, measure: .headroom($0), takenAt: now)
            }
        }
    }

    private final class Process: Sendable {
        let books = MemoryBooks()
        let heap = Shared(0)
        let monitor: PressureMonitor
        let levels = Shared<[PressureLevel]>([])

        init(_ charges: Charges, _ board: InMemoryBoard, clock: ManualClock, tellsItsHeap: Bool) throws {
            let process = ProcessMemory(
                reclaimable: { [books] in books.reading.resident },
                heap: { [heap] in HeapReading(reclaimable: tellsItsHeap ? heap.value : 0) }
            )
            monitor = try PressureMonitor(
                sources: [charges],
                clock: clock,
                books: books,
                process: process,
                neighbours: Neighbours(on: board, books: books, process: process)
            ) { [levels] decision in levels.change { $0.append(decision.level) } }
            charges.processes.change { $0.append(self) }
        }

        /// The app takes values out of its cache; what they were made of stays in the heap.
        func takeOut(_ bytes: Int) {
            books.note(-bytes)
            heap.change { $0 += bytes }
        }
    }

    /// It could give that back at once, and will: nobody is short, and nobody has taken it.
    @Test(arguments: [true, false]) func whatANeighbourEmptiesIsNoShortage(tellsItsHeap: Bool) throws {
        let (clock, board, charges) = (ManualClock(), InMemoryBoard(), Charges())
        let pair = try (0..<2).map { _ in
            try Process(charges, board, clock: clock, tellsItsHeap: tellsItsHeap)
        }
        func pass(_ steps: Int) {
            for _ in 0..<steps {
                clock.advance(by: .milliseconds(5))
                // The other one loads and drops: who does nothing looks at nobody.
                pair[1].books.note(64 << 10)
                pair[1].books.note(-64 << 10)
                for process in pair { _ = process.monitor.drive() }
            }
        }
        pair[0].books.note(110 << 20)
        pair[1].books.note(4 << 20)
        pass(20)
        let before = try #require(pair[1].monitor.admissionRoom).surge
        for _ in 0..<22 {
            pair[0].takeOut(5 << 20)
            pass(1)
        }
        let after = try #require(pair[1].monitor.admissionRoom).surge
        // Then it goes back, which frees no more than was counted on.
        pair[0].heap.set(0)
        pass(20)
        if tellsItsHeap {
            #expect(pair[1].levels.value.isEmpty)
            #expect(after <= before, "\(before) and \(after)")
        } else {
            #expect(pair[1].levels.value.first == .critical, "or this test would say nothing")
            #expect(after > before)
        }
    }

    /// Nor may anybody count on more than the limit has.
    @Test func aNeighbourThatClaimsTooMuchIsCountedToTheLimit() throws {
        let (clock, board, charges) = (ManualClock(), InMemoryBoard(), Charges())
        let pair = try (0..<2).map { _ in try Process(charges, board, clock: clock, tellsItsHeap: true) }
        let liar = try Process(Charges(), board, clock: clock, tellsItsHeap: true)
        liar.heap.set(Self.limit / 2)
        pair[0].books.note(60 << 20)
        for _ in 0..<20 {
            clock.advance(by: .milliseconds(5))
            for process in pair + [liar] { _ = process.monitor.drive() }
        }
        let headroom = try #require(pair[1].monitor.headroom)
        #expect(headroom.available == .mebibytes(60))
        // Its 64 MiB would be more than all that is charged beside the values: 8 MiB.
        #expect(headroom.reclaimable == .mebibytes(68))
        #expect(headroom.held == .mebibytes(68))
    }
}
