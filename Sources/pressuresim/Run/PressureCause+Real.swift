import PressureKit

extension PressureCause {
    /// Whether memory was short, and not a step of the timeline said so. What a loader is let in for counts: the library
    /// saw that there was no room.
    var isReal: Bool {
        switch origin {
        case .memoryInfo, .cgroup, .stall, .events, .service, .footprint: true
        case .request: source == "admission"
        case .simulated, .background: false
        }
    }

    /// A relief that no step asked for, in a few words.
    var title: String { origin == .request ? "room for a load" : "\(levelAfter) from \(origin.rawValue)" }
}
