import Dispatch
import Foundation
import PressureKit

/// Passes ^C and its like on to a child that is to deal with it, and goes on: for a process that only waits for another.
///
/// A child of Foundation's `Process` has a process group of its own, so the terminal does not tell it.
final class SignalRelay: @unchecked Sendable {
    // Sendable: the sources are made once and then only kept.
    private let sources: [any DispatchSourceSignal]
    private let passing = Passing()

    /// Who is told, and what came before there was anybody.
    private final class Passing: Sendable {
        private struct State {
            var child: pid_t?
            var early: [Int32] = []
        }

        private let state = Lock(State())

        func pass(_ number: Int32) {
            state.withLock { state in
                guard let child = state.child else { return state.early.append(number) }
                kill(child, number)
            }
        }

        func begin(with child: pid_t) {
            state.withLock { state in
                state.child = child
                for number in state.early { kill(child, number) }
                state.early = []
            }
        }
    }

    /// Takes over SIGINT, SIGTERM and SIGHUP; what comes before ``pass(to:)`` is kept until then.
    init() {
        let queue = DispatchQueue(label: "signals", qos: .userInteractive)
        sources = [SIGINT, SIGTERM, SIGHUP].map { [passing] number in
            // Without this the default action would still end the process.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { passing.pass(number) }
            source.activate()
            return source
        }
    }

    /// Passes everything on to a child from now on.
    func pass(to child: pid_t) { passing.begin(with: child) }
}
