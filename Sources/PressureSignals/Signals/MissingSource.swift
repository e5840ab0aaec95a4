package import PressureSystem

/// Stands for a source that does not exist here, so that the reason is told with the others' state. It never speaks.
package final class MissingSource: SignalSource {
    package let name: String
    private let status: SignalStatus

    /// Creates a stand-in.
    package init(status: SignalStatus) {
        name = status.source
        self.status = status
    }

    /// Creates a stand-in for a source that could not be opened.
    package convenience init(name: String, origin: PressureCause.Origin = .memoryInfo, error: PressureError) {
        self.init(
            status: SignalStatus(origin: origin, source: name, state: .unavailable, detail: error.message)
        )
    }

    package var width: Int { 0 }

    package func sample(at now: MonotonicInstant, into readings: inout [SignalReading?], from first: Int) {}

    package var statuses: [SignalStatus] { [status] }
}
