import PressureSystem
import Synchronization

/// What loads and restores need of a manager: all that a thread which brings a value in asks for. Keeps no thread and no file.
final class LoadServices: Sendable {
    /// Asked before a value is brought into memory.
    let admission: Admission
    /// What loads and restores are timed by.
    let clock: any MonotonicClock
    /// Told of restores.
    let meter: (any ManagerMeter)?

    init(admission: Admission, clock: any MonotonicClock, meter: (any ManagerMeter)?) {
        self.admission = admission
        self.clock = clock
        self.meter = meter
    }
}

/// A controller's way to them, without a lock: every load goes it, and the root's lock would be everybody's.
///
/// It may be open only while the controller is in the tree. Closed, it means to climb to the root and ask there, which is
/// slow, and never wrong. It leads to the first manager's; a controller that has moved to another one climbs.
struct LoadServicesLink: ~Copyable, Sendable {
    private let first = AtomicLazyReference<LoadServices>()
    private let isOpen = Atomic<Bool>(false)

    /// Without climbing; `nil` while it is closed.
    var services: LoadServices? { isOpen.load(ordering: .acquiring) ? first.load() : nil }

    /// Opens it, if it leads there.
    func open(to services: LoadServices) {
        guard first.storeIfNil(services) === services else { return }
        isOpen.store(true, ordering: .releasing)
    }

    func close() { isOpen.store(false, ordering: .releasing) }
}

extension PressureController {
    /// What its caches' loads and restores need; `nil` in no manager's tree.
    var services: LoadServices? { link.services ?? context?.services }

    /// Opens the links of this controller and all below it, if it is in a manager's tree. Under ``hierarchy``.
    func openLinks() {
        var root = self
        while let superior = root.superior { root = superior }
        guard let context = root.state.withLock({ $0.context }) else { return }
        forEachBelow { $0.link.open(to: context.services) }
        // A root that goes closes the links below it: those that are opened while it is there.
        withExtendedLifetime(root) {}
    }

    /// Closes the links of this controller and all below it. Any time.
    func closeLinks() { forEachBelow { $0.link.close() } }

    private func forEachBelow(_ body: (PressureController) -> Void) {
        body(self)
        for controller in state.withLock(\.below) { controller.forEachBelow(body) }
    }
}
