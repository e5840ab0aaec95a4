public import PressureSystem

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

    /// What is left of the limits of all cgroups that the process is in and can see, version 2 and version 1.
    public static let cgroups = PressureSource(name: "cgroups") { (context: SignalContext) throws(PressureError) in
        [try CgroupSource(context: context)]
    }

    /// How often those cgroups have met their limits, version 2 only.
    public static let cgroupEvents = PressureSource(name: "memory.events") {
        (context: SignalContext) throws(PressureError) in
        [try CgroupEventsSource(context: context)]
    }

    /// How long tasks have waited for memory, in the process's own cgroup, above it, and on the machine (PSI).
    public static let stalls = PressureSource(name: "stalls") { (context: SignalContext) throws(PressureError) in
        [try StallSource(context: context)]
    }

    /// What the service manager has watched for the process: systemd's `MEMORY_PRESSURE_WATCH`.
    public static let service = PressureSource(name: ServiceWatch.watchVariable) {
        (context: SignalContext) throws(PressureError) in
        [try ServiceSource(ServiceWatch(context.environment ?? ServiceWatch.variables))]
    }

    /// The process's own memory against a limit of the app's: for a process that is to leave room for others.
    public static func footprint(limit: ByteCount) -> PressureSource {
        PressureSource(name: "own footprint") { (context: SignalContext) throws(PressureError) in
            [try FootprintSource(limit: limit, context: context)]
        }
    }

    /// Everything that exists here, and the default: ``memoryInfo``, ``cgroups``, ``cgroupEvents``, ``stalls`` and
    /// ``service``.
    ///
    /// What does not exist is left out, and ``PressureSnapshot/signals`` says why. Where the service manager has turned
    /// memory pressure off (`MEMORY_PRESSURE_WATCH=/dev/null`), stalls are left out as well; limits still bind, so
    /// headroom is still watched.
    public static let automatic = PressureSource(name: "automatic") { (context: SignalContext) throws(PressureError) in
        let choices: [(PressureSource, PressureCause.Origin)] = [
            (.memoryInfo, .memoryInfo), (.cgroups, .cgroup), (.cgroupEvents, .events), (.stalls, .stall),
            (.service, .service),
        ]
        let isOff = ServiceWatch(context.environment ?? ServiceWatch.variables) == .off
        var opened: [any SignalSource] = []
        var failure: PressureError?
        for (source, origin) in choices {
            do throws(PressureError) {
                if isOff, origin == .stall { throw .turnedOff }
                opened += try source.open(in: context)
            } catch {
                failure = failure ?? error
                opened.append(MissingSource(name: source.name, origin: origin, error: error))
            }
        }
        if let failure, opened.allSatisfy({ $0 is MissingSource }) { throw failure }
        return opened
    }

    /// A source that says what the app, a test or a tool tells it to say.
    public static func simulated(_ source: SimulatedSource) -> PressureSource {
        PressureSource(name: source.name) { () throws(PressureError) in source }
    }

    /// What was recorded elsewhere, as if it happened now.
    package static func recorded(_ recording: SignalRecording, name: String) -> PressureSource {
        PressureSource(name: name) { () throws(PressureError) in RecordedSource(recording, name: name) }
    }

    /// Opens the source.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when it does not exist here or may not be read; the
    ///   message says why and what to do.
    package func open(in context: SignalContext = .init()) throws(PressureError) -> [any SignalSource] {
        try make(context)
    }
}

extension [PressureSource] {
    /// Opens all of them, or throws what the first refuses with.
    package func open(in context: SignalContext = .init()) throws(PressureError) -> [any SignalSource] {
        var opened: [any SignalSource] = []
        for source in self { opened += try source.open(in: context) }
        return opened
    }
}

extension PressureError {
    fileprivate static var turnedOff: PressureError {
        PressureError(
            code: .signalUnavailable,
            message: "The service manager has turned it off (\(ServiceWatch.watchVariable)=/dev/null)."
        )
    }
}
