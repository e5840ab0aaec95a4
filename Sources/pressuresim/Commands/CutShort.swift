import Foundation
import PressureKit

/// What a command does when it is told to end before it has: it says what is known so far.
enum CutShort {
    /// From now on ^C and termination have `report` say what is known, and then end the tool. A second ^C ends it at
    /// once, whatever `report` is at.
    ///
    /// Spill files have no name and go with the process; what else is to be removed, `report` removes.
    static func reporting(_ report: @escaping @Sendable () -> Void) {
        let interruption = Interruption()
        // Without a thread for it ^C would do nothing; the second one is for that.
        try? WorkerThread.spawn("interruption") {
            _ = interruption.wait(upTo: nil)
            for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
            report()
            exit(ExitStatus.interrupted.rawValue)
        }
    }
}
