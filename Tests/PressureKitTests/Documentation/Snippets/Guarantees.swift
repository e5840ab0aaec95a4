import PressureKit

/// What Guarantees.md quotes.
private func explain(_ manager: PressureManager) async {
    let report = await manager.simulateMemoryWarning(.critical)
    for skipped in report.skipped { print("\(skipped.path): \(skipped.reason), \(skipped.bytes)") }
    for failure in report.failures { print(failure) }
    print("\(report.claimed) claimed, \(report.returned) returned")
}
