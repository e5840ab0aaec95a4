import PressureSignals
import PressureSystem
import Synchronization

extension PressureController {
    /// Has the full values of this controller and all below it loaded in the background, now that the level is `level`.
    func bringFullBack(at level: PressureLevel) {
        var entries: [(entry: CacheEntry, isVisible: Bool)] = []
        collectEntries(into: &entries)
        let due = entries.filter { entry, _ in
            guard let alternate = entry.traits.alternate.load() else { return false }
            return alternate.level > level && entry.variant == .alternate
        }
        guard !due.isEmpty else { return }
        // Visible ones first: somebody looks at them.
        let ordered = due.filter(\.isVisible) + due.filter { !$0.isVisible }
        Task { [weak context] in
            for (entry, _) in ordered {
                guard let scene = context?.scene, let alternate = entry.traits.alternate.load(),
                    scene.level < alternate.level
                else { return }
                // A loader that fails has told its failure; the lighter value stays.
                try? await entry.bringFullBackSuspending()
            }
        }
    }
}
