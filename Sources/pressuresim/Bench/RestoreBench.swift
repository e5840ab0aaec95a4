import PressureKit
import SampleContent

/// Restores: the time of an access to a value that has been spilled, one at a time.
struct RestoreBench {
    let plan: BenchPlan
    let directory: String
    let data: BenchData
    let deflater: BenchDeflater
    let log: ReclaimLog

    func run() throws -> [BenchResult] {
        let small = try latencies(size: 64 << 10, count: plan.smallRestores)
        let middle = try latencies(size: 1 << 20, count: plan.middleRestores)
        let large = try latencies(size: 16 << 20, count: 2)
        return [
            BenchResult(.restoreSmall, value: small.p50, limit: small.limit),
            BenchResult(.restoreSmallTail, value: small.p99, limit: small.p50),
            BenchResult(.restoreMiddle, value: middle.p50, limit: middle.limit),
            BenchResult(.restoreMiddleTail, value: middle.p99, limit: middle.p50),
            BenchResult(.restoreLarge, value: large.p50, limit: large.inflating),
            try sealed(size: 1 << 20, count: plan.middleRestores),
        ]
    }

    /// The same accesses to values that were sealed, and to values that were not, turn by turn.
    private func sealed(size: Int, count: Int) throws -> BenchResult {
        guard canSeal else { return BenchResult(.restoreSealed, value: nil) }
        let values = try data.compressible(size: size, count: count)
        let sides = try [false, true].map { seals in
            let manager = try BenchManager.make(directory: directory, compression: .deflate, seals: seals)
            let caches = try values.enumerated().map { number, value in
                try manager.root.cache("value\(number)", initialValue: value.withBytes(PageBuffer.init(copying:)))
            }
            return (manager: manager, caches: caches, log: ReclaimLog())
        }
        var random = SplitMix64(seed: 1)
        let order = (0..<count).shuffled(using: &random)
        var seconds: [[Double]] = [[], []]
        for _ in 0..<max(plan.rounds, 1) {
            for side in sides { _ = try side.log.reclaim(side.manager) }
            for index in order {
                for (number, side) in sides.enumerated() {
                    seconds[number].append(try BenchTiming.seconds { try side.caches[index].loadIfNeeded() })
                }
            }
        }
        return BenchResult(
            .restoreSealed,
            value: BenchTiming.percentile(seconds[1], 0.5),
            limit: BenchTiming.percentile(seconds[0], 0.5)
        )
    }

    /// What one size takes, in seconds: medians over the rounds.
    private struct Latencies {
        var p50 = 0.0
        var p99 = 0.0
        /// The median of reading and inflating the same values.
        var limit = 0.0
        /// The same, of inflating alone.
        var inflating = 0.0
    }

    private func latencies(size: Int, count: Int) throws -> Latencies {
        let values = try data.compressible(size: size, count: count)
        let peer = try DeflatedFile(values, directory: directory, deflater: deflater)
        let manager = try BenchManager.make(directory: directory, compression: .deflate)
        let caches = try values.enumerated().map { number, value in
            try manager.root.cache("value\(number)", initialValue: value.withBytes(PageBuffer.init(copying:)))
        }
        // Not the order they were written in, which would be read ahead.
        var random = SplitMix64(seed: 1)
        let order = (0..<count).shuffled(using: &random)
        var rounds: [Latencies] = []
        for _ in 0..<max(plan.rounds, 1) {
            _ = try log.reclaim(manager)
            var limits: [Double] = []
            var inflating: [Double] = []
            var ours: [Double] = []
            for index in order {
                let seconds = try peer.restore(index)
                limits.append(seconds.all)
                inflating.append(seconds.inflating)
                ours.append(try BenchTiming.seconds { try caches[index].loadIfNeeded() })
            }
            rounds.append(
                Latencies(
                    p50: BenchTiming.percentile(ours, 0.5),
                    p99: BenchTiming.percentile(ours, 0.99),
                    limit: BenchTiming.percentile(limits, 0.5),
                    inflating: BenchTiming.percentile(inflating, 0.5)
                )
            )
        }
        func median(_ path: KeyPath<Latencies, Double>) -> Double {
            BenchTiming.percentile(rounds.map { $0[keyPath: path] }, 0.5)
        }
        return Latencies(
            p50: median(\.p50),
            p99: median(\.p99),
            limit: median(\.limit),
            inflating: median(\.inflating)
        )
    }
}

/// Values deflated chunk by chunk into a file, and read back by one thread into one buffer that is already there: the
/// least that a restore can cost.
@safe
final class DeflatedFile {
    // Safe: both buffers live from `init` to `deinit`; chunks and values are no longer than they are.
    private struct Chunk {
        var offset: Int
        var storedByteCount: Int
        var plainByteCount: Int
    }

    private let file: BenchFile
    private let deflater: BenchDeflater
    private var chunks: [[Chunk]] = []
    private let stored: UnsafeMutableRawBufferPointer
    private let plain: UnsafeMutableRawBufferPointer

    init(_ values: [PageBuffer], directory: String, deflater: BenchDeflater) throws {
        file = try BenchFile(directory: directory)
        self.deflater = deflater
        unsafe stored = .allocate(byteCount: 2 * BenchDeflater.chunk, alignment: 4096)
        unsafe plain = .allocate(byteCount: values.map(\.count).max() ?? 0, alignment: 4096)
        unsafe plain.initializeMemory(as: UInt8.self, repeating: 0)
        var offset = 0
        for value in values {
            var own: [Chunk] = []
            var failure: (any Error)?
            unsafe deflater.deflateChunks(of: value) { count, deflated in
                do { unsafe try file.write(deflated, at: offset) } catch { failure = failure ?? error }
                own.append(Chunk(offset: offset, storedByteCount: deflated.count, plainByteCount: count))
                // As the library lays its frames: whole units.
                offset += (deflated.count + 4095) & ~4095
            }
            if let failure { throw failure }
            chunks.append(own)
        }
    }

    deinit {
        unsafe stored.deallocate()
        unsafe plain.deallocate()
    }

    /// Reads and inflates one value; the seconds of both, and of inflating alone.
    func restore(_ index: Int) throws -> (all: Double, inflating: Double) {
        var start = 0
        var reading = 0.0
        let all = try BenchTiming.seconds {
            for chunk in chunks[index] {
                let input = unsafe UnsafeMutableRawBufferPointer(rebasing: stored[..<chunk.storedByteCount])
                reading += try BenchTiming.seconds { unsafe try file.read(into: input, at: chunk.offset) }
                let output = unsafe UnsafeMutableRawBufferPointer(rebasing: plain[start..<start + chunk.plainByteCount])
                unsafe deflater.inflate(UnsafeRawBufferPointer(input), into: output)
                start += chunk.plainByteCount
            }
        }
        return (all, all - reading)
    }
}
