import PressureKit
import SampleContent
import Synchronization

/// Reclaims: bytes freed a second, from the warning to the end.
struct ReclaimBench {
    let plan: BenchPlan
    let directory: String
    let data: BenchData
    let deflater: BenchDeflater
    let cores: Int
    let log: ReclaimLog

    func run() throws -> [BenchResult] {
        try [clean()] + compressing() + freeNow() + mixed() + stored() + [sealed()]
    }

    // MARK: Clean

    private func clean() throws -> BenchResult {
        let sizes = BenchData.sizes(of: plan.cleanBytes)
        let total = Double(sizes.reduce(0, +))
        let manager = try BenchManager.make(directory: directory, compression: .stored)
        let caches = try sizes.enumerated().map { number, size in
            try manager.root.cache("clean\(number)", initialValue: Self.touched(size))
        }
        // Written once; what comes back from the spill file keeps its copy.
        _ = try log.reclaim(manager)
        let (limit, ours) = try BenchTiming.medians(plan.rounds) {
            total / BenchPages.unmapSeconds(sizes)
        } ours: {
            for cache in caches { try cache.loadIfNeeded() }
            return try rate(log.reclaim(manager))
        }
        return BenchResult(.reclaimClean, value: ours, limit: limit)
    }

    private static func touched(_ size: Int) throws -> PageBuffer {
        try PageBuffer.make(byteCount: size) { bytes in
            for offset in stride(from: 0, to: size, by: 4096) { _ = bytes.put(UInt64(offset), at: offset, end: size) }
        }
    }

    // MARK: Dirty

    private func compressing() throws -> [BenchResult] {
        var together: [Double] = []
        let (limit, ours) = try BenchTiming.medians(plan.rounds) {
            together.append(try deflateRateOfAllCores(data.compressible))
            return deflateRate(data.compressible)
        } ours: {
            try rate(dirtyReclaim(of: data.compressible, compression: .adaptive))
        }
        return [
            BenchResult(.deflateAllCores, value: BenchTiming.percentile(together, 0.5), limit: limit),
            BenchResult(.reclaimCompressing, value: ours, limit: limit),
        ]
    }

    private func freeNow() throws -> [BenchResult] {
        try [(BenchMetric.reclaimFreeNow, true), (.reclaimFreeNowUnreloadable, false)].map { metric, isReloadable in
            let (limit, ours) = try BenchTiming.medians(plan.rounds) {
                deflateRate(data.compressible)
            } ours: {
                try rate(dirtyReclaim(of: data.compressible, compression: nil, isReloadable: isReloadable))
            }
            return BenchResult(metric, value: ours, limit: limit)
        }
    }

    private func mixed() throws -> [BenchResult] {
        var stored = 0
        let (limit, ours) = try BenchTiming.medians(plan.rounds) {
            deflateRate(data.mixed)
        } ours: {
            let report = try dirtyReclaim(of: data.mixed, compression: .adaptive)
            stored = report.stored.bytes
            return rate(report)
        }
        let plain = data.mixed.reduce(0) { $0 + $1.count }
        let lost = Double(stored - deflater.frameByteCount(of: data.mixed)) / Double(plain) * 100
        return [
            BenchResult(.reclaimMixed, value: ours, limit: limit),
            BenchResult(.reclaimMixedPointsLost, value: lost),
        ]
    }

    private func stored() throws -> [BenchResult] {
        let total = Double(data.mixed.reduce(0) { $0 + $1.count })
        return try [(BenchMetric.reclaimStored, true), (.reclaimStoredUnreloadable, false)].map {
            metric,
            isReloadable in
            let (limit, ours) = try BenchTiming.medians(plan.rounds) {
                let file = try BenchFile(directory: directory, isDirect: !isReloadable)
                let seconds = try BenchTiming.seconds {
                    var offset = 0
                    for value in data.mixed {
                        unsafe try value.withUnsafeBytes { unsafe try file.write($0, at: offset) }
                        offset += (value.count + 4095) & ~4095
                    }
                }
                return total / seconds
            } ours: {
                try rate(dirtyReclaim(of: data.mixed, compression: .stored, isReloadable: isReloadable))
            }
            return BenchResult(metric, value: ours, limit: limit)
        }
    }

    /// What sealing costs where it weighs most: nothing is compressed, so that all bytes are sealed and little else is
    /// done.
    private func sealed() throws -> BenchResult {
        guard canSeal else { return BenchResult(.reclaimSealed, value: nil) }
        // Sealing allocates: that is no news about the others.
        let log = ReclaimLog()
        let (limit, ours) = try BenchTiming.medians(plan.rounds) {
            try rate(dirtyReclaim(of: data.mixed, compression: .stored))
        } ours: {
            try rate(dirtyReclaim(of: data.mixed, compression: .stored, seals: true, log: log))
        }
        return BenchResult(.reclaimSealed, value: ours, limit: limit)
    }

    /// Frees copies of the values, none of which has a copy in the spill file yet. They can be made again, but are not
    /// dropped, or they cannot be.
    private func dirtyReclaim(
        of values: [PageBuffer],
        compression: CompressionChoice?,
        isReloadable: Bool = true,
        seals: Bool = false,
        log: ReclaimLog? = nil
    ) throws -> EvictionReport {
        let manager = try BenchManager.make(directory: directory, compression: compression, seals: seals)
        for (number, value) in values.enumerated() {
            guard isReloadable else {
                _ = try manager.root.cache("dirty\(number)", initialValue: value.withBytes(PageBuffer.init(copying:)))
                continue
            }
            let cache = try manager.root.cache(
                "dirty\(number)",
                options: .init(supportedDispositions: [.keep, .spill, .compress])
            ) {
                value.withBytes(PageBuffer.init(copying:))
            }
            try cache.loadIfNeeded()
        }
        return try (log ?? self.log).reclaim(manager)
    }

    /// What all cores would deflate if none disturbed the other.
    private func deflateRate(_ values: [PageBuffer]) -> Double {
        let total = values.reduce(0) { $0 + $1.count }
        let seconds = BenchTiming.seconds { for value in values { unsafe deflater.deflateChunks(of: value) } }
        return Double(cores) * Double(total) / seconds
    }

    /// What they deflate when all do, each a value at a time.
    private func deflateRateOfAllCores(_ values: [PageBuffer]) throws -> Double {
        let total = values.reduce(0) { $0 + $1.count }
        let next = NextIndex()
        let seconds = try BenchTiming.seconds {
            try Blocking.parallel(cores) { _ in
                let deflater = BenchDeflater()
                while true {
                    let index = next.take()
                    guard index < values.count else { return }
                    unsafe deflater.deflateChunks(of: values[index])
                }
            }
        }
        return Double(total) / seconds
    }

    private func rate(_ report: EvictionReport) -> Double { Double(report.claimed.bytes) / report.duration.seconds }
}

/// Numbers from 0 on, each taken once, by any thread.
private final class NextIndex: Sendable {
    private let next = Atomic<Int>(0)

    func take() -> Int { next.wrappingAdd(1, ordering: .relaxed).oldValue }
}
