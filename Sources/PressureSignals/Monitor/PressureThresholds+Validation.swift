public import PressureSystem

extension PressureThresholds {
    /// Checks that the thresholds can work together. Pure.
    ///
    /// - Throws: ``PressureError`` with code `invalidConfiguration`; the message names the value, and what is allowed.
    public func validate() throws(PressureError) {
        try warning.validate(named: "warning")
        try critical.validate(named: "critical")
        try stall.validate()
        guard critical.enter < warning.enter else {
            throw .thresholds("critical.enter \(critical.enter) must be less than warning.enter \(warning.enter)")
        }
        guard critical.leave <= warning.leave else {
            throw .thresholds("critical.leave \(critical.leave) must not be more than warning.leave \(warning.leave)")
        }
        guard let bound = warning.atMost else { return }
        guard let criticalBound = critical.atMost, criticalBound < bound else {
            let found = critical.atMost.map { "\($0)" } ?? "nil"
            throw .thresholds("critical.atMost \(found) must be less than warning.atMost \(bound)")
        }
    }
}

extension PressureThresholds.Band {
    fileprivate func validate(named name: String) throws(PressureError) {
        // Written so that NaN fails.
        guard enter > 0, enter < 1 else {
            throw .thresholds("\(name).enter \(enter) must be more than 0 and less than 1")
        }
        guard leave > enter else {
            throw .thresholds("\(name).leave \(leave) must be more than \(name).enter \(enter)")
        }
        guard leave < 1 else {
            throw .thresholds("\(name).leave \(leave) must be less than 1: memory is never all available")
        }
        guard atLeast >= .zero else {
            throw .thresholds("\(name).atLeast \(atLeast) must not be negative")
        }
        if let atMost, atMost <= .zero || atMost < atLeast {
            throw .thresholds("\(name).atMost \(atMost) must be more than 0 and not less than atLeast \(atLeast)")
        }
    }
}

extension PressureError {
    fileprivate static func thresholds(_ contradiction: String) -> PressureError {
        PressureError(code: .invalidConfiguration, message: "Pressure thresholds: \(contradiction).")
    }
}
