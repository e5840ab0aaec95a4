import Synchronization
import Testing

@testable import PressureKit

/// P12 as a table: one reclaim at a time, and what a second request does to it.
@Suite struct ReclaimQueueTests {
    private func request(
        _ amount: ReclaimAmount,
        _ level: PressureLevel = .normal,
        warns: Bool = false,
        source: String = "test",
        reply: ReclaimReply? = nil
    ) -> ReclaimRequest {
        ReclaimRequest(
            cause: PressureCause(origin: .request, source: source, levelBefore: .normal, levelAfter: level),
            amount: amount,
            warns: warns,
            reply: reply
        )
    }

    private func target(_ step: ReclaimQueue.Step) -> ReclaimQueue.Target? {
        if case .work(let target) = step { target } else { nil }
    }

    @Test func aRequestIsWorkedOnUntilItIsReached() {
        var queue = ReclaimQueue()
        #expect(!queue.isActive)
        queue.add(request(.bytes(10)))
        #expect(queue.isActive)
        #expect(target(queue.next { _ in false })?.amount == .bytes(10))
        #expect(target(queue.next { _ in false })?.amount == .bytes(10))
        #expect(target(queue.next { _ in true }) == nil)
        #expect(!queue.isActive)
    }

    /// Not the sum: both ask because of the same shortage.
    @Test func aSecondRequestRaisesTheTargetToTheLarger() {
        var queue = ReclaimQueue()
        queue.add(request(.bytes(10)))
        _ = queue.next { _ in false }
        queue.add(request(.bytes(25)))
        queue.add(request(.bytes(5)))
        #expect(target(queue.next { $0 == .bytes(10) })?.amount == .bytes(25))
        #expect(target(queue.next { $0 == .bytes(25) }) == nil)
    }

    @Test func theMostUrgentCauseIsReported() {
        var queue = ReclaimQueue()
        queue.add(request(.bytes(1), .warning, source: "first"))
        queue.add(request(.bytes(1), .critical, source: "second"))
        queue.add(request(.bytes(1), .warning, source: "third"))
        #expect(target(queue.next { _ in false })?.cause.source == "second")
    }

    /// A level is warned of once a reclaim; a higher one again.
    @Test func warnsOnceALevel() {
        var queue = ReclaimQueue()
        queue.add(request(.bytes(1), .warning, warns: true))
        #expect(target(queue.next { _ in false })?.warning == .warning)
        queue.add(request(.bytes(1), .warning, warns: true))
        #expect(target(queue.next { _ in false })?.warning == nil)
        queue.add(request(.bytes(1), .critical, warns: true))
        // Even if there is nothing to free.
        #expect(target(queue.next { _ in true })?.warning == .critical)
        queue.add(request(.bytes(1), .warning, warns: true))
        #expect(target(queue.next { _ in true }) == nil)
        queue.add(request(.bytes(1), .warning, warns: true))
        #expect(target(queue.next { _ in false })?.warning == .warning)
    }

    @Test func everyCallerGetsTheOneReportAndIsForgotten() {
        var queue = ReclaimQueue()
        let replies = Atomic<Int>(0)
        for _ in 0..<3 { queue.add(request(.bytes(1)) { _ in replies.wrappingAdd(1, ordering: .relaxed) }) }
        #expect(queue.replyCount == 3)
        _ = queue.next { _ in false }
        guard case .end(let callers) = queue.next(isReached: { _ in true }) else { return #expect(Bool(false)) }
        var report: EvictionReport? = EvictionReport(cause: request(.bytes(1)).cause)
        for caller in callers { caller(&report) }
        #expect(replies.load(ordering: .relaxed) == 3)
        #expect(queue.replyCount == 0)
    }

    @Test func preludesAreCalledOnceInOrderEvenIfNothingIsWanted() {
        var queue = ReclaimQueue()
        let calls = Lock<[Int]>([])
        for number in 0..<2 {
            var request = request(ReclaimAmount())
            request.prelude = { calls.withLock { $0.append(number) } }
            queue.add(request)
        }
        for prelude in target(queue.next { _ in true })?.preludes ?? [] { prelude() }
        #expect(calls.withLock { $0 } == [0, 1])
        #expect(target(queue.next { _ in true }) == nil)
    }
}

@Suite struct ReclaimAmountTests {
    @Test func theMostItComesToIsKnownWithoutShares() {
        #expect(ReclaimAmount.bytes(30).merged(with: .bytes(80, atMost: 0.25)).mostBytes == 80)
        #expect(ReclaimAmount.share(0.25).merged(with: .bytes(80)).mostBytes == nil)
        #expect(!ReclaimAmount.bytes(1, atMost: 0.25).isNothing)
    }

    @Test(arguments: [
        (ReclaimAmount(), 100, 0 as Int?), (.bytes(30), 100, 30), (.bytes(-3), 100, 0), (.bytes(300), 100, 300),
        (.share(0.25), 100, 25), (.share(0.25), 101, 26), (.share(0.25), 0, 0), (.everything, 100, nil),
        (.share(1), 0, nil), (.bytes(30).merged(with: .share(0.25)), 100, 30),
        (.bytes(20).merged(with: .share(0.25)), 100, 25),
        (.bytes(30, atMost: 0.25), 100, 25), (.bytes(20, atMost: 0.25), 100, 20), (.bytes(-1, atMost: 1), 100, 0),
        // A steady wish does not hold back another one, nor is it carried away.
        (.bytes(80, atMost: 0.25).merged(with: .bytes(40)), 100, 40),
        (.bytes(80, atMost: 0.25).merged(with: .share(0.1)), 100, 25),
        (.bytes(80, atMost: 0.25).merged(with: .everything), 100, nil),
        (.bytes(80, atMost: 0.25).merged(with: .bytes(90, atMost: 0.5)), 100, 50),
        (.bytes(30).merged(with: .everything), 100, nil), (.bytes(10).merged(with: .bytes(20)), 100, 20),
    ])
    func aGoalIsTheLargerOfBytesAndShare(amount: ReclaimAmount, evictable: Int, goal: Int?) {
        #expect(amount.goal(evictable: evictable) == goal)
    }
}

@Suite struct SpillBackoffTests {
    private func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    @Test func oneAccidentIsForgivenAndThreeInARowAreNot() {
        var backoff = SpillBackoff()
        backoff.noteFailure(isDiskFull: false, at: at(0))
        backoff.noteFailure(isDiskFull: false, at: at(0))
        #expect(backoff.allowsWriting(at: at(0)))
        backoff.noteSuccess()
        for _ in 0..<2 { backoff.noteFailure(isDiskFull: false, at: at(0)) }
        #expect(backoff.allowsWriting(at: at(0)))
        backoff.noteFailure(isDiskFull: false, at: at(0))
        #expect(!backoff.allowsWriting(at: at(0.999)))
        #expect(backoff.allowsWriting(at: at(1)))
    }

    /// A full disk: 1, 2, 4 … 32, then 60 seconds; a success begins anew.
    @Test func thePauseDoublesUpToAMinute() {
        var backoff = SpillBackoff()
        var now = 0.0
        for pause in [1.0, 2, 4, 8, 16, 32, 60, 60] {
            backoff.noteFailure(isDiskFull: true, at: at(now))
            #expect(!backoff.allowsWriting(at: at(now + pause - 0.001)))
            now += pause
            #expect(backoff.allowsWriting(at: at(now)), "after \(pause)")
        }
        backoff.noteSuccess()
        backoff.noteFailure(isDiskFull: true, at: at(now))
        #expect(backoff.allowsWriting(at: at(now + 1)))
    }

    /// What was under way when the first failed is no second failure.
    @Test func failuresAtOnceAreOne() {
        var backoff = SpillBackoff()
        for _ in 0..<10 { backoff.noteFailure(isDiskFull: true, at: at(5)) }
        #expect(backoff.allowsWriting(at: at(6)))
    }
}
