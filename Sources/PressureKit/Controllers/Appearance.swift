/// Where one controller is between hidden and visible, and every legal step.
///
/// ```
///              begin(true)               end
///    hidden ───────────────▶ appearing ──────▶ visible
///      ▲                      │     ▲             │
///  end │          begin(false)│     │begin(true)  │ begin(false)
///      │                      ▼     │             │
///      └──────────────────── disappearing ◀───────┘
/// ```
///
/// The states are UIKit's. A transition that is interrupted by its opposite never ends: only the opposite does, so
/// that every `will` has at most one `did`, and the last `will` always has one. Pure.
struct Appearance: Hashable, Sendable {
    /// Where the controller is.
    enum Phase: Hashable, Sendable {
        case hidden, appearing, visible, disappearing
    }

    /// Which of the transitions of one controller.
    struct Transition: Hashable, Sendable {
        fileprivate var number: UInt64
    }

    private(set) var phase = Phase.hidden
    private var number: UInt64 = 0

    /// Whether anything of it can be seen: from the beginning of its appearance to the end of its disappearance.
    var isVisible: Bool { phase != .hidden }

    /// Whether it is visible or about to be.
    var isAppearing: Bool { phase == .visible || phase == .appearing }

    /// Whether a transition is under way.
    var isChanging: Bool { phase == .appearing || phase == .disappearing }

    /// Begins to appear or disappear; `nil` when it is there, or on its way there, already.
    mutating func begin(isAppearing: Bool) -> Transition? {
        guard self.isAppearing != isAppearing else { return nil }
        phase = isAppearing ? .appearing : .disappearing
        number += 1
        return Transition(number: number)
    }

    /// Ends a transition: whether it appeared; `nil` when it was interrupted or has ended.
    mutating func end(_ transition: Transition) -> Bool? { transition.number == number ? end() : nil }

    /// Ends whatever transition is under way: whether it appeared; `nil` when none is.
    mutating func end() -> Bool? {
        switch phase {
        case .hidden, .visible: return nil
        case .appearing: phase = .visible
        case .disappearing: phase = .hidden
        }
        return phase == .visible
    }

    /// Whether a transition is the one under way.
    func isUnderWay(_ transition: Transition) -> Bool { transition.number == number && isChanging }

    /// The transition that is under way in one direction.
    func underWay(isAppearing: Bool) -> Transition? {
        isChanging && self.isAppearing == isAppearing ? Transition(number: number) : nil
    }
}
