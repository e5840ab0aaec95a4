import Logging
import PressureKitTestSupport

/// A log that is kept.
struct KeptLog: LogHandler {
    /// What was logged.
    let lines = Shared<[(level: Logger.Level, message: String)]>([])
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.change { $0.append((event.level, "\(event.message)")) } }

    /// The warnings.
    var warnings: [String] { lines.value.filter { $0.level == .warning }.map(\.message) }
}
