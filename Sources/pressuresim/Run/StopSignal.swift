import Dispatch
import Foundation
import PressureKit
import Synchronization

/// ^C and its like while a scenario is played: the first asks the run to end soon, the second ends the process at once.
///
/// Whoever waits or works for long asks ``isSet`` now and then, and sleeps with ``sleep(_:)``. What must not outlive the
/// process, children and directories, is entrusted here for as long as it exists: the spill file needs nothing, it has no
/// name.
final class StopSignal: Sendable {
    /// What would be left behind by a process that ends at once.
    enum Litter: Hashable, Sendable {
        /// A child process, to be killed.
        case child(pid_t)
        /// A directory with all that is in it.
        case directory(String)
    }

    /// A ticket for what was entrusted.
    struct Ticket: Hashable, Sendable { fileprivate var number: Int }

    private struct State {
        var isSet = false
        var litter: [Int: Litter] = [:]
        var nextTicket = 0
    }

    private let state = ConditionLock(State())
    /// The same as in the state, for those who ask very often.
    private let flag = Atomic<Bool>(false)
    private let sources = Lock<Sources?>(nil)

    /// Kept so that they go on.
    private final class Sources: @unchecked Sendable {
        // Sendable: made once, and then only kept.
        let all: [any DispatchSourceSignal]

        init(_ all: [any DispatchSourceSignal]) { self.all = all }
    }

    /// One that nobody sets but by ``set()``.
    init() {}

    /// Whether the run is to end.
    var isSet: Bool { flag.load(ordering: .relaxed) }

    /// Takes over SIGINT and SIGTERM, and SIGHUP for a terminal that closes, for the rest of the process's life. When this
    /// returns none of them is missed.
    func takeOverSignals() {
        let queue = DispatchQueue(label: "signals", qos: .userInteractive)
        let registered = DispatchSemaphore(value: 0)
        let made = [SIGINT, SIGTERM, SIGHUP].map { number in
            // Without this the default action would still end the process.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [weak self] in self?.receive() }
            source.setRegistrationHandler { registered.signal() }
            source.activate()
            return source
        }
        // Until then a signal is ignored, and lost.
        for _ in made { registered.wait() }
        let kept = Sources(made)
        sources.withLock { $0 = kept }
    }

    private func receive() {
        if isSet { endAtOnce() }
        set()
    }

    /// Asks the run to end. Children are killed: nobody waits for them any more.
    func set() {
        flag.store(true, ordering: .relaxed)
        let litter = state.withLock { state in
            state.isSet = true
            return state.litter.values.map(\.self)
        }
        for case .child(let process) in litter { kill(process, SIGKILL) }
    }

    /// Ends the process now. Buffers are not flushed, nobody is asked.
    private func endAtOnce() -> Never {
        let litter = state.withLock { $0.litter.values.map(\.self) }
        for one in litter {
            switch one {
            case .child(let process): kill(process, SIGKILL)
            case .directory(let path): try? FileManager.default.removeItem(atPath: path)
            }
        }
        // Not exit(3), whose handlers may wait for what is going on.
        _exit(ExitStatus.interrupted.rawValue)
    }

    /// Sleeps, or until the run is to end. Blocks; never on a cooperative thread.
    func sleep(_ duration: Duration) {
        // The clock that is exact, where nobody would notice the difference.
        guard duration > .milliseconds(20) else { return isSet ? () : Pause.sleep(duration) }
        state.wait(atMost: duration) { $0.isSet ? () : nil }
    }

    // MARK: What must not be left behind

    /// Remembers what has come to exist. If the run is to end already, a child is killed at once.
    func entrust(_ litter: Litter) -> Ticket {
        let (ticket, isSet) = state.withLock { state in
            state.nextTicket += 1
            state.litter[state.nextTicket] = litter
            return (Ticket(number: state.nextTicket), state.isSet)
        }
        if isSet, case .child(let process) = litter { kill(process, SIGKILL) }
        return ticket
    }

    /// It is gone, or somebody else's.
    func release(_ ticket: Ticket) { state.withLock { _ = $0.litter.removeValue(forKey: ticket.number) } }
}

/// The run was told to end before it had come to where this was thrown.
struct Interrupted: Error {}
