import PressureSignals
import PressureSystem

extension Admission.Supply {
    /// What a manager's monitor sees, and what its reclaim thread frees.
    init(monitor: PressureMonitor, reclaim: ReclaimThread) {
        self.init(
            room: { [weak monitor] in monitor?.admissionRoom },
            refresh: { [weak monitor] in monitor?.refreshedAdmissionRoom() },
            reclaim: { [weak monitor, weak reclaim] bytes, done in
                guard let monitor, let reclaim else { return done(.zero) }
                let level = monitor.level
                let cause = PressureCause(
                    origin: .request,
                    source: "admission",
                    levelBefore: level,
                    levelAfter: level
                )
                reclaim.request(
                    ReclaimRequest(
                        cause: cause,
                        amount: .bytes(bytes.bytes),
                        warns: false,
                        reply: { report in
                            // Of a few small values the system's own count is not exact; the next sample is.
                            done(max(.zero, report?.returned ?? .zero, report?.claimed ?? .zero))
                        }
                    )
                )
            }
        )
    }
}
