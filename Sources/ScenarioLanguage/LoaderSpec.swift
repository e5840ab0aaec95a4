import PressureSystem

/// How a value that was dropped is made again.
package struct LoaderSpec: Hashable, Sendable {
    /// How long a load takes, making the bytes included, each value of the range as likely as the next: the loader sleeps,
    /// as if it waited for a disk or a network.
    package var cost: ClosedRange<Duration>
    /// How often a load fails, 0 … 1.
    package var failure: Double
    /// The trace that has a cost for each value; `nil` for one of the range.
    package var costTrace: String?
    /// What it has; empty without one.
    package var costs: [Duration] = []

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

    /// What may stand for a cost.
    private enum Cost: Sendable {
        case within(ClosedRange<Duration>)
        case by(trace: String)

        static var form: Form<Cost> {
            .either(
                scalar: Form<ClosedRange<Duration>>.durations.map(Cost.within),
                mapping: Form<String>.column.map(Cost.by)
            )
        }
    }

    static var form: Form<Choice> {
        .either(
            scalar: .word([.init("none", .none, "It is set at the start, and must never be lost.")]),
            mapping: .mapping("a loader") { section in
                let cost = section.optional(
                    "cost",
                    Cost.form,
                    "How long a load takes, or a range such as 2ms to 10ms, or that of each value by a trace."
                )
                let failure = section.optional("failure", .share, "How often a load fails, such as 1%. Default: never.")
                var spec = LoaderSpec(cost: .zero, failure: failure ?? 0)
                switch cost {
                case .within(let range): spec.cost = range
                case .by(let trace): spec.costTrace = trace
                case nil: break
                }
                return .some(spec)
            }
        )
    }
}
