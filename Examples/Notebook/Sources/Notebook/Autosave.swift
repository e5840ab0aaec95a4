import PressureKit

/// Saves the state a moment after a change, with what has changed meanwhile, and says so.
actor Autosave {
    private let manager: PressureManager
    private let directory: String
    private let version: String
    private var changes = 0
    private var saved = 0
    private var isSaving = false

    init(_ manager: PressureManager, to directory: String, version: String) {
        (self.manager, self.directory, self.version) = (manager, directory, version)
    }

    /// Something has changed.
    func change() {
        changes += 1
        guard !isSaving else { return }
        isSaving = true
        Task { await saveUntilDone() }
    }

    /// Saves what has not been saved, and returns when it is.
    func finish() async {
        while isSaving { try? await Task.sleep(for: .milliseconds(5)) }
    }

    private func saveUntilDone() async {
        while saved < changes {
            try? await Task.sleep(for: .milliseconds(50))
            let now = changes
            do {
                try await manager.saveState(to: directory, version: version)
                say("saved \(now)")
            } catch {
                say("not saved: \(error)")
            }
            saved = now
        }
        isSaving = false
    }
}
