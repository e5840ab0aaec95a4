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
/// Layout: pins in bits 0–19, phase in 20–23, flags in 24–28, the stamp of the last use in 32–63.
@usableFromInline
package struct ResidencyWord: RawRepresentable, Hashable, Sendable {
    @usableFromInline package var rawValue: UInt64

    @inlinable
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Where the value is and who owns it.
    package enum Phase: UInt64, CaseIterable, Sendable {
        case unloaded, loading, resident, mutating, releasing, spilled, restoring, retired
    }

    @usableFromInline static let pinMask: UInt64 = 0xF_FFFF
    @usableFromInline static let phaseMask: UInt64 = 0xF << 20
    @usableFromInline static let residentBits: UInt64 = Phase.resident.rawValue << 20
    @usableFromInline static let retiredBits: UInt64 = Phase.retired.rawValue << 20
    @usableFromInline static let waitersBit: UInt64 = 1 << 26
    @usableFromInline static let stampMask: UInt64 = 0xFFFF_FFFF << 32
    private static let cleanBit: UInt64 = 1 << 24
    @usableFromInline static let copyingBit: UInt64 = 1 << 25
    private static let holdsValueBit: UInt64 = 1 << 27
    @usableFromInline static let visitedBit: UInt64 = 1 << 28
    private static let reloadableBit: UInt64 = 1 << 29

    /// A slot that holds nothing.
    package static let unloaded = ResidencyWord(rawValue: 0)

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

    /// How many accesses and leases hold the value where it is.
    package var pins: Int { Int(rawValue & Self.pinMask) }

    /// Whether the spill file holds a checked copy of the value as it is now.
    package var isClean: Bool { rawValue & Self.cleanBit != 0 }

    /// Whether the value is as the loader made it, so that the loader can make it again. What was set or changed since
    /// is not, loader or no loader.
    package var isReloadable: Bool { rawValue & Self.reloadableBit != 0 }

    /// Whether a copy of the value is being written.
    package var isCopying: Bool { rawValue & Self.copyingBit != 0 }

    /// Whether somebody sleeps until this word changes.
    @inlinable package var hasWaiters: Bool { rawValue & Self.waitersBit != 0 }

    /// The ``UseClock`` reading of the last access.
    package var stamp: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }

    /// Whether a value is in memory that nobody is making, changing or taking away.
    @inlinable package var isResident: Bool { rawValue & Self.phaseMask == Self.residentBits }

    /// Whether there is no value and nobody is making one.
    package var isAway: Bool { phase == .unloaded || phase == .spilled }

    /// Whether nothing holds the value: no pin and no copy in the making.
    package var isIdle: Bool { pins == 0 && !isCopying }

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
        case .spilled: .spilled
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
        if let stamp { word.rawValue = word.rawValue & ~Self.stampMask | UInt64(stamp) << 32 }
        return word
    }
}

// MARK: - Reading

extension ResidencyWord {
    /// One more reader. Legal while the value is resident.
    @inlinable
    package func pinning(stamp: UInt32) -> ResidencyWord? {
        guard isResident, rawValue & Self.pinMask != Self.pinMask else { return nil }
        return ResidencyWord(rawValue: (rawValue & ~Self.stampMask | Self.visitedBit | UInt64(stamp) << 32) + 1)
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

    /// The value is made: resident, pinned once for the one who made it.
    package func finishingLoad(stamp: UInt32) -> ResidencyWord? {
        guard phase == .loading else { return nil }
        return settled(.resident, pinned: true, stamp: stamp).clearing(Self.cleanBit).setting(Self.reloadableBit)
    }

    /// The value is read back: resident and clean, pinned once for the one who read it.
    package func finishingRestore(stamp: UInt32) -> ResidencyWord? {
        phase == .restoring ? settled(.resident, pinned: true, stamp: stamp).setting(Self.cleanBit) : nil
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
        guard phase == .resident, pins == 1, !isCopying else { return nil }
        var word = with(phase: .mutating)
        word.rawValue -= 1
        return word
    }

    /// The writer is done; what was copied before is out of date.
    package func finishingMutation(hasValue: Bool, stamp: UInt32) -> ResidencyWord? {
        guard phase == .mutating else { return nil }
        return settled(hasValue ? .resident : .unloaded, stamp: stamp).clearing(Self.cleanBit | Self.reloadableBit)
    }

    /// Nothing is in the slot and nobody is at work on it: it becomes a spare.
    package func vacating() -> ResidencyWord? { phase == .unloaded ? settled(.retired) : nil }

    /// Another slot has taken this one's place. Legal in every phase but where a writer or a release is at work.
    ///
    /// Readers keep what they hold. A maker (loading or restoring) counts as one pin, which it gives up when it
    /// finishes and finds that nobody wants its value.
    package func retiring() -> ResidencyWord? {
        switch phase {
        case .mutating, .releasing, .retired: nil
        case .unloaded, .spilled: settled(.retired)
        case .loading, .restoring: settled(.retired, pinned: true)
        case .resident: settled(.retired).setting(Self.holdsValueBit)
        }
    }
}

// MARK: - Eviction

extension ResidencyWord {
    /// A copy of the value is written while readers go on reading. Legal once, for a value without one.
    package func beginningCopy() -> ResidencyWord? {
        phase == .resident && !isCopying && !isClean ? setting(Self.copyingBit) : nil
    }

    /// The copy is written and checked, or given up. Legal also after the slot was retired meanwhile.
    package func finishingCopy(succeeded: Bool) -> ResidencyWord? {
        guard isCopying else { return nil }
        let word = clearing(Self.copyingBit)
        return succeeded && phase == .resident ? word.setting(Self.cleanBit) : word
    }

    /// The value leaves memory. Legal while nobody holds it and it exists elsewhere: in a clean copy, or, with
    /// `dropping`, in what the loader can make again.
    package func beginningRelease(dropping: Bool) -> ResidencyWord? {
        phase == .resident && isIdle && (isClean || dropping && isReloadable) ? with(phase: .releasing) : nil
    }

    /// The value has left memory: into the copy if there is one, else to the loader.
    package func finishingRelease() -> ResidencyWord? {
        guard phase == .releasing else { return nil }
        return isClean ? settled(.spilled) : settled(.unloaded).clearing(Self.reloadableBit)
    }
}
