import PressureKit

extension PressureCause {
    /// Whether a signal asked, and no step of the timeline. What is freed for a single load is the load's own affair:
    /// near a limit there is one for each of them.
    var isReal: Bool {
        switch origin {
        case .memoryInfo, .cgroup, .stall, .events, .service, .footprint: true
        case .simulated, .background, .request: false
        }
    }

    /// A reclaim that no step asked for, in a few words.
    var title: String { "\(levelAfter) from \(origin.rawValue)" }
}
