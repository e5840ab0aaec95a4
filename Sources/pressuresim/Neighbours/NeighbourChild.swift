import Foundation
import PressureKit
import SampleContent
import Synchronization

/// A process below a limit that others are below too: reads values that can be made again, and keeps some that cannot, until its
/// input ends.
struct NeighbourChild: Sendable {
    static let valueSize = 64 << 10
    /// How many cannot be made again.
    private static let kept = 16

    /// How many values can be made again.
    var values: Int
    var seed: UInt64
    /// Reads a second, once all have been read; 0 for none.
    var rate: Int

    private func bytes(_ key: Int) -> [UInt8] {
        var random = SplitMix64(seed: seed, stream: UInt64(bitPattern: Int64(key)))
        // Half noise, so that copies are as large as those of real values.
        return (0..<Self.valueSize / 8).flatMap { index -> [UInt8] in
            let word = index % 2 == 0 ? random.next() : 0
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
        }
    }

    /// Suspends until the input ends; prints a line when all has been read once, and at the end how many values were lost.
    func run() async throws {
        let manager = try PressureManager()
        let tiles = try manager.root.keyedCache("tiles") { key in bytes(key) }
        let notes = try manager.root.keyedCache("notes", key: Int.self, value: [UInt8].self)
        let running = Task { try await manager.run() }
        let lost = try await Blocking.run("neighbour") { () -> Int in
            while manager.snapshot().available == nil { Pause.sleep(.milliseconds(1)) }
            for key in 0..<Self.kept { notes.set(bytes(-1 - key), for: key) }
            for key in 0..<values { try tiles.loadIfNeeded(for: key) }
            try Self.tell("ready")
            let isEnding = Flag()
            try WorkerThread.spawn("input") {
                while readLine() != nil {}
                isEnding.raise()
            }
            var random = SplitMix64(seed: seed)
            var lost = 0
            while !isEnding.isRaised {
                guard rate > 0 else {
                    Pause.sleep(.milliseconds(5))
                    continue
                }
                let key = Int(random.next() % UInt64(values))
                if try tiles.withValue(for: key, { $0.count }) != Self.valueSize { lost += 1 }
                Pause.sleep(.nanoseconds(1_000_000_000 / Int64(rate)))
            }
            for key in 0..<Self.kept where try notes.withValue(for: key, { $0 != bytes(-1 - key) }) { lost += 1 }
            for key in stride(from: 0, to: values, by: 7) where try tiles.withValue(for: key, { $0 != bytes(key) }) {
                lost += 1
            }
            return lost
        }
        running.cancel()
        await manager.shutdown()
        try Self.tell("\(lost)")
    }

    private static func tell(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }

    private final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isRaised: Bool { value.load(ordering: .relaxed) }
        func raise() { value.store(true, ordering: .relaxed) }
    }

    /// Another program: takes so many bytes at 200 MB/s, and keeps them until its input ends.
    static func take(_ bytes: Int) throws {
        var pages = HogPages(.compressible)
        let clock = SystemClock()
        let start = clock.now()
        let step = 1 << 20
        for taken in stride(from: step, through: bytes, by: step) {
            pages.take(step)
            let due = start + .seconds(Double(taken) / 200e6)
            let now = clock.now()
            if due > now { Pause.sleep(due - now) }
        }
        try tell("ready")
        while readLine() != nil {}
        withExtendedLifetime(pages) {}
        try tell("0")
    }
}
