import PressureKit

/// A scenario as written: what to build, what to do with it, what to expect. Plain data, checked by ``ScenarioFile``.
struct Scenario: Sendable {
    /// The title of the account.
    var name: String
    /// What the scenario shows, in a sentence or two.
    var description: String
    /// Every random choice and every synthetic byte comes from this.
    var seed: UInt64
    var spill: SpillSpec
    var memory: MemorySpec
    /// The controllers below the manager's root.
    var controllers: [ControllerSpec]
    var timeline: [Step]
    var expectations: [Expectation]
}

/// Where evicted values go.
struct SpillSpec: Hashable, Sendable {
    /// As the library chooses when nil: `$TMPDIR`, then `/var/tmp`.
    var directory: String?
    /// The most the spill file may hold.
    var limit: ByteCount?
    /// Whether a directory in memory (tmpfs, ramfs, zram) is accepted.
    var allowsMemory = false
    /// Whether a relief may write values as they are and compress them when all is calm.
    var compressesLater = true

    static var form: Form<SpillSpec> {
        .mapping("spill") { section in
            SpillSpec(
                directory: section.optional("directory", .text("a directory")),
                limit: section.optional("limit", .size),
                allowsMemory: section.optional("allow_memory", .flag) ?? false,
                compressesLater: section.optional("compress_later", .flag) ?? true
            )
        }
    }
}

extension Scenario {
    static var form: Form<Scenario> {
        .mapping("a scenario") { section in
            let name = section.required("name", .text("a title"))
            let description = section.optional("description", .text("a sentence about what the scenario shows"))
            let seed = section.optional("seed", .count(0...Int.max))
            let spill = section.optional("spill", SpillSpec.form)
            let memory = section.optional("memory", MemorySpec.form)
            let controllers = section.required("controllers", .list(of: ControllerSpec.form, "controllers"))
            let timeline = section.required("timeline", .list(of: Step.form, "steps"))
            let expectations = section.optional("expect", Expectation.listForm)
            guard let name, let controllers, let timeline else { return nil }
            return Scenario(
                name: name,
                description: description ?? "",
                seed: UInt64(seed ?? 1),
                spill: spill ?? SpillSpec(),
                memory: memory ?? .simulated,
                controllers: controllers,
                timeline: timeline,
                expectations: expectations ?? []
            )
        }
    }
}
