import PressureKit

/// One line of the timeline.
struct Step: Sendable {
    var position: Position
    var action: Action

    /// What happens.
    indirect enum Action: Sendable {
        /// Reads values and verifies every byte of them.
        case access(AccessSpec)
        /// Changes values that have no loader, in place.
        case update(AccessSpec)
        /// Shows controllers one after the other, as a reader leafs through them, and reads what each holds.
        case browse(AccessSpec)
        /// A simulated warning.
        case warning(WarningSpec)
        case background
        case foreground
        /// Controllers appear.
        case show(Marked<PathGlob>)
        /// Controllers disappear.
        case hide(Marked<PathGlob>)
        /// Really takes memory, until a level is reached or the bound is.
        case fill(FillSpec)
        /// Gives back what `fill` took.
        case release
        /// Waits until the level is this one, or lower.
        case awaitLevel(AwaitSpec)
        case wait(Duration)
        /// Reads every value back and compares it byte for byte with its source.
        case verify
        /// Saves the state and kills the process with SIGKILL; the steps that follow are played by a new one, which
        /// restores it.
        case relaunch
        /// Steps side by side; the next step begins when all have ended.
        case together([Step])
    }

    static var form: Form<Step> {
        let actions = action
        return Form(actions.allowed) { node, diagnostics in
            actions.read(node, diagnostics).map { Step(position: Position(node), action: $0) }
        }
    }

    private static var action: Form<Action> {
        let caches = Form<PathGlob>.glob("caches")
        let controllers = Form<PathGlob>.glob("controllers")
        return .kind(
            "a step",
            words: [
                ("background", .background), ("foreground", .foreground), ("verify", .verify), ("release", .release),
                ("relaunch", .relaunch),
            ],
            keyed: [
                ("access", AccessSpec.form("an access", of: caches, threads: true).map(Action.access)),
                ("update", AccessSpec.form("an update", of: caches, threads: false).map(Action.update)),
                ("browse", AccessSpec.form("a browse", of: controllers, threads: false).map(Action.browse)),
                ("warning", WarningSpec.form.map(Action.warning)),
                ("show", controllers.marked.map(Action.show)),
                ("hide", controllers.marked.map(Action.hide)),
                ("fill", FillSpec.form.map(Action.fill)),
                ("await", AwaitSpec.form.map(Action.awaitLevel)),
                ("wait", Form<Duration>.duration.map(Action.wait)),
                ("together", together.map(Action.together)),
            ]
        )
    }

    /// A list of steps, itself without `together`.
    private static var together: Form<[Step]> {
        Form("a list of steps") { node, diagnostics in
            // Made only when met: the form of a step contains this one.
            guard let steps = Form<[Step]>.list(of: Step.form, "steps").read(node, diagnostics) else { return nil }
            for step in steps {
                switch step.action {
                case .together:
                    diagnostics.report(node, found: "together within together", allowed: "any other step")
                    return nil
                case .relaunch:
                    diagnostics.report(node, found: "relaunch within together", allowed: "a relaunch of its own")
                    return nil
                default: break
                }
            }
            return steps
        }
    }
}

/// A simulated warning.
struct WarningSpec: Hashable, Sendable {
    var level: PressureLevel
    /// The bytes wanted; as many as the level asks for when nil.
    var freeing: ByteCount?

    static var form: Form<WarningSpec> {
        .either(
            scalar: levelForm.map { WarningSpec(level: $0) },
            mapping: .mapping("a warning") { section in
                let level = section.required("level", levelForm)
                let freeing = section.optional("freeing", .size)
                return level.map { WarningSpec(level: $0, freeing: freeing) }
            }
        )
    }

    /// The levels one can be warned of.
    static var levelForm: Form<PressureLevel> { .word([("warning", .warning), ("critical", .critical)]) }
}

/// How real memory is taken.
struct FillSpec: Hashable, Sendable {
    /// Stop when the manager has reached this level.
    var level: PressureLevel
    /// Never hold more than this in all, with what earlier fills hold.
    var atMost: ByteCount
    /// How fast, in bytes a second.
    var rate: Double

    static var form: Form<FillSpec> {
        .mapping("a fill") { section in
            let level = section.required("until", WarningSpec.levelForm)
            let atMost = section.required("at_most", .size)
            let rate = section.optional(
                "rate",
                .quantity("a rate", .rate, in: 1_048_576...10e9, "from 1MiB/s to 10GB/s")
            )
            guard let level, let atMost else { return nil }
            return FillSpec(level: level, atMost: atMost, rate: rate ?? 200_000_000)
        }
    }
}

/// How long to wait for a level.
struct AwaitSpec: Hashable, Sendable {
    var level: PressureLevel
    var within: Duration

    static var form: Form<AwaitSpec> {
        .mapping("an await") { section in
            let levels = Form<PressureLevel>.word([("normal", .normal), ("warning", .warning)])
            let level = section.required("level", levels)
            let within = section.required("within", .duration)
            guard let level, let within else { return nil }
            return AwaitSpec(level: level, within: within)
        }
    }
}
