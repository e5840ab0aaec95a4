import Glibc
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Synchronization
import Testing

@testable import PressureKit

/// What apps and the library hand over to be called later is called alike after any number of calls.
@Suite struct HandlerTests {
    struct Refused: Error {}

    /// Where on its stack a thread is.
    final class Depths: Sendable {
        private let depths = Lock<[UInt]>([])
        func note() {
            var mark = 0
            let here = unsafe withUnsafePointer(to: &mark) { UInt(bitPattern: $0) }
            depths.withLock { $0.append(here) }
        }
        var all: [UInt] { depths.withLock { $0 } }
    }

    @Test func aHandlerThatIsAskedOftenIsCalledNoDeeper() throws {
        let depths = Depths()
        let cache = try PressureController("app").cache("value") { () throws -> [UInt8] in throw Refused() }
        cache.onFailure { _ in
            depths.note()
            return true
        }
        for _ in 0..<100 { #expect(throws: Refused.self) { try cache.loadIfNeeded() } }
        #expect(depths.all.count == 100)
        #expect(Set(depths.all).count == 1)
    }

    @Test func whatAManagerAsksInEveryReclaimIsCalledNoDeeper() throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let depths = Depths()
        let cause = PressureCause(origin: .simulated, source: "test", levelBefore: .normal, levelAfter: .normal)
        let error = PressureError(code: .spillFailed, message: "refused")
        manager.context.onReport = { _ in depths.note() }
        manager.context.isOver = { _ in
            depths.note()
            return true
        }
        manager.context.engine.onFailure = { _ in depths.note() }
        for _ in 0..<100 {
            manager.context.onReport?(EvictionReport(cause: cause))
            _ = manager.context.isOver?(MonotonicInstant(nanoseconds: 0))
            manager.context.engine.onFailure?(.late(error))
        }
        let all = depths.all
        #expect(all.count == 300)
        for kind in 0..<3 {
            let depths = Set(stride(from: kind, to: all.count, by: 3).map { all[$0] })
            #expect(depths.count == 1)
        }
    }
}
