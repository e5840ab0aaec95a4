/// The whole state of one cache slot in 64 bits, and every legal step from one state to the next.
///
/// Pure: a step takes a word and returns the next one, or `nil` when it is not legal there. The shell
/// (``SlotHeader``) applies steps by compare-and-exchange, so a step that was legal when it was computed either
/// happens whole or is computed again. What may be done to the value follows from the word alone:
///
/// | phase | value in memory | who may touch it |
/// |---|---|---|
/// | `unloaded` | no | nobody |
/// | `loading`, `restoring` | being made | the one thread that took the step |
/// | `resident` | yes | readers, each with a pin; one copier |
/// | `mutating` | yes | the one writer |
/// | `releasing` | being moved out | the one thread that took the step |
/// | `spilled` | no | nobody |
/// | `retired` | until the last pin goes | readers that were there before it was replaced |
///
/// While the word is *biased*, readers of a resident value may also come and go without a pin (``HazardRecord``), so that
/// `pins` is not all there are: whatever needs a value that nobody holds has to take the bias back first.
///
/// Layout: pins in bits 0–16, the copy's kind in 18–19, phase in 20–22, flags in 17 and 23–28, hits in 29–30, `evicted` in 31, the stamp in 32–63.
@usableFromInline
package struct ResidencyWord: RawRepresentable, Hashable, Sendable {
    @usableFromInline package var rawValue: UInt64

    @inlinable
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Where the value is and who owns it.
    package enum Phase: UInt64, CaseIterable, Sendable {
        case unloaded, loading, resident, mutating, releasing, spilled, restoring, retired
    }

    @inlinable static var pinMask: UInt64 { 0x1_FFFF }
    /// The most pins that readers take: 4,096 are left for those that a scan counts.
    @inlinable static var mostPins: UInt64 { 0x1_EFFF }
    @inlinable static var biasBit: UInt64 { 1 << 17 }
    @inlinable static var phaseMask: UInt64 { 0x7 << 20 }
    // Phases as numbers, since code that is inlined elsewhere cannot name the enumeration; a test compares them.
    @inlinable static var residentBits: UInt64 { 2 << 20 }
    @inlinable static var retiredBits: UInt64 { 7 << 20 }
    @inlinable static var waitersBit: UInt64 { 1 << 26 }
    @inlinable static var stampMask: UInt64 { 0xFFFF_FFFF << 32 }
    private static let cleanBit: UInt64 = 1 << 24
    private static let copyKindMask: UInt64 = 3 << 18
    /// What is known of the copy; all of it goes when the value changes.
    private static let copyBits = cleanBit | copyKindMask
    @inlinable static var copyingBit: UInt64 { 1 << 25 }
    private static let holdsValueBit: UInt64 = 1 << 27
    @inlinable static var visitedBit: UInt64 { 1 << 28 }
    private static let reloadableBit: UInt64 = 1 << 23
    @inlinable static var hitMask: UInt64 { 3 << 29 }
    @inlinable static var oneHit: UInt64 { 1 << 29 }
    private static let evictedBit: UInt64 = 1 << 31

    /// A slot that holds nothing.
    package static let unloaded = ResidencyWord(rawValue: 0)

    /// A slot that holds nothing, for a value that a reclaim dropped at `stamp`.
    package static func dropped(at stamp: UInt32) -> ResidencyWord {
        ResidencyWord(rawValue: evictedBit | UInt64(stamp) << 32)
    }

    /// A spare slot, not in use.
    package static let retired = ResidencyWord(rawValue: retiredBits)

    /// A slot that a writer fills before anybody else knows of it.
    package static let mutating = ResidencyWord(rawValue: Phase.mutating.rawValue << 20)
}

// MARK: - What a word says

extension ResidencyWord {
    /// Where the value is.
    package var phase: Phase {
        // Only `with(phase:)` writes these bits, from a Phase.
        unsafe Phase(rawValue: (rawValue & Self.phaseMask) >> 20).unsafelyUnwrapped
    }

    /// How many accesses and leases hold the value where it is; of a biased one, besides those that are not counted.
    package var pins: Int { Int(rawValue & Self.pinMask) }

    /// Whether there is a checked copy of the value as it is now.
    package var isClean: Bool { rawValue & Self.cleanBit != 0 }

    /// Where a copy is, and in what form.
    package enum CopyKind: UInt64, CaseIterable, Sendable {
        /// In the spill file, as it is to stay.
        case settled
        /// In the spill file, as it was, because memory was short: worth compressing when there is time.
        case provisional
        /// In memory, compressed.
        case compressed
        /// On a server.
        case remote
    }

    /// Where that copy is; `settled` if there is none.
    package var copyKind: CopyKind {
        // Two bits, and four cases; only `describingCopy` writes them.
        unsafe CopyKind(rawValue: (rawValue & Self.copyKindMask) >> 18).unsafelyUnwrapped
    }

    /// Whether the value is as the loader made it, so that the loader can make it again. What was set or changed since
    /// is not, loader or no loader.
    package var isReloadable: Bool { rawValue & Self.reloadableBit != 0 }

    /// Whether a copy of the value is being written.
    package var isCopying: Bool { rawValue & Self.copyingBit != 0 }

    /// Whether somebody sleeps until this word changes.
    @inlinable package var hasWaiters: Bool { rawValue & Self.waitersBit != 0 }

    /// The most hits that are counted.
    package static let mostHits: UInt8 = 3

    /// In how many ticks of the ``UseClock`` the value was used again, as far as reclaims have not forgotten it. Kept
    /// while the value is out of memory.
    package var hits: UInt8 { UInt8(truncatingIfNeeded: (rawValue & Self.hitMask) >> 29) }

    /// Out of memory: whether a reclaim took it. In memory: whether it came back from there too soon, and no reclaim has
    /// spared it since.
    package var isMarkedEvicted: Bool { rawValue & Self.evictedBit != 0 }

    /// The ``UseClock`` reading of the last access; out of memory, of the eviction.
    package var stamp: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }

    /// Whether a value is in memory that nobody is making, changing or taking away.
    @inlinable package var isResident: Bool { rawValue & Self.phaseMask == Self.residentBits }

    /// Whether there is no value and nobody is making one.
    package var isAway: Bool { phase == .unloaded || phase == .spilled }

    /// Whether there is a value, in memory or in a copy, whoever is at work on it.
    package var hasValue: Bool {
        switch phase {
        case .resident, .mutating, .releasing, .spilled, .restoring: true
        case .unloaded, .loading, .retired: false
        }
    }

    /// Whether nothing holds the value: no pin, no copy in the making, and no reader that could be without a pin.
    package var isIdle: Bool { pins == 0 && !isCopying && !isBiased }

    /// Whether nothing is known to hold the value.
    var seemsIdle: Bool { pins == 0 && !isCopying }

    /// Whether there is room for one more pin, and for those that others may be adding: only scans take what readers leave.
    var hasRoom: Bool { rawValue & Self.pinMask < Self.pinMask - 64 }

    /// Whether readers need no pin.
    @inlinable package var isBiased: Bool { rawValue & Self.biasBit != 0 }

    /// Whether readers need no pin, and one that comes at `stamp` has nothing to note.
    @inlinable
    func isBiased(noted stamp: UInt32) -> Bool {
        rawValue & (Self.phaseMask | Self.biasBit | Self.visitedBit | Self.stampMask)
            == Self.residentBits | Self.biasBit | Self.visitedBit | UInt64(stamp) << 32
    }

    /// Whether a slot that was replaced still has its value.
    package var holdsValue: Bool { rawValue & Self.holdsValueBit != 0 }

    /// Whether a reader has pinned the value since it was made, or since this was last cleared.
    package var isVisited: Bool { rawValue & Self.visitedBit != 0 }

    /// What the app is told.
    package var residency: Residency {
        switch phase {
        case .unloaded, .retired: .unloaded
        case .loading: .loading
        case .resident, .mutating, .releasing: .resident
        case .spilled: copyKind == .compressed ? .compressed : .spilled
        case .restoring: .restoring
        }
    }

    private func with(phase: Phase) -> ResidencyWord {
        ResidencyWord(rawValue: rawValue & ~Self.phaseMask | phase.rawValue << 20)
    }

    private func setting(_ bits: UInt64) -> ResidencyWord { ResidencyWord(rawValue: rawValue | bits) }

    private func clearing(_ bits: UInt64) -> ResidencyWord { ResidencyWord(rawValue: rawValue & ~bits) }

    /// The next phase of an owner's step: whoever slept wakes, nobody has used what is there now, and one pin for the owner's own read if it asks.
    private func settled(_ phase: Phase, pinned: Bool = false, stamp: UInt32? = nil) -> ResidencyWord {
        var word = with(phase: phase).clearing(Self.waitersBit | Self.visitedBit)
        if pinned { word.rawValue += 1 }
        return stamp.map { word.stamped($0) } ?? word
    }

    private func stamped(_ stamp: UInt32) -> ResidencyWord {
        ResidencyWord(rawValue: rawValue & ~Self.stampMask | UInt64(stamp) << 32)
    }
}

// MARK: - Reading

extension ResidencyWord {
    /// One more reader. Legal while the value is resident.
    @inlinable
    package func pinning(stamp: UInt32) -> ResidencyWord? {
        guard isResident, rawValue & Self.pinMask < Self.mostPins else { return nil }
        return ResidencyWord(rawValue: noting(stamp) + 1)
    }

    /// One more reader who needs no pin. Legal while the value is resident and biased.
    package func visiting(stamp: UInt32) -> ResidencyWord? {
        isResident && isBiased ? ResidencyWord(rawValue: noting(stamp)) : nil
    }

    @inlinable
    func noting(_ stamp: UInt32) -> UInt64 {
        // Uses in one tick are one use: what a reader does in a loop says nothing of the next reader.
        let isHit = rawValue >> 32 != UInt64(stamp) && rawValue & Self.hitMask != Self.hitMask
        let next = rawValue & ~Self.stampMask | Self.visitedBit | UInt64(stamp) << 32
        return isHit ? next + Self.oneHit : next
    }

    /// Readers need no pin from now on. Legal while the value is resident.
    package func biasing() -> ResidencyWord? { isResident && !isBiased ? setting(Self.biasBit) : nil }

    /// New readers need a pin again. Leaves a pin: whoever takes the bias gives it back when the readers are counted that
    /// had none.
    package func revokingBias() -> ResidencyWord? {
        isBiased ? ResidencyWord(rawValue: clearing(Self.biasBit).rawValue + 1) : nil
    }

    /// Whether the slot was replaced and nobody holds it any more: whoever made it so empties it.
    package var isAbandoned: Bool { phase == .retired && isIdle }

    /// The value was looked at by an order of eviction that gives what was used another chance (SIEVE's bit).
    package func clearingVisit() -> ResidencyWord? { isVisited ? clearing(Self.visitedBit) : nil }

    /// Sleepers are to be woken on the next change. Legal while somebody owns the slot.
    package func awaiting() -> ResidencyWord? {
        switch phase {
        case .loading, .restoring, .mutating, .releasing: setting(Self.waitersBit)
        case .unloaded, .resident, .spilled, .retired: nil
        }
    }
}

// MARK: - Loading and restoring

extension ResidencyWord {
    /// Nothing → the loader runs.
    package func beginningLoad() -> ResidencyWord? { phase == .unloaded ? with(phase: .loading) : nil }

    /// In the spill file → it is being read.
    package func beginningRestore() -> ResidencyWord? { phase == .spilled ? with(phase: .restoring) : nil }

    /// The copy could not be used → the loader runs, in the same slot and with the same sleepers. Legal if the loader
    /// makes the same value; the copy is kept until it has.
    package func rebuilding() -> ResidencyWord? {
        phase == .restoring && isReloadable ? with(phase: .loading) : nil
    }

    /// The value is made: resident, pinned once for the one who made it. A refault if a reclaim had taken it no more than
    /// `horizon` ticks ago.
    package func finishingLoad(stamp: UInt32, horizon: UInt32 = 0) -> ResidencyWord? {
        guard phase == .loading else { return nil }
        return judgingReturn(at: stamp, horizon).settled(.resident, pinned: true, stamp: stamp)
            .clearing(Self.copyBits).setting(Self.reloadableBit)
    }

    /// The value is read back: resident and clean, pinned once for the one who read it. A refault as after a load.
    ///
    /// Clean only if the copy is on disk: one in memory is let go, since nobody needs the value there twice.
    package func finishingRestore(stamp: UInt32, horizon: UInt32 = 0) -> ResidencyWord? {
        guard phase == .restoring else { return nil }
        let word = judgingReturn(at: stamp, horizon).settled(.resident, pinned: true, stamp: stamp)
        return copyKind == .compressed ? word.clearing(Self.copyBits) : word.setting(Self.cleanBit)
    }

    /// The copy is another one now, of the same value. Legal while it is being read, which keeps everybody else away.
    package func finishingMove(to kind: CopyKind) -> ResidencyWord? {
        phase == .restoring ? settled(.spilled).describingCopy(kind) : nil
    }

    fileprivate func describingCopy(_ kind: CopyKind) -> ResidencyWord {
        clearing(Self.copyBits).setting(Self.cleanBit | kind.rawValue << 18)
    }

    private func judgingReturn(at now: UInt32, _ horizon: UInt32) -> ResidencyWord {
        isMarkedEvicted && now &- stamp > horizon ? clearing(Self.evictedBit) : self
    }

    /// The loader threw: as before, and the next access tries again.
    package func failingLoad() -> ResidencyWord? {
        phase == .loading ? settled(isClean ? .spilled : .unloaded) : nil
    }

    /// The copy could not be read and no loader makes the value: it stays where it is, and the next access tries again.
    package func failingRestore() -> ResidencyWord? { phase == .restoring ? settled(.spilled) : nil }
}

// MARK: - Writing

extension ResidencyWord {
    /// One writer changes the value in place. Legal while nobody owns or holds it.
    package func beginningMutation() -> ResidencyWord? {
        guard isIdle else { return nil }
        switch phase {
        case .unloaded, .resident, .spilled: return with(phase: .mutating)
        case .loading, .mutating, .releasing, .restoring, .retired: return nil
        }
    }

    /// The one reader becomes the writer: its pin turns into ownership. Legal while nobody else holds the value.
    package func upgrading() -> ResidencyWord? {
        guard phase == .resident, pins == 1, !isCopying, !isBiased else { return nil }
        var word = with(phase: .mutating)
        word.rawValue -= 1
        return word
    }

    /// The writer is done; what was copied before is out of date.
    package func finishingMutation(
        hasValue: Bool,
        stamp: UInt32,
        isReloadable: Bool = false
    ) -> ResidencyWord? {
        guard phase == .mutating else { return nil }
        // What was evicted was another value, and what there is now no loader makes, unless the writer says so.
        let word = settled(hasValue ? .resident : .unloaded, stamp: stamp)
            .clearing(Self.copyBits | Self.evictedBit | Self.reloadableBit)
        return isReloadable ? word.setting(Self.reloadableBit) : word
    }

    /// Nothing is in the slot and nobody is at work on it: it becomes a spare.
    package func vacating() -> ResidencyWord? { phase == .unloaded ? settled(.retired) : nil }

    /// Another slot has taken this one's place. Legal in every phase but where a writer or a release is at work, and while
    /// there is no bias.
    ///
    /// Readers keep what they hold. A maker (loading or restoring) counts as one pin, which it gives up when it
    /// finishes and finds that nobody wants its value.
    package func retiring() -> ResidencyWord? {
        switch phase {
        case .mutating, .releasing, .retired: nil
        case .unloaded, .spilled: settled(.retired)
        case .loading, .restoring: settled(.retired, pinned: true)
        case .resident: isBiased ? nil : settled(.retired).setting(Self.holdsValueBit)
        }
    }
}

// MARK: - Eviction

extension ResidencyWord {
    /// A copy of the value is written while readers go on reading. Legal once, for a value without one.
    package func beginningCopy() -> ResidencyWord? {
        phase == .resident && !isCopying && !isClean ? setting(Self.copyingBit) : nil
    }

    /// The copy is written and checked, wherever that is, or given up. Legal also after the slot was retired meanwhile.
    package func finishingCopy(succeeded: Bool, as kind: CopyKind = .settled) -> ResidencyWord? {
        guard isCopying else { return nil }
        let word = clearing(Self.copyingBit)
        return succeeded && phase == .resident ? word.describingCopy(kind) : word
    }

    /// The value leaves memory. Legal while nobody holds it and it exists elsewhere: in a clean copy, or, with
    /// `dropping`, in what the loader can make again.
    package func beginningRelease(dropping: Bool) -> ResidencyWord? {
        phase == .resident && isIdle && (isClean || dropping && isReloadable) ? with(phase: .releasing) : nil
    }

    /// What is read no more may leave without a copy, whoever made it. Legal while nobody holds it.
    package func expiring() -> ResidencyWord? {
        phase == .resident && isIdle ? setting(Self.reloadableBit) : nil
    }

    /// The value has left memory: into the copy if there is one, else to the loader. The stamp is that of the eviction
    /// from now on, if there is one.
    package func finishingRelease(stamp: UInt32? = nil) -> ResidencyWord? {
        guard phase == .releasing else { return nil }
        let left = settled(isClean ? .spilled : .unloaded, stamp: stamp).setting(Self.evictedBit)
        return isClean ? left : left.clearing(Self.reloadableBit)
    }

    /// A plan has taken the hits into account. Legal in every phase.
    package func forgettingHits() -> ResidencyWord { clearing(Self.hitMask) }

    /// A reclaim has looked at the value and left it where it is: what it remembers of uses fades, its grace is over.
    /// Legal in every phase.
    package func spared(hits: UInt8) -> ResidencyWord {
        let word = phase == .resident ? clearing(Self.evictedBit) : self
        return ResidencyWord(rawValue: word.rawValue & ~Self.hitMask | UInt64(min(hits, Self.mostHits)) << 29)
    }
}

// MARK: - Saved values

extension ResidencyWord {
    /// The writer has put the copy of a saved value in place: out of memory, as after an eviction that nobody measures.
    package func adopting(isReloadable: Bool) -> ResidencyWord? {
        guard phase == .mutating else { return nil }
        let word = settled(.spilled).clearing(Self.evictedBit | Self.reloadableBit).describingCopy(.settled)
        return isReloadable ? word.setting(Self.reloadableBit) : word
    }
}
