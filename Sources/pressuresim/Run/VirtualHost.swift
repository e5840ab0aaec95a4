import PressureKit

/// The host of virtual time: 8 GiB, of which other programs hold half, and the processes of a run on it, below one limit
/// if there is one.
final class VirtualHost: Sendable {
    /// Memory in all, and what others hold of it.
    static let size = ByteCount.mebibytes(8 << 10)
    static let othersShare = ByteCount.mebibytes(4 << 10)

    private struct State {
        /// Who holds memory: processes, and what they start.
        var holders: [@Sendable () -> ByteCount] = []
        var limit: ByteCount?
    }

    private let state = Lock(State())

    /// Counts what somebody holds from now on.
    func addHolder(_ held: @escaping @Sendable () -> ByteCount) { state.withLock { $0.holders.append(held) } }

    /// A limit on all who hold memory here, as of a cgroup that they are in; `nil` for none.
    var limit: ByteCount? {
        get { state.withLock { $0.limit } }
        set { state.withLock { $0.limit = newValue } }
    }

    private var held: ByteCount {
        let holders = state.withLock { $0.holders }
        return holders.reduce(.zero) { $0 + $1() }
    }

    /// What can be had.
    var available: ByteCount { max(.zero, Self.size - Self.othersShare - held) }

    /// What can be had below the limit; `nil` without one.
    var availableBelowLimit: ByteCount? { limit.map { max(.zero, $0 - held) } }
}
