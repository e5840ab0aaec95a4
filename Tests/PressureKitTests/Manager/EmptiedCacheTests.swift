import PressureKitTestSupport
import PressureKitTesting
import PressureSignals
import Testing

@testable import PressureKit

/// What becomes of memory that the app itself takes out of its caches: values that it invalidates stay in the heap, which the
/// system does not get back by itself. In virtual time, one thing after the other.
@Suite(.timeLimit(.minutes(2))) struct EmptiedCacheTests {
    /// A heap as the C library's: it grows with the values in it, and keeps what they leave until it is trimmed.
    private struct Heap {
        var held = 0
        /// What it has ever had.
        var length = 0
        /// What of it is in memory.
        var inMemory = 0
        var trims = 0

        mutating func hold(_ bytes: Int) {
            held = bytes
            length = max(length, bytes)
            inMemory = max(inMemory, bytes)
        }
    }

    /// What the kernel says, and what it hears.
    private final class Kernel: Sendable {
        static let limit = ByteCount.mebibytes(128)
        static let others = 8 << 20
        let source = SimulatedSource()
        let heap = Lock(Heap())
        let books = Lock<MemoryBooks?>(nil)
        let decisions = Lock<[PressureDecision]>([])

        var held: Int { books.withLock { $0?.reading.resident ?? 0 } }
        var inMemory: Int { heap.withLock { $0.inMemory + Self.others } }

        func free() -> Int {
            let held = held
            return heap.withLock { heap in
                heap.hold(held)
                return heap.length - held
            }
        }

        func tell() {
            _ = free()
            source.set(available: Self.limit - .bytes(inMemory), of: Self.limit)
        }

        func trim() {
            _ = free()
            heap.withLock { ($0.inMemory, $0.trims) = ($0.held, $0.trims + 1) }
            tell()
        }
    }

    private final class Machine: Sendable {
        static let valueSize = 32 << 10
        let clock = ManualClock()
        let kernel = Kernel()
        let manager: PressureManager
        let cache: KeyedCache<Int, [UInt8]>

        init() throws {
            let (clock, kernel, size) = (clock, kernel, Self.valueSize)
            manager = try makeManager(fileSystem: InMemoryFileSystem()) { configuration in
                configuration.clock = clock
                configuration.isSequential = true
                configuration.sources = [.simulated(kernel.source)]
                configuration.observer.decided = { decision in kernel.decisions.withLock { $0.append(decision) } }
                configuration.heap = FreeHeap(
                    clock: clock,
                    read: { kernel.free() },
                    trim: { kernel.trim() },
                    inMemory: { kernel.inMemory }
                )
            }
            cache = try manager.root.keyedCache("values") { key in
                [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: size)
            }
            let books = manager.context.books
            kernel.books.withLock { $0 = books }
            look()
        }

        var trims: Int { kernel.heap.withLock { $0.trims } }
        var held: Int { kernel.held }
        var decisions: [PressureDecision] { kernel.decisions.withLock { $0 } }

        /// A sample of what the kernel would say now, and what follows.
        func look() {
            kernel.tell()
            _ = manager.drive()
        }

        func fill(_ keys: Range<Int>) throws {
            for key in keys {
                try cache.withValue(for: key) { #expect($0.first == UInt8(truncatingIfNeeded: key)) }
                clock.advance(by: .microseconds(40))
                if key % 20 == 0 { look() }
            }
        }

        /// The app lets go of values, at a gigabyte a second.
        func empty(_ keys: Range<Int>) {
            for key in keys {
                cache.invalidate(for: key)
                clock.advance(by: .microseconds(32))
                if key % 150 == 0 { look() }
            }
        }

        func wait(_ duration: Duration) {
            for _ in 0..<20 {
                clock.advance(by: duration / 20)
                look()
            }
        }
    }

    /// Measured before: a queue that was drained, 4 MiB of values in 107 MiB of heap, rose to warning, or to critical.
    @Test func nobodyIsWarned() throws {
        let machine = try Machine()
        for _ in 0..<3 {
            try machine.fill(0..<6_000)
            #expect(machine.held > 100 << 20, "it was full")
            machine.empty(0..<6_000)
            #expect(machine.held == 0)
            machine.wait(.milliseconds(500))
        }
        #expect(machine.decisions.isEmpty, "\(machine.decisions)")
        #expect(machine.manager.level == .normal)
    }

    /// What nobody takes goes back to the system; what is taken again does not.
    @Test func whatNobodyTakesGoesBackAfterASecond() throws {
        let machine = try Machine()
        try machine.fill(0..<2_000)
        machine.empty(0..<2_000)
        machine.wait(.milliseconds(700))
        let use = try #require(machine.manager.snapshot().use)
        #expect(use.heap > .mebibytes(50) && use.values == .zero, "\(use)")
        #expect(machine.trims == 0)
        machine.wait(.milliseconds(700))
        #expect(machine.trims == 1)
        #expect(machine.manager.snapshot().use?.heap == .zero)
        machine.wait(.seconds(60))
        #expect(machine.trims == 1, "nothing is left to give")
        // Emptied and filled again within the second: the heap is what it is filled into.
        for _ in 0..<5 {
            try machine.fill(0..<2_000)
            machine.empty(0..<2_000)
            machine.wait(.milliseconds(300))
        }
        #expect(machine.trims == 1)
    }

    /// Those who share the limit do not see what is free in here, and would be warned.
    @Test func whoSharesALimitKeepsNothing() {
        let clock = ManualClock()
        let free = Lock(0)
        let heap = FreeHeap(clock: clock, read: { free.withLock { $0 } }, trim: {})
        func wantsVisit(_ values: MemoryBooks.Reading, isShared: Bool) -> Bool {
            heap.wantsVisit(beside: values, isShared: isShared)
        }
        let full = MemoryBooks.Reading(brought: 50 << 20)
        #expect(!wantsVisit(full, isShared: true))
        // A reclaim sees to what it takes itself.
        let evicted = MemoryBooks.Reading(brought: 50 << 20, returned: 20 << 20, evicted: 20 << 20)
        #expect(!wantsVisit(evicted, isShared: true) && !heap.isIdle)
        let empty = MemoryBooks.Reading(brought: 50 << 20, returned: 50 << 20, evicted: 20 << 20)
        #expect(wantsVisit(empty, isShared: false) && !heap.isIdle, "it is looked at")
        #expect(heap.reading(beside: empty).reclaimable == 30 << 20)
        #expect(wantsVisit(empty, isShared: true) && heap.isIdle, "and given back")
        free.withLock { $0 = 3 << 20 }
        heap.look { empty }
        #expect(heap.reading(beside: empty).reclaimable == 3 << 20, "large blocks went by themselves")
        #expect(!wantsVisit(empty, isShared: true) && !heap.isIdle, "which is not worth it")
    }

    /// What makes it so is held by `whatTheAppTakesOutIsNoSurge` and `whatIsFreeInTheHeapGoesBeforeValues`; here all of it together.
    @Test func itIsFilledAgainAsFarAsBefore() throws {
        let machine = try Machine()
        // At first a surge of others is expected; by then it is known that there is none.
        machine.wait(.seconds(300))
        try machine.fill(0..<3_400)
        let before = machine.held
        #expect(before == 3_400 * Machine.valueSize)
        machine.empty(0..<3_400)
        machine.wait(.milliseconds(50))
        try machine.fill(0..<3_400)
        #expect(machine.held == before)
        let admission = machine.manager.snapshot().admission
        #expect(admission.freedInBackground == .zero && admission.overdrawn == 0, "\(admission)")
    }
}
