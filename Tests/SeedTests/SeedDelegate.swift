import Glibc
import PressureKitTestSupport
import Synchronization

@testable import PressureKit

/// A controller's app object: listens, vetoes, and calls the library from its hooks as it is told to.
///
/// What it does with values it does only in hooks that a reclaim waits for, so that the order of things is one for each
/// seed; in those that are called beside the eviction it only looks.
final class SeedDelegate: PressureControllerDelegate, @unchecked Sendable {
    // Sendable: changed by steps, during which no hook runs.

    /// Weak: the world has the controllers.
    weak var world: SeedWorld?
    let home: Int
    /// That of the run.
    private let thread = pthread_self()
    /// What hooks do: a number that says which, and of which value.
    var mood = 0
    /// Caches whose names end in this digit are not to be evicted; 10 and more for none.
    var veto = 10
    var preferred: Disposition?
    /// Asked for from inside the next warning.
    let more = Lock<(@Sendable () -> Void)?>(nil)

    init(world: SeedWorld, home: Int) { (self.world, self.home) = (world, home) }

    private func hook(_ number: Int) {
        guard mood % 7 == number, let world else { return }
        world.calledBack(mood / 7, home: home)
    }

    /// Another thread that has made a value tells of it when its reader has gone on: beside the next steps.
    private func hookOfReader(_ number: Int) {
        guard pthread_equal(pthread_self(), thread) != 0 else { return }
        hook(number)
    }

    func didReceiveMemoryWarning(_ warning: MemoryWarning) {
        world?.warned(warning, home)
        more.withLock { $0.take() }?()
        hook(1)
    }

    func shouldEvict(_ resource: PressureResource) -> Bool { !resource.name.hasSuffix("\(veto)") }

    func preferredDisposition(for resource: PressureResource) -> Disposition? { preferred }

    func evictionWillBegin(_ cause: PressureCause) { look() }
    func evictionIsUnderWay(_ cause: PressureCause) { look() }
    func resourceWillEvict(_ resource: PressureResource) { look() }
    func resourceDidEvict(_ resource: PressureResource) { look() }

    func evictionDidEnd(_ report: EvictionReport) { hook(2) }

    func resourceDidLoad(_ resource: PressureResource) { hookOfReader(3) }
    func resourceDidRestore(_ resource: PressureResource) { hookOfReader(4) }
    func levelDidChange(_ cause: PressureCause) { hook(5) }
    func willAppear() { hook(6) }

    /// Calls that change nothing.
    private func look() {
        guard mood > 0, let world else { return }
        world.lookedAt(home)
    }
}

extension SeedWorld {
    /// A hook or a loader calls the library: reads, writes or forgets a value that nobody is at work on.
    func calledBack(_ number: Int, home: Int) {
        let others = entries.indices.filter { entries[$0].home == home && !busy.contains($0) }
        guard !others.isEmpty, calls < 400 else { return }
        calls += 1
        counts.hooks += 1
        let entry = others[number / 5 % others.count]
        // Those that suspend have their readers wait on threads of the library's, which is a matter of its own.
        guard !caches[entries[entry].cache].suspends else { return lookedAt(home) }
        switch number % 5 {
        case 0, 1: read(entry)
        case 2: set(entry, lie: .none)
        case 3: invalidate(entry)
        default: peek(entry)
        }
    }

    /// A hook looks at what there is.
    func lookedAt(_ home: Int) {
        _ = homes[home].manager.snapshot().tiers
        _ = homes[home].manager.level
    }

    /// A controller was warned: does the warning say why?
    func warned(_ warning: MemoryWarning, _ home: Int) {
        counts.warnings += 1
        let cause = warning.cause
        if warning.level == .normal { complain(.p11, "a warning of no level: \(cause)") }
        if cause.source.isEmpty { complain(.p11, "a warning without a source: \(cause)") }
        if warning.level != cause.levelAfter { complain(.p11, "a warning of \(warning.level) that says \(cause)") }
        guard cause.origin != .simulated else { return }
        checkNumbers(cause)
    }

    /// Whether a cause has the raw numbers that it goes by.
    func checkNumbers(_ cause: PressureCause) {
        guard cause.source == SeedMemory.name, cause.origin == .cgroup else {
            return complain(.p11, "another source than there is: \(cause)")
        }
        guard let available = cause.available, let limit = cause.limit else {
            return complain(.p11, "no raw numbers: \(cause)")
        }
        if limit.bytes != memory.limit.load(ordering: .relaxed) { complain(.p11, "another limit: \(cause)") }
        if available < .zero || available > limit { complain(.p11, "more than there is: \(cause)") }
        if cause.sampleAge < .zero || cause.sampleAge > .seconds(6) { complain(.p11, "an old sample: \(cause)") }
        if cause.levelAfter > cause.levelBefore, cause.evidence == nil {
            guard let threshold = cause.threshold else { return complain(.p11, "no threshold: \(cause)") }
            if available + cause.reclaimable > threshold { complain(.p11, "not below its threshold: \(cause)") }
        }
    }
}
