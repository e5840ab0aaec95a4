public import PressureKit

extension PressureConfiguration {
    /// A configuration for unit tests: spills to a disk in memory, watches nothing but `sources`, does one thing at a
    /// time, and nothing ahead of need.
    ///
    /// ```swift
    /// let manager = try PressureManager(configuration: .testing())
    /// ```
    ///
    /// What the environment says (`TMPDIR`) does not matter. The directory `/var/tmp` exists on the disk, for state to be
    /// saved below it.
    ///
    /// - Parameters:
    ///   - disk: Where values are spilled.
    ///   - clock: Where every time comes from, if given. Nothing happens then beside the test: pass the time by
    ///     ``PressureKit/PressureManager/watch(for:on:)``, and do not call `run()`. Without it the system's clock goes on.
    ///   - sources: The signals; a ``MarbleSource`` or a `SimulatedSource` most often.
    public static func testing(
        disk: InMemoryFileSystem = InMemoryFileSystem(),
        clock: ManualClock? = nil,
        sources: [PressureSource] = []
    ) -> PressureConfiguration {
        testing(on: disk, clock: clock, sources: sources)
    }

    /// The same on a disk that fails on command.
    ///
    /// - Parameters:
    ///   - disk: Where values are spilled, and what goes wrong there.
    ///   - clock: As for the other form.
    ///   - sources: As for the other form.
    public static func testing(
        disk: FaultyFileSystem,
        clock: ManualClock? = nil,
        sources: [PressureSource] = []
    ) -> PressureConfiguration {
        testing(on: disk, clock: clock, sources: sources)
    }

    private static func testing(
        on disk: any NamedFileSystem,
        clock: ManualClock?,
        sources: [PressureSource]
    ) -> PressureConfiguration {
        var configuration = PressureConfiguration()
        configuration.sources = sources
        configuration.fileSystem = disk
        configuration.environment = [:]
        // The disk is the test's own: nobody else wants room there.
        configuration.freeSpaceFloor = .zero
        configuration.workers = 1
        configuration.copiesAhead = false
        configuration.compressesLater = false
        if let clock {
            configuration.clock = clock
            configuration.isSequential = true
            // A machine that nobody else uses.
            configuration.busyReading = { BusyReading(time: $0) }
        }
        return configuration
    }
}
