import PressureKit
import Synchronization

/// A process of virtual time: its memory is what its caches, its compressed copies and its fills hold, to the byte.
///
/// Nobody takes that memory really: values are real, a fill is a number. What is available on its host goes through the
/// library's own classifier and thresholds, as a reading of `/proc/meminfo` would.
final class VirtualMachine: Machine {
    private struct State {
        weak var manager: PressureManager?
    }

    let host: VirtualHost
    private let state = Lock(State())
    private let taken = Atomic<Int>(0)

    init(on host: VirtualHost = VirtualHost()) {
        self.host = host
        host.addHolder { [weak self] in self?.held ?? .zero }
    }

    /// Whose memory it is from now on.
    func house(_ manager: PressureManager) { state.withLock { $0.manager = manager } }

    /// What the process holds.
    var held: ByteCount {
        let manager = state.withLock { $0.manager }
        let fills = ByteCount.bytes(taken.load(ordering: .relaxed))
        guard let manager else { return fills }
        return fills + manager.tiers.resident + manager.spillUsage.compressed
    }

    /// What of that are values.
    var values: ByteCount { state.withLock { $0.manager }?.tiers.resident ?? .zero }

    // What the model says would prove nothing: it is not measured.
    var resident: ByteCount? { nil }
    var residentPeak: ByteCount? { nil }

    var available: ByteCount? { host.available }
    var total: ByteCount? { VirtualHost.size }
    var containerAvailable: ByteCount? { host.availableBelowLimit }

    func take(_ byteCount: Int) -> any TakenMemory { Taken(byteCount, of: self) }

    private final class Taken: TakenMemory {
        private let byteCount: Int
        private let machine: VirtualMachine

        init(_ byteCount: Int, of machine: VirtualMachine) {
            self.byteCount = byteCount
            self.machine = machine
            machine.taken.wrappingAdd(byteCount, ordering: .relaxed)
        }

        deinit { machine.taken.wrappingSubtract(byteCount, ordering: .relaxed) }
    }

    // MARK: For the library

    /// What a manager watches in place of `/proc/meminfo` and the cgroups.
    var source: PressureSource {
        PressureSource(name: "virtual memory") { (_: SignalContext) throws(PressureError) in
            [Reading(machine: self, isLimit: false), Reading(machine: self, isLimit: true)]
        }
    }

    private final class Reading: SignalSource {
        let machine: VirtualMachine
        /// Whether it reads the limit, or the machine as a whole.
        let isLimit: Bool

        init(machine: VirtualMachine, isLimit: Bool) {
            self.machine = machine
            self.isLimit = isLimit
        }

        var name: String { isLimit ? "virtual limit" : "virtual memory" }

        func sample(at now: MonotonicInstant) -> SignalReading? {
            let available = isLimit ? machine.containerAvailable : machine.available
            guard let limit = isLimit ? machine.host.limit : machine.total, let available,
                let headroom = Headroom(available: available, limit: limit)
            else { return nil }
            return SignalReading(
                origin: isLimit ? .cgroup : .memoryInfo,
                source: name,
                measure: .headroom(headroom),
                takenAt: now
            )
        }
    }
}
