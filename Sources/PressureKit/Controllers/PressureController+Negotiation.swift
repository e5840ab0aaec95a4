import PressureSignals
import PressureSystem
import Synchronization

/// What may leave memory, and how: the controller's part in a reclaim.
///
/// ```
/// shouldEvict, preferredDisposition      for each cache with something in memory; parents before children
/// evictionWillBegin                      if any of them may leave
///   ─ eviction: resourceWillEvict, resourceDidEvict for each value that goes, children before parents
///   └ evictionIsUnderWay                 beside it
/// evictionDidEnd                         with the report
/// ```
extension PressureController {
    /// Asks the delegate, by a reclaim. Returns whether the thread goes on.
    func negotiate(
        _ cause: PressureCause,
        _ delegate: any PressureControllerDelegate,
        by caller: HookCaller
    ) -> Bool {
        let entries = state.withLock { $0.entries }
        var takesPart = false
        for index in 0..<entries.endIndex {
            guard let entry = entries[index], entry.residentByteCount > 0 else { continue }
            let resource = PressureResource(entry: entry)
            var (isAllowed, preferred) = (true, Disposition?.none)
            guard caller.call(self, "shouldEvict", { isAllowed = delegate.shouldEvict(resource) }),
                caller.call(self, "preferredDisposition", { preferred = delegate.preferredDisposition(for: resource) })
            else { return false }
            entry.traits.answer(shouldEvict: isAllowed, preferred: preferred)
            if !entry.traits.current.isVetoed { takesPart = true }
        }
        guard takesPart else { return true }
        state.withLock { $0.takesPart = true }
        return caller.call(self, "evictionWillBegin") { delegate.evictionWillBegin(cause) }
    }

    /// Asks the delegates of this controller and all below it outside of any reclaim, on the calling thread.
    func ask() {
        let (delegate, entries, children, presented) = state.withLock {
            ($0.delegate, $0.entries, $0.children, $0.presented)
        }
        if let delegate {
            for entry in entries where entry.residentByteCount > 0 {
                let resource = PressureResource(entry: entry)
                entry.traits.answer(
                    shouldEvict: delegate.shouldEvict(resource),
                    preferred: delegate.preferredDisposition(for: resource)
                )
            }
        }
        for child in children { child.ask() }
        presented?.ask()
    }

    /// No answer is no veto.
    func forgetAnswers() {
        let entries = state.withLock { $0.entries }
        for entry in entries { entry.traits.answer(shouldEvict: true, preferred: nil) }
    }

    // MARK: The three sets

    /// Works out what is open to reclaims for a cache of this controller.
    ///
    /// - Throws: ``PressureError`` with `invalidConfiguration`, which names the sets, when nothing is.
    func agree(on entry: CacheEntry, manager: Disposition?) throws(PressureError) {
        let open = entry.traits.supported.intersection(supportedDispositions).intersection(manager ?? .all)
        let isEmpty = entry.hasLoader ? open.isEmpty : open.subtracting(.drop).isEmpty
        guard !isEmpty else {
            throw .noDisposition(
                entry.name,
                path: entry.path,
                cache: entry.traits.supported,
                controller: supportedDispositions,
                manager: manager,
                hasLoader: entry.hasLoader
            )
        }
        entry.traits.agree(on: open)
    }

    /// The same for all caches of this controller and those below it, before it joins a manager's tree. Nothing has
    /// changed if it throws, but for sets that were agreed on anew.
    func agreeBelow(manager: Disposition) throws(PressureError) {
        guard !supportedDispositions.intersection(manager).isEmpty else {
            throw .noDisposition(path, controller: supportedDispositions, manager: manager)
        }
        let (entries, below) = state.withLock { ($0.entries, $0.below) }
        for entry in entries { try agree(on: entry, manager: manager) }
        for controller in below { try controller.agreeBelow(manager: manager) }
    }
}
