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

    /// The machine that is imagined, in virtual time.
    var virtualMachine: VirtualMachine? { machine as? VirtualMachine }

    /// This machine, in real time.
    static func real(
        seed: UInt64 = 1,
        stop: StopSignal = StopSignal(),
        events: EventLog = EventLog()
    ) -> Stage {
        Stage(
            pace: RealPace(stop: stop),
            disk: SimulatedDisk(time: RealDiskTime(stop: stop), isImagined: false, seed: seed),
            machine: RealMachine(),
            stop: stop,
            events: events,
            skipping: SkippingClock()
        )
    }

    /// Another machine, in virtual time.
    static func virtual(
        seed: UInt64 = 1,
        stop: StopSignal = StopSignal(),
        events: EventLog = EventLog()
    ) -> Stage {
        let clock = VirtualClock()
        return Stage(
            pace: VirtualPace(clock: clock, stop: stop),
            disk: SimulatedDisk(time: VirtualDiskTime(clock: clock), isImagined: true, seed: seed),
            machine: VirtualMachine(),
            stop: stop,
            events: events,
            skipping: nil
        )
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
        virtualMachine.limit = memory.cgroupLimit
        configuration.clock = pace.clock
        configuration.isSequential = true
        configuration.workers = 1
        configuration.residentBytes = { [weak virtualMachine] in virtualMachine?.held.bytes ?? 0 }
        configuration.busyReading = { BusyReading(time: $0) }
        // By default that depends on this machine's cgroups.
        configuration.bypassesPageCache = false
        configuration.sources = memory.isReal ? [virtualMachine.source] : []
    }

    /// Has a manager watch its sources, where nobody's thread does: to be called once the clock is to go.
    func drive(_ manager: PressureManager, _ recorder: TimelineRecorder) {
        guard pace.isVirtual else { return }
        let dues = Lock<(sample: MonotonicInstant, calm: MonotonicInstant?)>((pace.clock.now(), nil))
        pace.repeatedly { [pace, weak manager, weak recorder] in
            guard let manager else { return .seconds(3600) }
            if dues.withLock({ $0.sample <= pace.clock.now() }) {
                let next = manager.drive()
                recorder?.noteEvent()
                // Calm work is looked for with each sample.
                dues.withLock { $0 = (pace.clock.now() + next, pace.clock.now()) }
            }
            if dues.withLock({ $0.calm.map { $0 <= pace.clock.now() } ?? false }) {
                let pause = manager.driveCleaning()
                dues.withLock { $0.calm = pause.map { pace.clock.now() + $0 } }
            }
            return dues.withLock { min($0.sample, $0.calm ?? $0.sample) } - pace.clock.now()
        }
    }
}
