import PressureKit

/// A contender in one run: makes the manager answer as it does, and notes what a real one could not have got back.
final class Entrant: PressureControllerDelegate {
    let contender: Contender
    /// The values that no loader makes, by the path of the cache that they are in.
    private let irreplaceable = Lock<[String: [any SimulatedCache]]>([:])
    /// Those of them that have left memory, by their own paths.
    private let gone = Lock<Set<String>>([])

    /// See ``companions``.
    private let added = Lock<[Entrant]>([])

    /// Those in the other processes that play the scenario.
    var companions: [Entrant] { added.withLock(\.self) }

    init(_ contender: Contender) { self.contender = contender }

    /// The same in one process more.
    func companion() -> Entrant {
        let companion = Entrant(contender)
        added.withLock { $0.append(companion) }
        return companion
    }

    /// How many values have left memory that no loader makes: this library kept copies, while whoever can only drop had
    /// lost them. 0 for contenders that spill.
    var onlyCopies: Int { gone.withLock(\.count) + companions.reduce(0) { $0 + $1.onlyCopies } }

    /// Before the manager is made.
    func configure(_ configuration: inout PressureConfiguration) { configuration.policy = contender.policy }

    /// Before the timeline begins. Delegates are weak: whoever plays keeps the entrant until the end.
    func enter(_ world: World) {
        guard let disposition = contender.disposition else { return }
        if disposition == .drop {
            let values = Dictionary(grouping: world.caches.filter { !$0.hasLoader }) { String($0.address) }
            irreplaceable.withLock { $0 = values }
        }
        for controller in world.controllers { controller.delegate = self }
    }

    /// What a cache does not support, as one without a loader does not support this, is not done to it.
    func preferredDisposition(for resource: PressureResource) -> Disposition? { contender.disposition }

    func resourceDidEvict(_ resource: PressureResource) {
        let values = irreplaceable.withLock { $0[resource.path] } ?? []
        // Of several in one cache, only some may have left.
        let left = values.count == 1 ? values : values.filter { $0.residency != .resident }
        gone.withLock { $0.formUnion(left.map(\.path)) }
    }
}
