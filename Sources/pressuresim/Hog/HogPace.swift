import PressureKit
import ScenarioLanguage

/// What a hog does when: it takes memory at a steady rate up to a ceiling, holds it for a while, and ends.
///
/// Pure: the time comes in with each question, nothing is waited for.
struct HogPace: Sendable {
    /// What to do next.
    enum Step: Hashable, Sendable {
        /// Take so many bytes now.
        case take(Int)
        /// Do nothing for so long, then ask again.
        case wait(Duration)
        /// The holding is over.
        case done
    }

    /// Bytes a second.
    let rate: Double
    /// The most that is held.
    let ceiling: Int
    /// How long the ceiling is held.
    let hold: Duration
    /// What is held.
    private(set) var held = 0
    /// When the ceiling was reached.
    private(set) var fullSince: Duration?
    /// The elapsed time at which nothing would be held, had the hog always kept its pace.
    private var origin = Duration.zero

    /// A machine that stood still is not made up for by more than this at once, or the rate would mean nothing.
    private static let longestBacklog = Duration.milliseconds(100)

    /// Creates a hog that holds nothing yet.
    init(rate: Double, ceiling: ByteCount, hold: Duration) {
        self.rate = rate
        self.ceiling = ceiling.bytes
        self.hold = hold
    }

    /// What is taken at once: what is due in 10 ms, in pages, so that the rate is steady for whoever looks every few
    /// hundred milliseconds and no system call is made for a page alone.
    var step: Int {
        let due = Int(min(rate / 100, Double(8 << 20)))
        return max(due & ~4095, 64 << 10)
    }

    /// What to do so long after the start. Whoever is told to take has taken it, when the next question comes.
    mutating func next(at elapsed: Duration) -> Step {
        guard held < ceiling else {
            let since = fullSince ?? elapsed
            fullSince = since
            let left = hold - (elapsed - since)
            return left > .zero ? .wait(left) : .done
        }
        let size = min(step, ceiling - held)
        // Rounded up: a wait of less than the clock can tell would have no end.
        let due = origin + .nanoseconds(Int64((Double(held + size) / rate * 1e9).rounded(.up)))
        guard due <= elapsed else { return .wait(due - elapsed) }
        origin += max(elapsed - due - Self.longestBacklog, .zero)
        held += size
        return .take(size)
    }

    /// A hog that takes no more: what is held now is held as the ceiling would have been.
    func stopped(at elapsed: Duration) -> HogPace {
        var stopped = HogPace(rate: rate, ceiling: .bytes(held), hold: hold)
        stopped.held = held
        stopped.fullSince = elapsed
        return stopped
    }
}
