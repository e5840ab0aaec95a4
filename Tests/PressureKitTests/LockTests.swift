import PressureKit
import Testing

@Suite struct LockTests {
    /// Under ThreadSanitizer this also shows that the sanitizer sees the lock.
    @Test func oneHolderAtATime() async {
        final class Counter: Sendable { let count = Lock(0) }
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<10_000 { counter.count.withLock { $0 += 1 } } }
            }
        }
        #expect(counter.count.withLock { $0 } == 40_000)
    }

    @Test func anErrorPassesThroughAndTheLockIsGivenBack() {
        struct Failure: Error, Equatable {}
        let lock = Lock([1])
        #expect(throws: Failure()) {
            try lock.withLock { (value: inout [Int]) throws(Failure) in
                value.append(2)
                throw Failure()
            }
        }
        #expect(lock.withLock { $0 } == [1, 2])
    }
}
