#if Redis
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Testing

@testable import PressureKit
@testable import SpillStore

/// A manager without a disk, with some values that nobody can make again and some that a loader makes.
struct RemoteFixture {
    /// Moved by hand: what was put off after a failure is due when a test says so.
    let clock = ManualClock()
    let manager: PressureManager
    let controller: PressureController
    /// By size; nobody can make them again.
    let mine: [LazyCache<[UInt8]>]
    let made: LazyCache<[UInt8]>
    /// How often the loader has run.
    let loads = Shared(0)

    static let sizes = [1 << 10, 5000, 20_000, 300_000]
    static func bytes(_ size: Int) -> [UInt8] { makeBytes(size, seed: UInt64(size), randomBits: 8) }

    init(_ remote: RemoteSpill, configure: (inout PressureConfiguration) -> Void = { _ in }) throws {
        let clock = clock
        manager = try makeManager {
            $0.spillDirectory = "/nonexistent"
            $0.remote = remote
            $0.clock = clock
            $0.supportedDispositions = [.keep, .spill]
            configure(&$0)
        }
        let controller = try addController("app", to: manager.root)
        self.controller = controller
        mine = try Self.sizes.map { try controller.cache("mine\($0)", initialValue: Self.bytes($0)) }
        made = try controller.cache("made") { [loads] in
            loads.change { $0 += 1 }
            return Self.bytes(70_000)
        }
        try made.loadIfNeeded()
    }

    /// Has everything evicted that can be.
    @discardableResult
    func evict() async -> EvictionReport { await manager.simulateMemoryWarning(.critical) }

    /// Later than anything was put off to.
    func wait() { clock.advance(by: .seconds(300)) }

    /// Whether all values are out of memory.
    var isSpilled: Bool { (mine + [made]).allSatisfy { $0.residency == .spilled } }

    /// Whether all values that nobody can make again are in memory.
    var isKept: Bool { mine.allSatisfy { $0.residency == .resident } }

    /// Values go and come back, ten times each at least, and what comes back is right. Returns how often that was.
    func comeAndGo(until isOver: Shared<Bool>) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for (cache, size) in zip(mine, Self.sizes) {
                group.addTask { [self] in
                    var turns = 0
                    while !isOver.value || turns < 10 {
                        await evict()
                        let value = try? await cache.value()
                        #expect(value == nil || value == Self.bytes(size))
                        turns += 1
                        wait()
                    }
                    return turns
                }
            }
            return await group.reduce(0, +)
        }
    }

    /// Every value has its bytes, and none was loaded again.
    func expectAll(loads: Int = 1) async {
        for (cache, size) in zip(mine, Self.sizes) {
            await #expect(throws: Never.self) { try await cache.value() == Self.bytes(size) }
            #expect((try? await cache.value()) == Self.bytes(size), "\(size)")
        }
        #expect((try? await made.value()) == Self.bytes(70_000))
        #expect(self.loads.value == loads)
    }
}
#endif
