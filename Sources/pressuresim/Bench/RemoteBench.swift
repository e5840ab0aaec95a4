#if Redis
import PressureKit
import SampleContent

/// How fast values go to a server and come back: what `pressuresim remote --measure` prints, to be held against
/// `redis-benchmark` on the same machine.
struct RemoteBench {
    /// One size of values.
    struct Row: Encodable {
        var valueBytes: Int
        /// Whether a loader makes the values again, so that they are not read back.
        var isReloadable: Bool
        /// Plain bytes a second, and values a second.
        var bytesPerSecond: Double
        var valuesPerSecond: Double
        /// Half of the restores took no longer.
        var restoreMicroseconds: Double
    }

    /// Compressed values that come back.
    struct Restore: Encodable {
        var valueBytes: Int
        /// What deflate makes of one, the median: what `GET` is to be asked for.
        var deflatedBytes: Double
        /// Half of them took no longer.
        var restoreMicroseconds: Double
        /// The same of inflating alone, into memory that is there already.
        var inflateMicroseconds: Double
    }

    /// Values that go to the disk, in a process that has a server as well, and in one that has none.
    struct Relief: Encodable {
        /// Plain bytes a second, the medians of turns.
        var bytesPerSecond: Double
        var bytesPerSecondWithoutServer: Double
    }

    /// All that is measured.
    struct Figures: Encodable {
        var rows: [Row]
        var restore: Restore
        var relief: Relief
    }

    var remote: RemoteSpill

    /// Measures all sizes. Blocks.
    func run() throws -> Figures {
        let rows = try [(64 << 10, 4096), (1 << 10, 131_072)].flatMap { size, count in
            try [true, false].map { try measure(size, count: count, isReloadable: $0) }
        }
        return Figures(
            rows: rows,
            restore: try restore(64 << 10, count: 2048),
            relief: try relief(64 << 10, count: 4096, turns: 9)
        )
    }

    private func manager(
        _ compression: CompressionChoice,
        server: RemoteSpill?,
        replacesDisk: Bool = true
    ) throws -> (PressureManager, PressureController) {
        var configuration = PressureConfiguration()
        configuration.sources = []
        configuration.remote = server
        configuration.remote?.replacesDisk = replacesDisk
        configuration.supportedDispositions = [.keep, .spill]
        configuration.compression = compression
        let manager = try PressureManager(configuration: configuration)
        let controller = PressureController("bench")
        try manager.root.addChild(controller)
        return (manager, controller)
    }

    private static func value(_ content: some ContentSource, _ size: Int, _ key: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        var span = bytes.mutableSpan
        // Only bytes, whatever they are, is what an array of bytes holds.
        var raw = unsafe span.mutableBytes
        try content.fill(&raw, index: key)
        return bytes
    }

    private func restore(_ size: Int, count: Int) throws -> Restore {
        let (manager, controller) = try manager(.deflate, server: remote)
        let content = TextContent(seed: 7)
        let cache: KeyedCache<Int, [UInt8]> = try controller.keyedCache("values")
        for key in 0..<count { cache.set(try Self.value(content, size, key), for: key) }
        _ = manager.warnAndWait(.critical, freeing: nil, source: "bench")
        let deflater = BenchDeflater()
        var plain = [UInt8](repeating: 0, count: size)
        var (lengths, restores, inflates): ([Double], [Double], [Double]) = ([], [], [])
        for key in stride(from: 0, to: count, by: 2) {
            restores.append(try BenchTiming.seconds { try cache.loadIfNeeded(for: key) })
            let value = try Self.value(content, size, key)
            // Both outlive the calls; `plain` is as long as the value.
            unsafe value.withUnsafeBytes { value in
                let deflated = unsafe deflater.deflate(value)
                lengths.append(Double(deflated.count))
                unsafe plain.withUnsafeMutableBytes { plain in
                    inflates.append(BenchTiming.seconds { unsafe deflater.inflate(deflated, into: plain) })
                }
            }
        }
        manager.shutdownAndWait()
        return Restore(
            valueBytes: size,
            deflatedBytes: BenchTiming.percentile(lengths, 0.5),
            restoreMicroseconds: BenchTiming.percentile(restores, 0.5) * 1e6,
            inflateMicroseconds: BenchTiming.percentile(inflates, 0.5) * 1e6
        )
    }

    private func relief(_ size: Int, count: Int, turns: Int) throws -> Relief {
        let content = SyntheticContent(compressibility: 0, seed: 7)
        let values = try (0..<count).map { try Self.value(content, size, $0) }
        let sides = try [remote, nil].map { server in
            let (manager, controller) = try manager(.adaptive, server: server, replacesDisk: false)
            let cache: KeyedCache<Int, [UInt8]> = try controller.keyedCache("values")
            return (manager: manager, cache: cache)
        }
        var speeds: [[Double]] = [[], []]
        for _ in 0..<turns {
            for (number, side) in sides.enumerated() {
                // A copy of their own, which nobody has written yet.
                for (key, value) in values.enumerated() {
                    side.cache.set(unsafe value.withUnsafeBufferPointer { unsafe Array($0) }, for: key)
                }
                let seconds = BenchTiming.seconds {
                    _ = side.manager.warnAndWait(.critical, freeing: nil, source: "bench")
                }
                speeds[number].append(Double(size * count) / seconds)
                side.cache.removeAll()
            }
        }
        for side in sides { side.manager.shutdownAndWait() }
        return Relief(
            bytesPerSecond: BenchTiming.percentile(speeds[0], 0.5),
            bytesPerSecondWithoutServer: BenchTiming.percentile(speeds[1], 0.5)
        )
    }

    private func measure(_ size: Int, count: Int, isReloadable: Bool) throws -> Row {
        // What compressing costs is another bench; the server's own has nothing to compress either.
        let (manager, controller) = try manager(.stored, server: remote)
        let content = SyntheticContent(compressibility: 0, seed: 7)
        let make: @Sendable (Int) throws -> [UInt8] = { try Self.value(content, size, $0) }
        let cache: KeyedCache<Int, [UInt8]> =
            isReloadable ? try controller.keyedCache("values") { try make($0) } : try controller.keyedCache("values")
        for key in 0..<count {
            if isReloadable { try cache.loadIfNeeded(for: key) } else { cache.set(try make(key), for: key) }
        }
        let seconds = BenchTiming.seconds { _ = manager.warnAndWait(.critical, freeing: nil, source: "bench") }
        var times: [Double] = []
        for key in stride(from: 0, to: count, by: max(1, count / 1000)) {
            times.append(try BenchTiming.seconds { try cache.loadIfNeeded(for: key) })
        }
        manager.shutdownAndWait()
        return Row(
            valueBytes: size,
            isReloadable: isReloadable,
            bytesPerSecond: Double(size * count) / seconds,
            valuesPerSecond: Double(count) / seconds,
            restoreMicroseconds: BenchTiming.percentile(times, 0.5) * 1e6
        )
    }
}
#endif
