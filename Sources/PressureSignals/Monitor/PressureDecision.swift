package import PressureSystem

/// What the monitor has to say: a change of level, a wish for reclaim, or both.
package struct PressureDecision: Hashable, Sendable {
    /// The level from now on.
    package var level: PressureLevel { cause.levelAfter }
    /// Whether the level is another than before.
    package var levelChanged: Bool { cause.levelBefore != cause.levelAfter }
    /// Why, with the numbers, and the level before and after.
    package var cause: PressureCause
    /// How bad it is, 0 … 1: warning begins at 1/3, critical at 2/3.
    package var score: Double
    /// What should be freed now; `nil` when nothing should.
    package var reclaim: ReclaimGoal?

    /// Creates a decision.
    package init(cause: PressureCause, score: Double, reclaim: ReclaimGoal?) {
        self.cause = cause
        self.score = score
        self.reclaim = reclaim
    }
}

/// A wish for memory.
package struct ReclaimGoal: Hashable, Sendable {
    /// How urgent it is.
    package var level: PressureLevel
    /// How much, what was freed since the sample already taken off; `nil` when no source said, and the policy decides.
    package var bytes: ByteCount?
    /// When the sample was taken that this was computed from. Whatever is freed later counts towards the goal.
    package var takenAt: MonotonicInstant

    /// Creates a goal.
    package init(level: PressureLevel, bytes: ByteCount?, takenAt: MonotonicInstant) {
        self.level = level
        self.bytes = bytes
        self.takenAt = takenAt
    }
}
