/// A choice of pressure signal for an app's configuration.
///
/// A choice is only a description; nothing is opened before the manager starts to use it.
public struct PressureSource: Sendable {
    /// What the source is called in causes, logs and `pressuresim doctor`.
    public let name: String

    private let make: @Sendable () throws(PressureError) -> any SignalSource

    /// Describes a source by the way it is made. `make` may run more than once.
    package init(name: String, make: @escaping @Sendable () throws(PressureError) -> any SignalSource) {
        self.name = name
        self.make = make
    }

    /// The host's available memory, `MemAvailable` of `/proc/meminfo`.
    ///
    /// Inside a container this is the host's memory, not the container's limit.
    public static let memoryInfo = PressureSource(name: MemoryInfoSource.path) { () throws(PressureError) in
        try MemoryInfoSource()
    }

    /// A source that says what the app, a test or a tool tells it to say.
    public static func simulated(_ source: SimulatedSource) -> PressureSource {
        PressureSource(name: source.name) { () throws(PressureError) in source }
    }

    /// Opens the source.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when it does not exist here or may not be read; the
    ///   message says why and what to do.
    package func open() throws(PressureError) -> any SignalSource { try make() }
}
