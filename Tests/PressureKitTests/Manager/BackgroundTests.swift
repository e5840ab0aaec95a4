import Glibc
import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct BackgroundTests {
    let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
    let manager: PressureManager
    let front: PressureController
    let back: PressureController

    init() throws {
        manager = try makeManager(fileSystem: disk)
        front = try addController("front", to: manager.root)
        back = try addController("back", to: manager.root)
        front.appear()
    }

    @Test func whatWasVisibleAndInMemoryComesBack() async throws {
        let seen = try front.cache("seen", initialValue: makeBytes(1000, seed: 1))
        let unseen = try back.cache("unseen", initialValue: makeBytes(1000, seed: 2))
        let away = try front.cache("away") { makeBytes(1000, seed: 3) }
        let lines = HookLog.Lines()
        let log = HookLog("manager", lines)
        manager.delegate = log
        let report = await manager.enterBackground()
        #expect(report.cause.origin == .background)
        #expect(report.evicted.map(\.path) == ["back/unseen", "front/seen"])
        let restored = await manager.enterForeground()
        #expect(restored.restored.map(\.path) == ["front/seen"])
        #expect(restored.bytes == .bytes(1000))
        #expect(restored.failures == [])
        #expect([seen.isLoaded, unseen.isLoaded, away.isLoaded] == [true, false, false])
        #expect(lines.all == ["manager.background", "manager.foreground"])
        // Once: nothing is remembered any more.
        #expect(await manager.enterForeground().restored.isEmpty)
    }

    /// A keyed cache's values come back one by one, when they are asked for; what is held has stayed.
    @Test func whatDidNotComeBackIsNotSaidTo() async throws {
        let keyed = try front.keyedCache("keyed", key: Int.self, value: [UInt8].self)
        for key in 0..<10 { keyed.set(makeBytes(1000, seed: UInt64(key)), for: key) }
        let held = try front.cache("held", initialValue: makeBytes(1000, seed: 1))
        let lease = try await held.lease()
        let seen = try front.cache("seen", initialValue: makeBytes(500, seed: 2))
        _ = await manager.enterBackground()
        #expect(keyed.residentByteCount == .zero && held.isLoaded && !seen.isLoaded)
        let report = await manager.enterForeground()
        #expect(report.restored.map(\.path) == ["front/seen"])
        #expect(report.bytes == .bytes(500))
        #expect(report.failures.isEmpty && report.left.isEmpty)
        _ = consume lease
    }

    /// The second call finds little in memory; what the first remembered still counts.
    @Test func goingToTheBackgroundTwiceForgetsNothing() async throws {
        let first = try front.cache("first", initialValue: makeBytes(1000, seed: 1))
        let second = try front.cache("second", initialValue: makeBytes(1000, seed: 2))
        _ = await manager.enterBackground()
        _ = try await second.value()
        _ = await manager.enterBackground()
        let report = await manager.enterForeground()
        #expect(Set(report.restored.map(\.path)) == ["front/first", "front/second"])
        #expect(first.isLoaded && second.isLoaded)
    }

    @Test func whatCannotBeRestoredIsReportedAndTriedAgain() async throws {
        let cache = try front.cache("mine", initialValue: makeBytes(1000, seed: 1))
        _ = await manager.enterBackground()
        disk.set(.init(.error(EIO), on: .read))
        let report = await manager.enterForeground()
        #expect(report.restored.isEmpty)
        #expect(report.failures.map(\.code) == [.restoreFailed])
        #expect(report.failures.map(\.path) == ["front/mine"])
        disk.set(nil)
        #expect(try await cache.value() == makeBytes(1000, seed: 1))
    }

    @Test func theMostRecentlyUsedComesFirst() async throws {
        let caches = try (0..<9).map { try front.cache("\($0)", initialValue: Gated(number: $0)) }
        for number in [4, 0, 8, 1, 2, 7, 3, 6, 5] { try caches[number].update { _ in } }
        _ = await manager.enterBackground()
        async let report = manager.enterForeground()
        // Three are restored at a time; the others wait for one of these to end.
        while Gated.begun.withLock({ $0.count < 3 }) { await Task.yield() }
        #expect(Gated.begun.withLock { Set($0) } == [5, 6, 3])
        Gated.gate.withLock { $0 = true }
        #expect(await report.restored.count == 9)
    }

    /// A value whose restore waits at a gate.
    private struct Gated: Spillable {
        static let begun = Lock<[Int]>([])
        static let gate = ConditionLock(false)
        let number: Int

        init(number: Int) { self.number = number }
        var spillByteCount: Int { 8 }
        func withSpillBytes(_ body: (RawSpan) -> Void) { [number].withSpillBytes(body) }
        init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
            let numbers = unsafe try [Int](spillByteCount: spillByteCount, restoringWith: fill)
            number = numbers[0]
            Self.begun.withLock { $0 += numbers }
            Self.gate.wait { $0 ? () : nil }
        }
    }
}
