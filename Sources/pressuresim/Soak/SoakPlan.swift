import PressureKit

/// What the soak asks of a process: to hold several times what it is allowed to, for as long as it is told to.
struct SoakPlan: Hashable, Sendable, Codable {
    /// Bytes of the limit of the cgroup it runs in.
    var limitBytes = 256 << 20
    /// The working set, as a multiple of the limit.
    var times = 4.0
    /// The bytes of one value.
    var valueBytes = 256 << 10
    /// How long values are read and changed.
    var seconds = 600.0
    /// Reads and changes in a second, at most.
    var rate = 200.0
    /// Where to spill, and to save states below; `nil` for the library's choice and `/var/tmp`.
    var directory: String?

    /// Where states are saved, by whoever started the process; it removes them.
    var states: String?

    /// How many values make up the working set.
    var count: Int { max(Int(times * Double(limitBytes)) / valueBytes, 4) }

    /// What is measured is summed up this often: sixty times, and not more often than once a second.
    var windowSeconds: Double { max(seconds / 60, 1) }

    /// Seconds from one stay in the background to the next.
    var sceneInterval: Double { min(seconds / 6, 30) }

    /// Seconds from one save of the state to the next.
    var saveInterval: Double { min(seconds / 7, 45) }

    /// One access in so many changes the value.
    static let readsPerChange = 16

    /// Values whose cache is part of the saved state.
    static let notes = 16
}
