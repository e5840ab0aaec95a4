package import PressureSystem

/// The process's own memory, against a limit that the app has set: its resident memory and what the library holds for it
/// in memory elsewhere, such as a spill file on a tmpfs.
package final class FootprintSource: SignalSource {
    package let name = "own footprint"
    private let limit: ByteCount
    private let heldOutside: @Sendable () -> ByteCount
    private let path: String
    private let footprint: Lock<ProcessFootprint>

    /// Opens /proc/self/statm.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when it cannot be opened, `invalidConfiguration` when the
    ///   limit is none.
    package init(limit: ByteCount, context: SignalContext = .init()) throws(PressureError) {
        guard limit > .zero, limit <= Headroom.largestLimit else {
            throw PressureError(
                code: .invalidConfiguration,
                message: "A footprint's limit must be more than 0 and at most 1 EiB; it is \(limit)."
            )
        }
        self.limit = limit
        heldOutside = context.heldOutside
        path = context.path("/proc/self/statm")
        footprint = Lock(try ProcessFootprint(path: path))
    }

    package func sample(at now: MonotonicInstant) -> SignalReading? {
        let resident = footprint.withLock { $0 }.residentBytes()
        guard resident > 0, let headroom = Headroom(available: limit - .bytes(resident) - heldOutside(), limit: limit)
        else { return nil }
        return SignalReading(origin: .footprint, source: name, measure: .headroom(headroom), takenAt: now)
    }

    package func reopenAfterFork() {
        guard let own = try? ProcessFootprint(path: path) else { return }
        footprint.withLock { $0 = own }
    }

    package var statuses: [SignalStatus] {
        [
            SignalStatus(
                origin: .footprint,
                source: name,
                state: .available,
                detail: "The process's memory against the app's limit of \(limit); polled."
            )
        ]
    }
}
