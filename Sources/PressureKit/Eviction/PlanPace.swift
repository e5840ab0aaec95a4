/// How soon what a plan frees is wanted.
enum PlanPace: Hashable, Sendable {
    /// Nobody waits: memory is kept full, and what is written is written once.
    case steady
    /// Memory is short.
    case reclaim
    /// Others take it this very moment: what can be made again goes without a copy.
    case hasty
}
