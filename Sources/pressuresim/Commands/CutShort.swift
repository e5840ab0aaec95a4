import Foundation
import PressureKit

/// What a command does when it is told to end before it has: it says what is known so far.
enum CutShort {
    /// From now on ^C and termination have `report` say what is known, and then end the tool. A second ^C ends it at
    /// once, whatever `report` is at.
    ///
    /// Spill files have no name and go with the process; what else is to be removed, `report` removes.
    static func reporting(_ report: @escaping @Sendable () -> Void) {
        let stop = StopSignal()
        stop.takeOverSignals()
        // Without a thread for it the first ^C does nothing; the second is for that.
        try? WorkerThread.spawn("interruption") {
            stop.waitUntilSet()
            report()
            exit(ExitStatus.interrupted.rawValue)
        }
    }
}

extension StopSignal {
    /// Blocks until somebody says stop, or the time is over.
    func waitUntilSet(atMost limit: Duration? = nil) {
        guard let limit else {
            while !isSet { sleep(.seconds(3600)) }
            return
        }
        sleep(limit)
    }
}
