package import PressureSignals
package import PressureSystem

/// A simulated warning.
package struct WarningSpec: Hashable, Sendable {
    package var level: PressureLevel
    /// The bytes wanted; as many as the level asks for when nil.
    package var freeing: ByteCount?

    static var form: Form<WarningSpec> {
        .either(
            scalar: levelForm.map { WarningSpec(level: $0) },
            mapping: .mapping("a warning") { section in
                let level = section.required("level", levelForm, "How bad it is.")
                let freeing = section.optional("freeing", .size, "The bytes wanted. Default: what the level asks for.")
                return level.map { WarningSpec(level: $0, freeing: freeing) }
            }
        )
    }

    /// The levels one can be warned of.
    static var levelForm: Form<PressureLevel> {
        .word([
            .init("warning", .warning, "A part of what is not in use leaves memory."),
            .init("critical", .critical, "All that is not in use does."),
        ])
    }
}

/// How real memory is taken.
package struct FillSpec: Hashable, Sendable {
    /// Stop when the manager has reached this level.
    package var level: PressureLevel
    /// Never hold more than this in all, with what earlier fills hold.
    package var atMost: ByteCount
    /// How fast, in bytes a second.
    package var rate: Double

    static var form: Form<FillSpec> {
        .mapping("a fill") { section in
            let level = section.required("until", WarningSpec.levelForm, "The level at which to stop.")
            let atMost = section.required("at_most", .size, "What all fills together never hold more than.")
            let rate = section.optional("rate", .rate, "How fast. Default: 200MB/s.")
            guard let level, let atMost else { return nil }
            return FillSpec(level: level, atMost: atMost, rate: rate ?? 200_000_000)
        }
    }
}

/// A process that takes memory beside this one.
package struct HogSpec: Hashable, Sendable {
    /// What it takes. The step ends when it has that.
    package var size: ByteCount
    /// How fast, in bytes a second.
    package var rate: Double
    /// How long it holds it, at most: `release` and the end of the timeline end it.
    package var hold: Duration

    static var form: Form<HogSpec> {
        .mapping("a hog") { section in
            let size = section.required("size", .size, "What it takes. The step ends when it holds that.")
            let rate = section.optional("rate", .rate, "How fast it takes it. Default: 500MB/s.")
            let hold = section.optional("for", .duration, "How long it holds it, unless it is released. Default: 10s.")
            return size.map { HogSpec(size: $0, rate: rate ?? 500e6, hold: hold ?? .seconds(10)) }
        }
    }
}

/// How long to wait for a level.
package struct AwaitSpec: Hashable, Sendable {
    package var level: PressureLevel
    package var within: Duration

    static var form: Form<AwaitSpec> {
        .mapping("an await") { section in
            let levels = Form<PressureLevel>.word([
                .init("normal", .normal, "Enough memory."), .init("warning", .warning, "No longer critical."),
            ])
            let level = section.required("level", levels, "The level to wait for: that or a lower one.")
            let within = section.required("within", .duration, "How long to wait at most.")
            guard let level, let within else { return nil }
            return AwaitSpec(level: level, within: within)
        }
    }
}

/// Which child takes the place of which.
package struct TransitionSpec: Sendable {
    package var outgoing: Marked<String>
    package var incoming: Marked<String>

    static var form: Form<TransitionSpec> {
        .mapping("a transition") { section in
            let outgoing = section.required("from", .controllerPath, "The child that is hidden.")
            let incoming = section.required("to", .controllerPath, "The one that takes its place, restored before.")
            guard let outgoing, let incoming else { return nil }
            return TransitionSpec(outgoing: outgoing, incoming: incoming)
        }
    }
}

/// How the disk behaves.
package enum DiskSpec: Hashable, Sendable {
    /// As it is.
    case normal
    /// Nothing can be written: no space.
    case full
    /// So many bytes a second are read and written, all together.
    case slow(rate: Double)
    /// This share of all writes fails.
    case failing(share: Double)

    static var form: Form<DiskSpec> {
        .kind(
            "a disk",
            words: [
                .init("normal", .normal, "As it is."),
                .init("full", .full, "Nothing more can be written; what is there can be read."),
            ],
            keyed: [
                .init("slow", Form<Double>.rate.map(DiskSpec.slow), "Reads and writes no faster than this."),
                .init("failing", Form<Double>.share.map(DiskSpec.failing), "This share of all writes fails."),
            ]
        )
    }
}
