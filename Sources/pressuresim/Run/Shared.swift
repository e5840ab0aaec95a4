import PressureKit

/// The tallies of several threads.
final class AccessTotal: Sendable {
    private let total = Lock(GroupedTally())

    var tally: GroupedTally { total.withLock { $0 } }

    func add(_ tally: GroupedTally) { total.withLock { $0.add(tally) } }
}

/// The first error of several threads.
final class RunFailures: Sendable {
    private let first = Lock<(any Error)?>(nil)

    func note(_ error: any Error) { first.withLock { $0 = $0 ?? error } }

    /// - Throws: the first error that was noted.
    func rethrow() throws {
        if let error = first.withLock({ $0 }) { throw error }
    }
}
