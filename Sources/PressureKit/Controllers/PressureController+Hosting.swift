import PressureSystem

/// A controller as its caches see it.
extension PressureController: CacheHost {
    var admission: Admission? { services?.admission }

    var engine: ReclaimEngine? { context?.engine }

    var clock: any MonotonicClock { services?.clock ?? SystemClock() }

    var isShort: Bool { (context?.scene.level ?? .normal) != .normal }

    func reservePlans() { context?.reserve() }

    func willEvict(_ resource: PressureResource) { tell(.willEvict, resource) }

    func didEvict(_ resource: PressureResource) { tell(.didEvict, resource) }

    func didLoad(_ resource: PressureResource) { delegate?.resourceDidLoad(resource) }

    func didRead(in duration: Duration) { services?.meter?.restored(duration) }

    func didRestore(_ resource: PressureResource) { delegate?.resourceDidRestore(resource) }

    func note(_ failure: PressureError) { context?.note(failure) }

    func noteStuckLoaders(at path: String, threads: Int, waiting: Int) {
        context?.log.stuck(at: path, threads: threads, waiting: waiting)
    }

    /// Sends a failure up until somebody handles it.
    ///
    /// ```
    /// cache (onFailure) → controller → its parent or presenter → … → root → manager's delegate
    /// ```
    func handle(_ failure: ResourceFailure) -> Bool {
        var next: PressureController? = self
        while let controller = next {
            if controller.delegate?.handle(failure) ?? false { return true }
            if let context = controller.state.withLock({ $0.context }) {
                return context.delegate?.handle(failure) ?? false
            }
            next = controller.superior
        }
        return false
    }
}

extension PressureResource {
    /// The controller it belongs to, while that exists.
    public var controller: PressureController? { entry.host as? PressureController }
}
