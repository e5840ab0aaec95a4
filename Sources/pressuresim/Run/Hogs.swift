import PressureKit
import ScenarioLanguage

/// Those who take memory beside this process, for `hog` steps.
protocol Hogs: Sendable {
    /// The most that all of them held at once.
    var peak: ByteCount { get }

    /// Starts one and waits until it holds its size, or longer than that should take. Blocking.
    ///
    /// - Throws: ``EnvironmentRefusal`` with the hog's own words when it refuses, or cannot be started.
    func start(_ spec: HogSpec, isForced: Bool) throws(EnvironmentRefusal) -> HogOutcome

    /// Ends all of them. Blocks until their memory is back.
    func end()
}

/// How far a hog has got.
enum HogOutcome: Hashable, Sendable {
    /// It has what it was to take.
    case holds(ByteCount, process: Int32?)
    /// The machine does not give it that fast.
    case slow(ByteCount, process: Int32?)
    /// It took what the kernel would not give.
    case killed(process: Int32?)
}
