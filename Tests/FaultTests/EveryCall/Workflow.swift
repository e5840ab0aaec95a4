import PressureKitTestSupport
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
    static func fill(_ bench: FaultBench, randomBits: Int = 3, isLoaded: Bool = false) throws {
        for (number, count) in [270_000, 20_000, 700].enumerated() {
            let bytes = makeBytes(count, seed: UInt64(number), randomBits: randomBits)
            try bench.add("\(isLoaded ? "loaded" : "mine")\(number)", bytes, isLoaded: isLoaded)
        }
    }

    static func fillSmall(_ bench: FaultBench) throws {
        for number in 0..<24 {
            let bytes = makeBytes(number * number * 20, seed: UInt64(number), randomBits: number % 9)
            try bench.add("small\(number)", bytes, isLoaded: number % 5 == 4)
        }
    }

    static let all = evictions + restores + changes + present + calm + keyed

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
            name: "restored while a reclaim runs",
            prepare: { bench in
                try fill(bench)
                try fillSmall(bench)
                await bench.warn()
            },
            act: { bench, context in
                let manager = bench.manager
                let reclaim = Task { for _ in 0..<3 { _ = await manager.simulateMemoryWarning(.critical) } }
                for _ in 0..<3 { bench.readAll(context) }
                await reclaim.value
            }
        ),
    ]
}
