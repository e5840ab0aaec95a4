import PressureSystem

/// What was saved or restored.
public struct StateReport: Sendable {
    /// Whether there was a state to restore; `true` after saving.
    public var isFound = true
    /// The version of the app that saved it; empty if there was no state.
    public var version = ""
    /// The paths of the controllers that were saved, or that exist again.
    public var controllers: [String] = []
    /// The paths of the caches whose values were saved, or are spilled again. A restored cache that is registered only
    /// later gets its value then, and is not listed.
    public var caches: [String] = []
    /// The paths at which restoring stopped, since nobody provided the controller there.
    public var stopped: [String] = []
    /// What went wrong at single controllers and caches; the rest was saved or restored.
    public var failures: [PressureError] = []
    /// Bytes on disk: after saving, of the state; after restoring, of the copies that caches got their values as.
    public var byteCount = ByteCount.zero
}

extension StateReport: CustomStringConvertible {
    /// One line: `"version 1: 5.9 MiB of 2 caches, 0 failures"`.
    public var description: String {
        guard isFound else { return "no state" }
        let stops = stopped.isEmpty ? "" : ", stopped at \(stopped.joined(separator: ", "))"
        let name = version.isEmpty ? "" : "version \(version): "
        return "\(name)\(byteCount) of \(caches.count) caches, \(failures.count) failures\(stops)"
    }
}
