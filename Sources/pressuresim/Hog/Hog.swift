import Foundation
import PressureKit

/// Takes memory as it is told and gives it back by itself.
struct Hog: Sendable {
    var pace: HogPace
    var content: HogContent
    /// Takes on when too little is left for everybody else.
    var isForced: Bool

    /// What a hog did.
    struct Outcome: Hashable, Sendable {
        /// The most that was held.
        var taken: ByteCount
        /// From the first byte to the last one taken.
        var filling: Duration
        /// How long that was held.
        var held: Duration
        /// Where too little was left, so that the ceiling was not reached.
        var stoppedBy: MemoryRoom?
    }

    /// Blocks until the memory has been held for as long as it was to be. It is given back on return.
    ///
    /// - Parameters:
    ///   - clock: where the time is read; `pause` must move it on.
    ///   - rooms: the places memory is taken from, read again at every step.
    ///   - pause: waits.
    ///   - tell: hears how much is held.
    func run(
        clock: any MonotonicClock = SystemClock(),
        rooms: () -> [MemoryRoom] = MemoryRoom.current,
        pause: (Duration) -> Void = Pause.sleep,
        tell: (ByteCount) -> Void = { _ in }
    ) -> Outcome {
        var pace = pace
        var pages = HogPages(content)
        let start = clock.now()
        var filling = Duration.zero
        var stoppedBy: MemoryRoom?
        while true {
            let elapsed = clock.now() - start
            switch pace.next(at: elapsed) {
            case .take(let count):
                pages.take(count)
                filling = clock.now() - start
                tell(.bytes(pace.held))
                if !isForced, let room = HogGuard.exhausted(rooms()), pace.held < pace.ceiling {
                    stoppedBy = room
                    pace = pace.stopped(at: clock.now() - start)
                }
            case .wait(let duration): pause(duration)
            case .done:
                let held = elapsed - (pace.fullSince ?? elapsed)
                return Outcome(taken: .bytes(pace.held), filling: filling, held: held, stoppedBy: stoppedBy)
            }
        }
    }

    /// If memory runs out all the same, the kernel is to kill the hog and none of its neighbours. Everybody may raise
    /// his own score.
    static func volunteerForKilling() {
        try? Data("1000\n".utf8).write(to: URL(fileURLWithPath: "/proc/self/oom_score_adj"))
    }
}
