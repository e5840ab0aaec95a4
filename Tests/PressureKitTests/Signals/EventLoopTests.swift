import CAllocationCounter
import PressureKit
import Testing

@Suite(.timeLimit(.minutes(15))) struct EventLoopTests {
    @Test func aRingBeforeTheWaitEndsIt() throws {
        let loop = try EventLoop()
        loop.wake()
        loop.wake()
        #expect(loop.wait(upTo: .seconds(3600)))
    }

    @Test func ringsBeforeOneWaitCountOnce() throws {
        let loop = try EventLoop()
        let clock = SystemClock()
        loop.wake()
        loop.wake()
        #expect(loop.wait(upTo: .seconds(3600)))
        let start = clock.now()
        #expect(loop.wait(upTo: .milliseconds(20)))
        #expect(clock.now() - start >= .milliseconds(20), "the second notification was left over")
    }

    @Test func anotherThreadEndsTheWait() throws {
        let loop = try EventLoop()
        try WorkerThread.spawn("ringer") { loop.wake() }
        #expect(loop.wait(upTo: .seconds(3600)))
    }

    @Test(arguments: [Duration.zero, .seconds(-5), .nanoseconds(-1)])
    func noTimeOnlyLooks(limit: Duration) throws {
        #expect(try EventLoop().wait(upTo: limit))
    }

    /// Otherwise a thread with 0.3 ms to go would spin.
    @Test func partsOfAMillisecondAreRoundedUp() throws {
        let loop = try EventLoop()
        let clock = SystemClock()
        let start = clock.now()
        #expect(loop.wait(upTo: .microseconds(300)))
        #expect(clock.now() - start >= .microseconds(300))
    }

    @Test func onceFinishedNobodyWaits() throws {
        let loop = try EventLoop()
        try WorkerThread.spawn("finisher") { loop.finish() }
        while loop.wait(upTo: .seconds(3600)) {}
        #expect(!loop.wait(upTo: .seconds(3600)))
        #expect(!loop.wait(upTo: .seconds(3600)))
    }

    @Test func aWaitAllocatesNothing() throws {
        let loop = try EventLoop()
        loop.wake()
        _ = loop.wait(upTo: .zero)
        let before = pk_thread_allocations()
        for _ in 0..<100 {
            loop.wake()
            _ = loop.wait(upTo: .seconds(1))
        }
        #expect(pk_thread_allocations() - before == 0)
    }
}
