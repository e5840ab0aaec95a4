import PressureKitTesting
import Testing

@testable import PressureKit

/// What an app does, in two parts: the disk is sound in the first and fails in the second.
struct Workflow: Sendable, CustomTestStringConvertible {
    let name: String
    var configure: @Sendable (inout PressureConfiguration) -> Void = { _ in }
    let prepare: @Sendable (FaultBench) async throws -> Void
    let act: @Sendable (FaultBench, String) async throws -> Void

    var testDescription: String { name }

    /// Three values: one of several chunks, one of one, and one that shares a page with others.
    private static func fill(_ bench: FaultBench, randomBits: Int = 3, isLoaded: Bool = false) throws {
        for (number, count) in [270_000, 20_000, 700].enumerated() {
            let bytes = makeBytes(count, seed: UInt64(number), randomBits: randomBits)
            try bench.add("\(isLoaded ? "loaded" : "mine")\(number)", bytes, isLoaded: isLoaded)
        }
    }

    private static func fillSmall(_ bench: FaultBench) throws {
        for number in 0..<24 {
            let bytes = makeBytes(number * number * 20, seed: UInt64(number), randomBits: number % 9)
            try bench.add("small\(number)", bytes, isLoaded: number % 5 == 4)
        }
    }

    static let all = evictions + restores + changes + calm + keyed

    // MARK: Out

    private static let evictions = [
        Workflow(
            name: "spilled as it is",
            configure: { $0.compression = .stored },
            prepare: { try fill($0, randomBits: 8) },
            act: { bench, context in
                await bench.warn()
                bench.readAll(context)
            }
        ),
        Workflow(
            name: "spilled compressed, past the page cache",
            configure: {
                $0.compression = .deflate
                $0.bypassesPageCache = true
                $0.freeSpaceFloor = .mebibytes(1)
            },
            prepare: { try fill($0) },
            act: { bench, context in
                await bench.warn()
                bench.engine.file.drainWriteback()
                bench.readAll(context)
            }
        ),
        Workflow(
            name: "many small values at once",
            prepare: { try fillSmall($0) },
            act: { bench, context in
                await bench.warn()
                bench.readAll(context)
            }
        ),
        Workflow(
            name: "into memory when the disk fails",
            configure: { $0.compressedTier = .whenSpillingFails(upTo: .mebibytes(4)) },
            prepare: { try fill($0, randomBits: 2) },
            act: { bench, context in
                for _ in 0..<3 { await bench.warn() }
                bench.readAll(context)
            }
        ),
        Workflow(
            name: "written although it could be loaded again",
            prepare: { try fill($0, isLoaded: true) },
            act: { bench, context in
                for _ in 0..<2 {
                    await bench.warn()
                    bench.readAll(context)
                }
            }
        ),
        Workflow(
            name: "a copy used again",
            prepare: { bench in
                try fill(bench)
                await bench.warn()
                bench.readAll("prepared")
            },
            act: { bench, context in
                await bench.warn()
                bench.readAll(context)
                await bench.warn()
            }
        ),
        Workflow(
            name: "to the background and back",
            prepare: { bench in
                try fill(bench)
                try fill(bench, isLoaded: true)
                bench.controller.appear()
            },
            act: { bench, context in
                _ = await bench.manager.enterBackground()
                _ = await bench.manager.enterForeground()
                bench.readAll(context)
            }
        ),
    ]

    // MARK: Back

    private static let restores = [
        Workflow(
            name: "restored",
            prepare: { bench in
                try fill(bench)
                await bench.warn()
            },
            act: { bench, context in bench.readAll(context) }
        ),
        Workflow(
            name: "restored from a batch",
            prepare: { bench in
                try fillSmall(bench)
                await bench.warn()
            },
            act: { bench, context in bench.readAll(context) }
        ),
        Workflow(
            name: "restored or rebuilt",
            prepare: { bench in
                try fill(bench, isLoaded: true)
                await bench.warn()
            },
            act: { bench, context in
                bench.readAll(context)
                await bench.warn()
                bench.readAll(context)
            }
        ),
        Workflow(
            name: "restored while a relief runs",
            prepare: { bench in
                try fill(bench)
                try fillSmall(bench)
                await bench.warn()
            },
            act: { bench, context in
                let manager = bench.manager
                let relief = Task { for _ in 0..<3 { _ = await manager.simulateMemoryWarning(.critical) } }
                for _ in 0..<3 { bench.readAll(context) }
                await relief.value
            }
        ),
    ]

    // MARK: Changed

    private static let changes = [
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

    private static let calm = [
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

    // MARK: By key

    private static let keyed = [
        Workflow(
            name: "by key, within a limit",
            prepare: { bench in
                let cache = bench.controller.keyedCache(
                    "pages",
                    limit: .kibibytes(300),
                    key: Int.self,
                    value: PageBuffer.self
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
                    supportedDispositions: [.keep, .spill],
                    limit: .kibibytes(100)
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
