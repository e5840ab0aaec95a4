import PressureSignals
import PressureSystem

extension Admission.Supply {
    /// What a manager's monitor sees, and what its reclaim thread frees.
    init(
        monitor: PressureMonitor,
        reclaim: ReclaimThread,
        isSequential: Bool,
        unwatched: @escaping @Sendable (_ resident: Int) -> Void
    ) {
        self.init(
            room: { [weak monitor] in monitor?.admissionRoom },
            refresh: { [weak monitor] in monitor?.refreshedAdmissionRoom() },
            ask: { [weak monitor] in monitor?.ask() ?? false },
            reclaim: { [weak reclaim] _, done in
                guard let reclaim else { return done(.zero) }
                reclaim.makeRoom(done)
                if isSequential { reclaim.waitUntilIdle() }
            },
            wakeBackground: { [weak reclaim] isUrgent in
                reclaim?.makeRoom(isUrgent: isUrgent)
                if isSequential { reclaim?.waitUntilIdle() }
            },
            unwatched: unwatched,
            neighbours: monitor.neighbours
        )
    }
}
