/// A choice of pressure signal for an app's configuration.
///
/// A choice is only a description; nothing is opened before a manager is made with it.
public struct PressureSource: Sendable {
    /// What the source is called in causes, logs and `pressuresim doctor`.
    public let name: String

    private let make: @Sendable (SignalContext) throws(PressureError) -> [any SignalSource]

    /// Describes a source by the way it is made. `make` may run more than once.
    package init(name: String, make: @escaping @Sendable () throws(PressureError) -> any SignalSource) {
        self.name = name
        self.make = { (_: SignalContext) throws(PressureError) in [try make()] }
    }

    /// Describes a choice of several sources by the way they are made. `make` may run more than once.
    package init(
        name: String,
        sources make: @escaping @Sendable (SignalContext) throws(PressureError) -> [any SignalSource]
    ) {
        self.name = name
        self.make = make
    }

    /// The host's available memory, `MemAvailable` of `/proc/meminfo`.
    ///
    /// Inside a container this is the host's memory, not the container's limit.
    public static let memoryInfo = PressureSource(name: MemoryInfoSource.path) {
        (context: SignalContext) throws(PressureError) in
        [try MemoryInfoSource(path: context.path(MemoryInfoSource.path))]
    }

    /// Everything that exists here, and the default: the host's memory, the limits of all visible cgroups, waiting for
    /// memory, the events of cgroups, and what the service manager watches.
    ///
    /// What does not exist is left out, and ``PressureSnapshot/signals`` says why.
    public static let automatic = PressureSource(name: "automatic") { (context: SignalContext) throws(PressureError) in
        var opened: [any SignalSource] = []
        var failure: PressureError?
        for source in [PressureSource.memoryInfo] {
            do throws(PressureError) {
                opened += try source.open(in: context)
            } catch {
                failure = failure ?? error
                opened.append(MissingSource(name: source.name, error: error))
            }
        }
        if let failure, opened.allSatisfy({ $0 is MissingSource }) { throw failure }
        return opened
    }

    /// A source that says what the app, a test or a tool tells it to say.
    public static func simulated(_ source: SimulatedSource) -> PressureSource {
        PressureSource(name: source.name) { () throws(PressureError) in source }
    }

    /// Opens the source.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when it does not exist here or may not be read; the
    ///   message says why and what to do.
    package func open(in context: SignalContext = .init()) throws(PressureError) -> [any SignalSource] {
        try make(context)
    }
}
