import PressureKit

/// What Troubleshooting.md quotes.
private func follow(_ manager: PressureManager) async {
    for await event in manager.events {
        switch event {
        case .failure(let error): print(error)
        case .reclaimFinished(let report) where !report.skipped.isEmpty: print(report)
        default: break
        }
    }
}
