import PressureKit
import Synchronization

/// Memory taken by `fill` steps, for as long as the timeline wants it.
final class MemoryFill: Sendable {
    /// One mapping each; small steps, so that a level that is reached stops the filling soon.
    private static let chunk = 4 << 20
    /// Never go below this much available memory, whatever the scenario asks for.
    static let floor = ByteCount.mebibytes(192)

    private let buffers = Lock<[PageBuffer]>([])
    private let peak = Atomic<Int>(0)

    /// The most that was held at once.
    var peakBytes: ByteCount { .bytes(peak.load(ordering: .relaxed)) }

    /// How a fill ended.
    enum End: Hashable, Sendable {
        /// The level was reached.
        case reached
        /// All that the scenario allows was taken first.
        case bound
        /// The machine had too little left first.
        case floor
    }

    /// Takes memory until the level is reached, the bound is, or too little is left. Blocking.
    func fill(_ spec: FillSpec, level: () -> PressureLevel) -> End {
        let clock = SystemClock()
        let start = clock.now()
        let before = heldBytes
        while level() < spec.level {
            let held = heldBytes
            guard held + Self.chunk <= spec.atMost.bytes else { return settle(spec, level) }
            if let available = ProcessMemory.available, available < Self.floor { return .floor }
            if let available = ProcessMemory.containerAvailable, available < Self.floor { return .floor }
            take()
            let due = Duration.nanoseconds(Int64(Double(held + Self.chunk - before) / spec.rate * 1e9))
            let early = due - (clock.now() - start)
            if early > .zero { Pause.sleep(early) }
        }
        return .reached
    }

    private var heldBytes: Int { buffers.withLock { $0.count * Self.chunk } }

    /// Gives everything back.
    func release() { buffers.withLock { $0 = [] } }

    /// The bound is taken; the monitor may need one more look to see it. Its slowest poll takes 5 s.
    private func settle(_ spec: FillSpec, _ level: () -> PressureLevel) -> End {
        for _ in 0..<60 {
            if level() >= spec.level { return .reached }
            Pause.sleep(.milliseconds(100))
        }
        return .bound
    }

    private func take() {
        var buffer = PageBuffer(byteCount: Self.chunk)
        // A byte in each page makes the kernel provide it.
        buffer.write { bytes in
            for offset in stride(from: 0, to: bytes.byteCount, by: 4096) {
                bytes.storeBytes(of: UInt8(truncatingIfNeeded: offset >> 12 | 1), toByteOffset: offset, as: UInt8.self)
            }
        }
        let held = buffers.withLock { buffers in
            buffers.append(buffer)
            return buffers.count * Self.chunk
        }
        if held > peak.load(ordering: .relaxed) { peak.store(held, ordering: .relaxed) }
    }
}
