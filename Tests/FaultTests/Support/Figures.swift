import Foundation

/// What a test has come to, for RELIABILITY.md: said when `PRESSUREKIT_FIGURES` is set.
func figure(_ line: @autoclosure () -> String) {
    if ProcessInfo.processInfo.environment["PRESSUREKIT_FIGURES"] != nil { print("figure: \(line())") }
}
