import PressureSystem
import Synchronization

/// What a cache is to the tree of controllers, beside its values: what may become of them, what its delegate has
/// answered, who is told of its failures, and what is kept of it when the state of the process is saved.
struct CacheTraits: ~Copyable, Sendable {
    /// What the cache itself supports.
    let supported: Disposition
    /// What is open to a reclaim, in the low half, and what the delegate has answered, in the high half: together, so that
    /// one load tells all.
    private let agreement: Atomic<UInt16>
    /// Asked of a failure before the controller is.
    let failureHandler = Lock<Handler<ResourceFailure, Bool>?>(nil)
    /// What is loaded instead while memory is short.
    let alternate = AtomicLazyReference<Alternate>()
    /// Whether a controller above it has, or had, a budget.
    let isBudgeted = Atomic<Bool>(false)
    /// The bytes in memory when budgets last counted them.
    let counted = Atomic<Int>(0)
    /// Whether a saved state includes it.
    let isRestorable = Atomic<Bool>(true)

    init(supported: Disposition) {
        self.supported = supported
        agreement = Atomic(UInt16(supported.rawValue))
    }

    private static let keepBit = UInt16(Disposition.keep.rawValue)
    private static let allBits = UInt16(Disposition.all.rawValue)
    private static let vetoBit: UInt16 = 1 << 8
    /// A veto that has kept a value from a reclaim.
    private static let heldBit: UInt16 = 1 << 9
    private static let preferenceShift: UInt16 = 12

    /// A reading of all of it.
    struct Agreement {
        fileprivate var bits: UInt16

        /// Whether a disposition is open.
        func allows(_ disposition: Disposition) -> Bool { bits & UInt16(disposition.rawValue) != 0 }
        /// Whether the delegate prefers a disposition.
        func prefers(_ disposition: Disposition) -> Bool {
            bits >> CacheTraits.preferenceShift & UInt16(disposition.rawValue) != 0
        }
        /// Whether the delegate wants the values left alone now, and may.
        var isVetoed: Bool { bits & CacheTraits.vetoBit != 0 && allows(.keep) }
        /// Whether a reclaim met that veto.
        var isHeld: Bool { bits & CacheTraits.heldBit != 0 }
        /// Whether nothing is restricted, as it is nearly always.
        var isFree: Bool { bits | CacheTraits.keepBit == CacheTraits.allBits }
    }

    /// What holds now. One relaxed load.
    var current: Agreement { Agreement(bits: agreement.load(ordering: .relaxed)) }

    /// Sets what is open.
    func agree(on open: Disposition) { change { $0 & ~0xFF | UInt16(open.rawValue) } }

    /// Notes what the delegate has answered for the reclaim that is about to begin.
    func answer(shouldEvict: Bool, preferred: Disposition?) {
        let preference = UInt16(preferred?.rawValue ?? 0) << Self.preferenceShift
        change { bits in
            let veto = shouldEvict ? 0 : Self.vetoBit | bits & Self.heldBit
            return bits & 0xFF | veto | preference
        }
    }

    /// A reclaim has met the veto.
    func hold() { change { $0 | Self.heldBit } }

    private func change(_ step: (UInt16) -> UInt16) {
        var current = agreement.load(ordering: .relaxed)
        while true {
            let (done, original) = agreement.weakCompareExchange(
                expected: current,
                desired: step(current),
                ordering: .relaxed
            )
            if done { return }
            current = original
        }
    }
}

extension CacheTraits.Agreement {
    /// How a value in memory leaves: `method`, which is what it would be with nothing restricted, or what is left of
    /// it; `nil` when it stays. Allocates nothing.
    func method(
        for word: ResidencyWord,
        canSpill: Bool,
        compression: CompressedTierUse,
        freely method: Candidate.Method
    ) -> Candidate.Method? {
        if isFree { return method }
        if isVetoed { return nil }
        func isOpen(_ method: Candidate.Method) -> Bool {
            switch method {
            case .release: word.isClean && allows(.spill)
            case .drop: word.isReloadable && allows(.drop)
            case .spill: !word.isClean && allows(.spill)
            case .compress: !word.isClean && allows(.compress) && compression != .none
            }
        }
        if prefers(.drop), isOpen(.drop) { return .drop }
        if prefers(.compress), isOpen(.compress) { return .compress }
        if prefers(.spill), canSpill, isOpen(.spill) { return .spill }
        if isOpen(method), method != .spill || canSpill { return method }
        if canSpill, isOpen(.spill) { return .spill }
        if isOpen(.compress) { return .compress }
        if isOpen(.drop) { return .drop }
        // Later, when there is a disk again.
        return isOpen(.spill) ? .spill : nil
    }
}

extension CacheEntry {
    /// Why a value with restricted dispositions stays in memory; notes the veto, if it was that.
    func noteRefusal() -> EvictionReport.SkipReason {
        guard traits.current.isVetoed else { return .unsupported }
        traits.hold()
        return .vetoed
    }
}
