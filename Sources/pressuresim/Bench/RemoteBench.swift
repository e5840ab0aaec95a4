#if Redis
import Foundation
import PressureKit
import PressureSystem

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

    var remote: RemoteSpill

    /// Measures all sizes. Blocks.
    func run() throws -> [Row] {
        try [(64 << 10, 4096), (1 << 10, 131_072)].flatMap { size, count in
            try [true, false].map { try measure(size, count: count, isReloadable: $0) }
        }
    }

    private func measure(_ size: Int, count: Int, isReloadable: Bool) throws -> Row {
        var configuration = PressureConfiguration()
        configuration.sources = []
        configuration.remote = remote
        configuration.remote?.replacesDisk = true
        configuration.supportedDispositions = [.keep, .spill]
        // What compressing costs is another bench; the server's own has nothing to compress either.
        configuration.compression = .stored
        let manager = try PressureManager(configuration: configuration)
        let controller = PressureController("bench")
        try manager.root.addChild(controller)
        let content = SyntheticContent(compressibility: 0, seed: 7)
        let make: @Sendable (Int) -> [UInt8] = { key in
            var bytes = [UInt8](repeating: 0, count: size)
            var span = bytes.mutableSpan
            // Only bytes, whatever they are, is what an array of bytes holds.
            var raw = unsafe span.mutableBytes
            content.fill(&raw, index: key)
            return bytes
        }
        let cache: KeyedCache<Int, [UInt8]> =
            isReloadable ? try controller.keyedCache("values") { make($0) } : try controller.keyedCache("values")
        for key in 0..<count {
            if isReloadable { try cache.loadIfNeeded(for: key) } else { cache.set(make(key), for: key) }
        }
        let clock = SystemClock()
        let start = clock.now()
        _ = manager.warnAndWait(.critical, freeing: nil, source: "bench")
        let seconds = (clock.now() - start).seconds
        var times: [Double] = []
        for key in stride(from: 0, to: count, by: max(1, count / 1000)) {
            let start = clock.now()
            try cache.loadIfNeeded(for: key)
            times.append((clock.now() - start).seconds * 1e6)
        }
        manager.shutdownAndWait()
        return Row(
            valueBytes: size,
            isReloadable: isReloadable,
            bytesPerSecond: Double(size * count) / seconds,
            valuesPerSecond: Double(count) / seconds,
            restoreMicroseconds: times.sorted()[times.count / 2]
        )
    }
}
#endif
