import PressureKit
import Synchronization

/// The machine of virtual time: 8 GiB, of which other programs hold half, and a process whose memory is what its caches,
/// its compressed copies and its fills hold, to the byte.
///
/// Nobody takes that memory really: values are real, a fill is a number. What is available goes through the library's own
/// classifier and thresholds, as a reading of `/proc/meminfo` would.
final class VirtualMachine: Machine {
    /// Memory in all, and what others hold of it.
    static let size = ByteCount.mebibytes(8 << 10)
    static let othersShare = ByteCount.mebibytes(4 << 10)

    private struct State {
        weak var manager: PressureManager?
        /// Who else holds memory: in the process's own group if there is a limit, as its children do.
        var holders: [@Sendable () -> ByteCount] = []
        /// A limit on the process and what it takes, as of a cgroup.
        var limit: ByteCount?
    }

    private let state = Lock(State())
    private let taken = Atomic<Int>(0)

    /// Whose memory it is from now on.
    func house(_ manager: PressureManager) { state.withLock { $0.manager = manager } }

    /// Counts what somebody else holds from now on, such as a child of the process.
    func addHolder(_ held: @escaping @Sendable () -> ByteCount) { state.withLock { $0.holders.append(held) } }

    /// What those hold.
    private var heldByOthers: ByteCount {
        let holders = state.withLock { $0.holders }
        return holders.reduce(.zero) { $0 + $1() }
    }

    /// What the process may hold at most; `nil` for all there is.
    var limit: ByteCount? {
        get { state.withLock { $0.limit } }
        set { state.withLock { $0.limit = newValue } }
    }

    /// What the process holds.
    var held: ByteCount {
        let manager = state.withLock { $0.manager }
        let fills = ByteCount.bytes(taken.load(ordering: .relaxed))
        guard let manager else { return fills }
        return fills + manager.tiers.resident + manager.spillUsage.compressed
    }

    // What the model says would prove nothing: it is not measured.
    var resident: ByteCount? { nil }
    var residentPeak: ByteCount? { nil }

    var available: ByteCount? { max(.zero, Self.size - Self.othersShare - heldByOthers - held) }
    var total: ByteCount? { Self.size }
    var containerAvailable: ByteCount? { limit.map { max(.zero, $0 - held - heldByOthers) } }

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
            guard let limit = isLimit ? machine.limit : machine.total, let available,
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
