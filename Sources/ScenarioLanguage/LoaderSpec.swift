import PressureKit

/// How a value that was dropped is made again.
package struct LoaderSpec: Hashable, Sendable {
    /// How long a load takes, making the bytes included, each value of the range as likely as the next: the loader sleeps,
    /// as if it waited for a disk or a network.
    package var cost: ClosedRange<Duration>
    /// How often a load fails, 0 … 1.
    package var failure: Double

    init(cost: ClosedRange<Duration>, failure: Double) { (self.cost, self.failure) = (cost, failure) }

    /// One that always takes as long.
    init(cost: Duration, failure: Double) { self.init(cost: cost...cost, failure: failure) }

    /// `loader: none`, or a loader. Spelled out always: whether a value can be made again decides its fate.
    enum Choice: Sendable {
        case none
        case some(LoaderSpec)

        var spec: LoaderSpec? {
            if case .some(let spec) = self { spec } else { nil }
        }
    }

    static var form: Form<Choice> {
        .either(
            scalar: .word([.init("none", .none, "It is set at the start, and must never be lost.")]),
            mapping: .mapping("a loader") { section in
                let cost = section.optional(
                    "cost",
                    .durations,
                    "How long a load takes, or a range such as 2ms to 10ms."
                )
                let failure = section.optional("failure", .share, "How often a load fails, such as 1%. Default: never.")
                return .some(LoaderSpec(cost: cost ?? .zero ... .zero, failure: failure ?? 0))
            }
        )
    }
}
