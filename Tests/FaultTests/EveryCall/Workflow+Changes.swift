import PressureKitTestSupport
import PressureKitTesting

@testable import PressureKit

/// Workflows that change values, move their copies, and find them by key.
extension Workflow {
    // MARK: Changed

    static let changes = [
        Workflow(
            name: "updated",
            prepare: { bench in
                try fill(bench)
                try fill(bench, isLoaded: true)
                await bench.warn()
            },
            act: { bench, context in
                for (number, value) in bench.values.enumerated() {
                    value.change(to: makeBytes(40_000, seed: UInt64(100 + number)), context)
                }
                await bench.warn()
                bench.readAll(context)
            }
        ),
        Workflow(
            name: "replaced while spilled, restored and resident",
            prepare: { bench in
                try fill(bench)
                await bench.warn()
            },
            act: { bench, context in
                for round in 0..<3 {
                    let value = bench.values[round]
                    value.bytes = makeBytes(300_000, seed: UInt64(200 + round))
                    value.set(value.bytes)
                    await bench.warn()
                    bench.readAll(context)
                }
            }
        ),
    ]

    // MARK: Ahead of need

    static let calm = [
        Workflow(
            name: "copied ahead",
            prepare: { try fill($0) },
            act: { bench, context in
                bench.workAhead()
                await bench.warn()
                bench.readAll(context)
            }
        ),
        Workflow(
            name: "compressed later",
            prepare: { bench in
                for number in 0..<2 {
                    let bytes = makeBytes(270_000, seed: UInt64(number))
                    try bench.copyInHaste(bench.add("hasty\(number)", bytes))
                }
                await bench.warn()
            },
            act: { bench, context in
                bench.workAhead()
                bench.readAll(context)
            }
        ),
        Workflow(
            name: "moved from memory to the disk",
            configure: { $0.compressedTier = .first(upTo: .mebibytes(4)) },
            prepare: { bench in
                try fill(bench, randomBits: 2)
                await bench.warn()
            },
            act: { bench, context in
                bench.workAhead()
                bench.readAll(context)
            }
        ),
    ]

    // MARK: What there is

    static let present = [
        Workflow(
            name: "read and changed if present",
            prepare: { bench in
                try fill(bench)
                try fill(bench, isLoaded: true)
                let allowed = CacheOptions(supportedDispositions: [.keep, .spill])
                let cache = try bench.controller.keyedCache("loaded", options: allowed) { (key: Int) in
                    makeBytes(30_000, seed: UInt64(key))
                }
                for key in 0..<4 {
                    let bytes = makeBytes(30_000, seed: UInt64(key))
                    if key < 2 { try cache.loadIfNeeded(for: key) } else { cache.set(bytes, for: key) }
                    bench.track(key, of: cache, bytes, isLoaded: key < 2, from: { $0 }, to: { $0 })
                }
                await bench.warn()
            },
            act: { bench, context in
                bench.readPresent(context)
                await bench.warn()
                for (number, value) in bench.values.enumerated() where number % 2 == 1 {
                    value.changeOrMake(to: makeBytes(40_000, seed: UInt64(100 + number)), context)
                }
                await bench.warn()
                bench.readPresent(context)
                bench.readAll(context)
            }
        )
    ]

    // MARK: By key

    static let keyed = [
        Workflow(
            name: "by key, within a limit",
            prepare: { bench in
                let cache = try bench.controller.keyedCache(
                    "pages",
                    key: Int.self,
                    value: PageBuffer.self,
                    options: .init(limit: .kibibytes(300))
                )
                for key in 0..<7 {
                    let bytes = makeBytes(key < 5 ? 70_000 : 300, seed: UInt64(key), randomBits: key)
                    cache.set(PageBuffer(bytes), for: key)
                    bench.track(
                        key,
                        of: cache,
                        bytes,
                        from: { PageBuffer($0) },
                        to: { unsafe $0.withUnsafeBytes(Array.init) }
                    )
                }
            },
            act: { bench, context in
                for _ in 0..<2 { bench.readAll(context) }
                bench.values[2].change(to: makeBytes(90_000, seed: 77), context)
                bench.readAll(context)
            }
        ),
        Workflow(
            name: "by key, with a loader and a limit",
            prepare: { bench in
                let cache = try bench.controller.keyedCache(
                    "loaded",
                    options: .init(supportedDispositions: [.keep, .spill], limit: .kibibytes(100))
                ) { (key: Int) in
                    makeBytes(30_000, seed: UInt64(key))
                }
                for key in 0..<5 {
                    bench.track(
                        key,
                        of: cache,
                        makeBytes(30_000, seed: UInt64(key)),
                        isLoaded: true,
                        from: { $0 },
                        to: { $0 }
                    )
                }
            },
            act: { bench, context in
                for _ in 0..<2 { bench.readAll(context) }
                await bench.warn()
                bench.readAll(context)
            }
        ),
    ]
}
