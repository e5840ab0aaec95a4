import PressureKit
import ScenarioLanguage

/// What a scenario is played on: a way of passing time, a disk, memory, somebody who may stop it, and a log.
struct Stage: Sendable {
    let pace: any Pace
    let disk: SimulatedDisk
    let machine: any Machine
    let stop: StopSignal
    let events: EventLog
    /// What goes ahead where nothing is to be waited for; `nil` in virtual time, which does so anyway.
    let skipping: SkippingClock?
    /// The other processes that play the same; `nil` when there are none.
    var neighbourhood: (any Neighbourhood)?
    /// Where those share their limit in virtual time; really, where all processes do.
    var board: InMemoryBoard?

    /// The machine that is imagined, in virtual time.
    var virtualMachine: VirtualMachine? { machine as? VirtualMachine }

    /// This machine, in real time.
    static func real(
        seed: UInt64 = 1,
        stop: StopSignal = StopSignal(),
        events: EventLog = EventLog()
    ) -> Stage {
        Stage(RealPace(stop: stop), seed: seed, stop: stop, events: events)
    }

    /// A process on another machine, in virtual time.
    static func virtual(
        seed: UInt64 = 1,
        stop: StopSignal = StopSignal(),
        events: EventLog = EventLog()
    ) -> Stage {
        let pace = VirtualPace(clock: VirtualClock(), stop: stop)
        return Stage(pace, VirtualHost(), seed: seed, stop: stop, events: events)
    }

    /// One more process on this machine, which says nothing; `nil` in real time, where that is a process.
    func neighbour(seed: UInt64) -> Stage? {
        guard let pace = pace as? VirtualPace, let virtualMachine else { return nil }
        return Stage(pace, virtualMachine.host, seed: seed, stop: stop, events: EventLog())
    }

    private init(_ pace: VirtualPace, _ host: VirtualHost, seed: UInt64, stop: StopSignal, events: EventLog) {
        self.pace = pace
        disk = SimulatedDisk(time: VirtualDiskTime(clock: pace.virtualClock), isImagined: true, seed: seed)
        machine = VirtualMachine(on: host)
        self.stop = stop
        self.events = events
        skipping = nil
    }

    private init(_ pace: RealPace, seed: UInt64, stop: StopSignal, events: EventLog) {
        self.pace = pace
        disk = SimulatedDisk(time: RealDiskTime(stop: stop), isImagined: false, seed: seed)
        machine = RealMachine()
        self.stop = stop
        self.events = events
        skipping = SkippingClock()
    }

    /// What `hog` steps start.
    func makeHogs() -> any Hogs {
        virtualMachine.map { VirtualHogs(on: $0, pace: pace) } ?? HogProcesses(stop: stop)
    }

    /// Makes a manager's configuration one of this stage.
    func configure(_ configuration: inout PressureConfiguration, for memory: MemorySpec) {
        configuration.fileSystem = disk
        configuration.sources = memory.sources
        if case .realBelowStart(let taken) = memory, let available = machine.available, let total = machine.total {
            configuration.thresholds = taken.thresholds(available: available, total: total)
        }
        guard let virtualMachine else { return }
        virtualMachine.host.limit = memory.cgroupLimit
        configuration.clock = pace.clock
        configuration.isSequential = true
        configuration.workers = 1
        configuration.residentBytes = { [weak virtualMachine] in virtualMachine?.held.bytes ?? 0 }
        configuration.busyReading = { BusyReading(time: $0) }
        // By default that depends on this machine's cgroups.
        configuration.bypassesPageCache = false
        configuration.sources = memory.isReal ? [virtualMachine.source] : []
        if let board { configuration.boards = { (_: String) throws(BoardFile.Refusal) in try board.join() } }
    }

    /// Has a manager watch its sources, where nobody's thread does: to be called once the clock is to go.
    ///
    /// - Returns: What is to be ended with it; `nil` in real time.
    func drive(_ manager: PressureManager, _ recorder: TimelineRecorder) -> VirtualPace.Repetition? {
        guard let pace = pace as? VirtualPace else { return nil }
        struct Dues {
            var sample: MonotonicInstant
            var cleaning: MonotonicInstant?
            /// How often somebody had notified.
            var notifications = 0
        }
        let dues = Lock(Dues(sample: pace.clock.now()))
        return pace.repeatedly { [pace, board, weak manager, weak recorder] in
            guard let manager else { return .seconds(3600) }
            if dues.withLock({ $0.sample <= pace.clock.now() || $0.notifications != board?.notifications ?? 0 }) {
                let next = manager.drive()
                recorder?.noteEvent()
                // Cleaning is looked for with each sample; a notification is no reason to.
                let now = pace.clock.now()
                dues.withLock { $0 = Dues(sample: now + next, cleaning: now, notifications: board?.notifications ?? 0) }
            }
            if dues.withLock({ $0.cleaning.map { $0 <= pace.clock.now() } ?? false }) {
                let pause = manager.driveCleaning()
                dues.withLock { $0.cleaning = pause.map { pace.clock.now() + $0 } }
            }
            return dues.withLock { min($0.sample, $0.cleaning ?? $0.sample) } - pace.clock.now()
        }
    }
}
