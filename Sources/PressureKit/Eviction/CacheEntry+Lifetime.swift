import Synchronization

/// How old values are, in a cache whose values end.
extension CacheEntry {
    /// Notes that a slot's value is written now.
    func noteWrite(_ slot: UnsafeMutableRawPointer) {
        guard let lifetimes else { return }
        let age = ValueAge(written: lifetimes.now(host))
        unsafe self.age(of: slot).pointee.store(age.rawValue, ordering: .relaxed)
    }

    /// Notes a read that finds the slot's value now, unless that has ended. What is just being made or changed has not.
    func noteRead(_ slot: UnsafeMutableRawPointer, at now: UInt32) -> Lifetime.Stage {
        let age = unsafe valueAge(of: slot)
        let stage = unsafe stage(of: slot, age, at: now)
        if stage != .over, age.read != now {
            // One who has written or read it meanwhile has noted the same or better.
            unsafe _ = self.age(of: slot).pointee.compareExchange(
                expected: age.rawValue,
                desired: age.read(at: now).rawValue,
                ordering: .relaxed
            )
        }
        return stage
    }

    /// Whether the slot has a value that is to be loaded anew.
    func isDue(_ slot: UnsafeMutableRawPointer, at now: UInt32) -> Bool {
        unsafe stage(of: slot, valueAge(of: slot), at: now) == .due
    }

    /// Whether the slot's value has ended, and nobody is at work on it.
    func isOver(_ slot: UnsafeMutableRawPointer, at now: UInt32) -> Bool {
        unsafe stage(of: slot, valueAge(of: slot), at: now) == .over
    }

    /// The same now; never where nothing ends.
    func isOver(_ slot: UnsafeMutableRawPointer) -> Bool {
        guard let lifetimes else { return false }
        return unsafe isOver(slot, at: lifetimes.now(host))
    }

    /// How a value leaves that has ended: at once and without a copy, whoever made it and whatever may become of values
    /// otherwise. `nil` for all others.
    ///
    /// - Parameter word: what the slot said, read before its age is: then both are of one value.
    func wayOutOfEnded(_ slot: UnsafeMutableRawPointer, _ word: inout ResidencyWord) -> Candidate.Method? {
        guard unsafe isOver(slot) else { return nil }
        // Only the value that was looked at: one that was set meanwhile is new, and has another stamp.
        let seen = word
        if let step = unsafe header(slot).pointee.apply({ $0 == seen ? $0.expiring() : nil }) { word = step.after }
        if word.isClean { return .release }
        return word.isReloadable ? .drop : nil
    }

    /// Whether there is a value for a reader, in memory or in a copy.
    func hasValue(_ slot: UnsafeMutableRawPointer) -> Bool {
        unsafe header(slot).pointee.state.hasValue && !isOver(slot)
    }

    private func valueAge(of slot: UnsafeMutableRawPointer) -> ValueAge {
        ValueAge(rawValue: unsafe age(of: slot).pointee.load(ordering: .relaxed))
    }

    private func stage(of slot: UnsafeMutableRawPointer, _ age: ValueAge, at now: UInt32) -> Lifetime.Stage {
        switch unsafe header(slot).pointee.state.phase {
        case .resident, .spilled, .restoring: lifetimes?.lifetime.stage(of: age, at: now) ?? .fresh
        case .unloaded, .loading, .mutating, .releasing, .retired: .fresh
        }
    }
}
