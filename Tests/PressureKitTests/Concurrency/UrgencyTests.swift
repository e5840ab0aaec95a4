import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit
@testable import PressureSignals
@testable import PressureSystem

/// A thread that works in no hurry gets a processor when nobody else wants it: what it does may become urgent meanwhile.
@Suite struct UrgencyTests {
    private static func nice() -> CInt { getpriority(CInt(PRIO_PROCESS.rawValue), 0) }

    /// Raised by another thread, it need not run to be raised, and is lowered again by itself.
    @Test(.timeLimit(.minutes(1))) func anotherThreadRaisesIt() throws {
        let priority = ConditionLock<ThreadPriority?>(nil)
        let isRaised = ConditionLock(false)
        let seen = ConditionLock<[CInt]>([])
        try WorkerThread.spawn("test") {
            let own = ThreadPriority()
            var all = [Self.nice()]
            own.set(isUrgent: false)
            priority.withLock { $0 = own }
            isRaised.wait { $0 ? () : nil }
            all.append(Self.nice())
            own.set(isUrgent: false)
            all.append(Self.nice())
            seen.withLock { $0 = all }
        }
        priority.wait { $0 }.set(isUrgent: true)
        isRaised.withLock { $0 = true }
        let all = seen.wait { $0.isEmpty ? nil : $0 }
        // Where a higher one is allowed at all.
        #expect(all[1] == max(-20, all[0] - 10) || all[1] == all[0])
        #expect(all[2] == all[0])
    }

    /// Whoever looks at the room says with it how urgent it is, also while a batch is being made.
    @Test func aLookSaysHowUrgentItIs() throws {
        let clock = ManualClock()
        let room = Lock(0)
        let told = Lock<[Bool]>([])
        let admission = Admission(clock: clock)
        let supply = Admission.Supply(
            room: {
                AdmissionRoom(
                    bytes: room.withLock { $0 },
                    takenAt: clock.now(),
                    low: 4 << 20,
                    high: 6 << 20,
                    overdraft: 1 << 20
                )
            },
            refresh: { nil },
            reclaim: { _, done in done(.zero) },
            wakeBackground: { isUrgent in told.withLock { $0.append(isUrgent) } }
        )
        admission.connect(supply)
        for left in [5, 3, 1] {
            room.withLock { $0 = left << 20 }
            admission.keepWatermarks()
        }
        #expect(told.withLock { $0 } == [false, true], "nothing at all with enough left")
    }
}
