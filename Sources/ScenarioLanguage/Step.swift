import PressureSystem

/// One line of the timeline.
package struct Step: Sendable {
    package var position: Position
    package var action: Action

    /// What happens.
    package indirect enum Action: Sendable {
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
        /// A controller covers the one that lists it.
        case present(Marked<String>)
        /// The controller that was covered is seen again.
        case dismiss(Marked<String>)
        /// One child in place of another, which is hidden only when the new one is there.
        case transition(TransitionSpec)
        /// Really takes memory, until a level is reached or the bound is.
        case fill(FillSpec)
        /// Gives back what `fill` took, and ends what `hog` started.
        case release
        /// A process of its own takes memory.
        case hog(HogSpec)
        /// How the disk behaves from now on.
        case disk(DiskSpec)
        /// Waits until the level is this one, or lower.
        case awaitLevel(AwaitSpec)
        case wait(Duration)
        /// Nobody needs the machine for so long, and the library works ahead.
        case calm(Duration)
        /// What follows belongs to a part of this name.
        case phase(String)
        /// Reads every value back and compares it byte for byte with its source.
        case verify
        /// Saves the state and kills the process with SIGKILL; the steps that follow are played by a new one, which
        /// restores it.
        case relaunch
        /// Steps side by side; the next step begins when all have ended.
        case together([Step])
    }

    package static var form: Form<Step> {
        let actions = action
        return Form(actions.allowed, schema: actions.schema) { node, diagnostics in
            actions.read(node, diagnostics).map { Step(position: Position(node), action: $0) }
        }
    }

    private static var action: Form<Action> {
        let caches = Form<PathGlob>.glob("caches")
        let controllers = Form<PathGlob>.glob("controllers")
        let controller = Form<Marked<String>>.controllerPath
        return .kind(
            "a step",
            words: [
                .init("background", .background, "The app goes idle: values are spilled ahead."),
                .init("foreground", .foreground, "It comes back: what was visible is restored ahead."),
                .init("verify", .verify, "Every value is compared byte for byte with its source."),
                .init("release", .release, "What fill took is given back, and hogs are ended."),
                .init("relaunch", .relaunch, "The state is saved, the process killed, and another one goes on."),
            ],
            keyed: [
                .init(
                    "access",
                    AccessSpec.form("an access", of: caches, threads: true).map(Action.access),
                    "Reads values."
                ),
                .init(
                    "update",
                    AccessSpec.form("an update", of: caches, threads: false).map(Action.update),
                    "Changes values that have no loader, in place."
                ),
                .init(
                    "browse",
                    AccessSpec.form("a browse", of: controllers, threads: false).map(Action.browse),
                    "Shows one controller after the other and reads what it holds."
                ),
                .init("warning", WarningSpec.form.map(Action.warning), "A simulated warning."),
                .init("show", controllers.marked.map(Action.show), "Controllers appear."),
                .init("hide", controllers.marked.map(Action.hide), "Controllers disappear."),
                .init("present", controller.map(Action.present), "A controller covers the one that lists it."),
                .init("dismiss", controller.map(Action.dismiss), "What a controller had covered is seen again."),
                .init("transition", TransitionSpec.form.map(Action.transition), "One child in place of another."),
                .init("fill", FillSpec.form.map(Action.fill), "Really takes memory of this process."),
                .init("hog", HogSpec.form.map(Action.hog), "Another process takes memory."),
                .init("disk", DiskSpec.form.map(Action.disk), "How the disk behaves from now on."),
                .init("await", AwaitSpec.form.map(Action.awaitLevel), "Waits until the level is that or lower."),
                .init("wait", Form<Duration>.longDuration.map(Action.wait), "Waits."),
                .init(
                    "calm",
                    Form<Duration>.longDuration.map(Action.calm),
                    "Nobody needs the machine for so long: the library works ahead."
                ),
                .init("phase", Form<String>.prose("a name", upTo: 100).map(Action.phase), "A name for what follows."),
                .init("together", together.map(Action.together), "Steps side by side."),
            ]
        )
    }

    /// A list of steps, itself without `together`.
    private static var together: Form<[Step]> {
        // Made only when met: the form of a step contains this one.
        func steps() -> Form<[Step]> { .list(of: Step.form, "steps", 1...16) }
        return Form("a list of steps", schema: { steps().schema($0) }) { node, diagnostics in
            guard let steps = steps().read(node, diagnostics) else { return nil }
            let refusals = steps.map { ($0.position, $0.action.whyNotTogether) }
            for case let (position, why?) in refusals {
                diagnostics.report(at: position, found: "\(why.found) within together", allowed: why.allowed)
            }
            guard refusals.allSatisfy({ $0.1 == nil }) else { return nil }
            return steps
        }
    }
}

extension Step.Action {
    /// What keeps a step from being played beside others, and what is allowed in its place.
    fileprivate var whyNotTogether: (found: String, allowed: String)? {
        switch self {
        case .together: ("together", "any other step")
        case .relaunch: ("relaunch", "a relaunch of its own")
        case .phase: ("phase", "a phase of its own, before")
        case .calm: ("calm", "a calm step of its own")
        default: nil
        }
    }
}

extension [Step] {
    /// Whether there is a calm step.
    package var hasCalm: Bool { contains { if case .calm = $0.action { true } else { false } } }
}

extension Form where Value == Marked<String> {
    /// The path of one controller, without wildcards.
    static var controllerPath: Form {
        let schema = OrderedJSON.pattern("[^/*?][^*?]*")
        return Form<String>.scalar("the path of one controller, such as \"news/settings\"", schema: schema) { text in
            text.contains { "*?".contains($0) } || text.hasPrefix("/") || text.count > 1024 ? nil : text
        }.marked
    }
}
