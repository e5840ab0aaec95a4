import PressureKit

/// A contender in one run: makes the manager answer as it does, and notes what a real one could not have got back.
final class Entrant: PressureControllerDelegate {
    let contender: Contender
    private let gone = Lock<Set<String>>([])

    init(_ contender: Contender) { self.contender = contender }

    /// How many caches without a loader have lost their value from memory: this library kept copies, while whoever can
    /// only drop had lost it. 0 for contenders that spill.
    var onlyCopies: Int { gone.withLock(\.count) }

    /// Before the manager is made.
    func configure(_ configuration: inout PressureConfiguration) { configuration.evictionOrder = contender.order }

    /// Before the timeline begins. Delegates are weak: whoever plays keeps the entrant until the end.
    func enter(_ world: World) {
        guard contender.onlyDrops else { return }
        for controller in world.controllers { controller.delegate = self }
    }

    /// What a cache does not support, as one without a loader does not support this, is not done to it.
    func preferredDisposition(for resource: PressureResource) -> Disposition? { .drop }

    func resourceDidEvict(_ resource: PressureResource) {
        guard !resource.hasLoader else { return }
        gone.withLock { _ = $0.insert(resource.path) }
    }
}
