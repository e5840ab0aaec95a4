import PressureSystem

/// Is told what a manager does, to count it for others.
protocol ManagerMeter: Sendable {
    /// The monitor has taken a sample. On its thread, with no lock held.
    func sampled()
    /// A reclaim has ended. On the reclaim thread, when the memory is free.
    func reclaimed(_ report: EvictionReport)
    /// A value was read back, which took so long. On its reader's thread, with no lock held.
    func restored(_ duration: Duration)
}
