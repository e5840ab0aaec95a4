package import PressureSystem

/// The host's available memory, from `/proc/meminfo`.
///
/// In a container the file describes the host, unless something like lxcfs is mounted over it: a limit of the
/// container's own is another source's business.
package final class MemoryInfoSource: SignalSource {
    /// Where the kernel keeps it.
    package static let path = "/proc/meminfo"

    package let name: String
    private let file: ProcFile

    /// Opens the file once, for all samples.
    ///
    /// - Parameter path: Another file of the same form, for tests.
    /// - Throws: ``PressureError`` with code `signalUnavailable` when it cannot be opened, or says nothing about
    ///   memory.
    package init(path: String = MemoryInfoSource.path) throws(PressureError) {
        name = path
        file = try ProcFile(path: path)
        guard read()?.headroom != nil else {
            throw PressureError(
                code: .signalUnavailable,
                message: """
                    \(path) names neither MemTotal nor any available memory. If a file is mounted over it, remove that, \
                    or leave this source out of the configuration.
                    """
            )
        }
    }

    /// All that the file says now; `nil` when it could not be read or understood. Allocates nothing.
    package func read() -> MemoryInfo? { file.read { MemoryInfoParser.parse($0) } }

    package func sample(at now: MonotonicInstant) -> SignalReading? {
        guard let headroom = read()?.headroom else { return nil }
        return SignalReading(origin: .memoryInfo, source: name, measure: .headroom(headroom), takenAt: now)
    }

    package var statuses: [SignalStatus] {
        let isReadable = read()?.headroom != nil
        return [
            SignalStatus(
                origin: .memoryInfo,
                source: name,
                state: isReadable ? .available : .unavailable,
                detail: isReadable
                    ? "The host's available memory; polled, the more often the less there is."
                    : "The file names no available memory any more."
            )
        ]
    }
}
