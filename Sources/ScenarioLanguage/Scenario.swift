package import PressureSystem

/// A scenario as written: what to build, what to do with it, what to expect. Plain data, checked by ``ScenarioFile``.
package struct Scenario: Sendable {
    /// The title of the account.
    package var name: String
    /// What the scenario shows, in a sentence or two.
    package var description: String
    /// Every random choice and every synthetic byte comes from this.
    package var seed: UInt64
    package var spill: SpillSpec
    package var memory: MemorySpec
    /// How many processes play it side by side, below one limit.
    package var processes = 1
    /// In which order values leave memory; the library's own when nil.
    package var policy: PolicySpec?
    /// The controllers below the manager's root.
    package var controllers: [ControllerSpec]
    package var timeline: [Step]
    package var expectations: [Expectation]
    /// What was said on the command line in place of what the file says: `memory.cgroup_limit=64MiB`.
    package var overrides: [String] = []
}

/// Where evicted values go.
package struct SpillSpec: Hashable, Sendable {
    /// As the library chooses when nil: `$TMPDIR`, then `/var/tmp`.
    package var directory: String?
    /// The most the spill file may hold.
    package var limit: ByteCount?
    /// Whether a directory in memory (tmpfs, ramfs, zram) is accepted.
    package var allowsMemory = false
    /// Whether a reclaim may write values as they are and compress them in idle time.
    package var compressesLater = true

    static var form: Form<SpillSpec> {
        .mapping("spill") { section in
            let directory = section.optional(
                "directory",
                .text("a directory", upTo: 1024),
                "Where to spill. Default: $TMPDIR, then /var/tmp."
            )
            let limit = section.optional("limit", .size, "The most the spill file may take.")
            let memory = section.optional(
                "allow_memory",
                .flag("A directory in memory is accepted.", "It is refused."),
                "Whether a directory in memory (tmpfs, ramfs, zram) is accepted. Default: false."
            )
            let later = section.optional(
                "compress_later",
                .flag("Written as it is where the disk is faster, compressed in idle time.", "Compressed at once."),
                "Whether a reclaim may write first and compress later. Default: true."
            )
            return SpillSpec(
                directory: directory,
                limit: limit,
                allowsMemory: memory ?? false,
                compressesLater: later ?? true
            )
        }
    }
}

extension Scenario {
    static var form: Form<Scenario> {
        .mapping("a scenario") { section in
            let name = section.required("name", .prose("a title", upTo: 200), "The title of the account.")
            let description = section.optional(
                "description",
                .prose("a sentence about what the scenario shows"),
                "A sentence or two about what it shows."
            )
            let seed = section.optional("seed", .count(0...Int.max), "Every random choice comes from it. Default: 1.")
            let spill = section.optional("spill", SpillSpec.form, "Where evicted values go.")
            let memory = section.optional("memory", MemorySpec.form, "Where pressure comes from. Default: simulated.")
            let processes = section.optional(
                "processes",
                .count(1...mostProcesses),
                "How many processes play it below one limit; for memory: {cgroup_limit: …}. Default: 1."
            )
            let policy = section.optional(
                "policy",
                PolicySpec.form,
                "In which order values leave memory. Default: cost."
            )
            let controllers = section.required(
                "controllers",
                .list(of: ControllerSpec.form, "controllers", 1...1000),
                "The controllers with their caches."
            )
            let timeline = section.required("timeline", .list(of: Step.form, "steps", 1...10_000), "What happens.")
            let expectations = section.optional("expect", Expectation.listForm, "What every figure has to be.")
            guard let name, let controllers, let timeline else { return nil }
            guard ProcessesCheck(processes, memory, timeline).isRight(section) else { return nil }
            return Scenario(
                name: name,
                description: description ?? "",
                seed: UInt64(seed ?? 1),
                spill: spill ?? SpillSpec(),
                memory: memory ?? .simulated,
                processes: processes ?? 1,
                policy: policy,
                controllers: controllers,
                timeline: timeline,
                expectations: expectations ?? []
            )
        }
    }
}

extension Scenario {
    /// Fills in what traces say of values.
    mutating func resolveColumns(with reader: inout TraceColumnsReader) { reader.resolve(&controllers) }
}
