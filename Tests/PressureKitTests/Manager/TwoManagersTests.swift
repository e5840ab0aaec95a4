import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit
@testable import SpillStore

/// Two managers in one process: what one has and does is nothing to the other.
@Suite struct TwoManagersTests {
    private struct App {
        let manager: PressureManager
        let controller: PressureController
        var engine: ReclaimEngine { manager.context.engine }

        init() throws {
            manager = try makeManager(fileSystem: InMemoryFileSystem()) {
                $0.compressedTier = .whenSpillingFails(upTo: .mebibytes(1))
            }
            controller = try addController("app", to: manager.root)
        }
    }

    private func isBudgeted(_ cache: LazyCache<[UInt8]>) -> Bool {
        cache.entry.traits.isBudgeted.load(ordering: .relaxed)
    }

    @Test func readWithDecodersOfTheirOwn() async throws {
        let (mine, other) = (try App(), try App())
        let value = makeBytes(1_000_000, seed: 1)
        let cache = try mine.controller.cache("value", initialValue: value)
        _ = await mine.manager.simulateMemoryWarning(.critical)
        #expect(try await cache.value() == value)
        #expect(mine.engine.file.decoders !== other.engine.file.decoders)
        // A manager's own are there once.
        #expect(mine.engine.memory?.decoders === mine.engine.file.decoders)
    }

    @Test func countForTheirOwnBudgetsOnly() throws {
        let (mine, other) = (try App(), try App())
        let before = try mine.controller.cache("before", initialValue: makeBytes(100, seed: 1))
        let elsewhere = try other.controller.cache("elsewhere", initialValue: makeBytes(100, seed: 2))
        mine.controller.budget = .bytes(5000)
        let after = try mine.controller.cache("after", initialValue: makeBytes(100, seed: 3))
        #expect(isBudgeted(before))
        #expect(isBudgeted(after))
        try elsewhere.update { $0.append(1) }
        #expect(!isBudgeted(elsewhere))
        let counted = elsewhere.entry.traits.counted.load(ordering: .relaxed)
        #expect(counted == 0)
    }

    /// However a cache comes to be below a budget, that one is kept to.
    @Test(arguments: ["add", "move", "present", "set before joining"])
    func aBudgetCountsWhatComesToBeBelowIt(_ way: String) throws {
        let (mine, other) = (try App(), try App())
        let guest = PressureController("guest")
        let cache = try guest.keyedCache("values", key: Int.self, value: [UInt8].self)
        let host = PressureController("host")
        if way == "set before joining" {
            host.budget = .bytes(5000)
            try host.addChild(guest)
        }
        try mine.manager.root.addChild(host)
        host.budget = .bytes(5000)
        switch way {
        case "add": try host.addChild(guest)
        case "move":
            try other.controller.addChild(guest)
            try guest.move(to: host)
        case "present": try host.present(guest)
        default: break
        }
        for key in 0..<10 { cache.set(makeBytes(1000, seed: UInt64(key)), for: key) }
        #expect(host.residentByteCount <= .bytes(5000))
    }
}
