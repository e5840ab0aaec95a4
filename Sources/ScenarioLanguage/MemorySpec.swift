package import PressureSignals
package import PressureSystem

/// Where pressure comes from.
package enum MemorySpec: Hashable, Sendable {
    /// Only the warnings of the timeline.
    case simulated
    /// `/proc/meminfo` as well, with the library's own thresholds.
    case real
    /// `/proc/meminfo` as well, with thresholds counted from what was available when the scenario began.
    case realBelowStart(TakenSinceStart)
    /// The scenario is played by a process in a cgroup with this limit, and whatever signals there are speak.
    case cgroupLimit(ByteCount)

    /// Bytes gone from MemAvailable since the scenario began at which a level is entered and left.
    ///
    /// Counted from the start, so that one scenario behaves alike on a small and on a large machine.
    package struct TakenSinceStart: Hashable, Sendable {
        package var warning: Band
        package var critical: Band

        /// Enter when this much is gone, leave when no more than that is.
        package struct Band: Hashable, Sendable {
            package var enter: ByteCount
            package var leave: ByteCount

            static func form(_ noun: String) -> Form<Band> {
                .mapping(noun) { section in
                    let enter = section.required("enter", .size, "Entered when so many bytes are gone.")
                    let leave = section.required("leave", .size, "Left when no more than that is gone.")
                    guard let enter, let leave else { return nil }
                    guard leave < enter else {
                        section.report(
                            "leave",
                            allowed: "less than enter (\(enter)): a level is left when memory is back"
                        )
                        return nil
                    }
                    return Band(enter: enter, leave: leave)
                }
            }
        }

        static var form: Form<TakenSinceStart> {
            .mapping("taken_since_start") { section in
                let warning = section.required("warning", Band.form("the warning band"), "When to warn.")
                let critical = section.required("critical", Band.form("the critical band"), "When it is critical.")
                guard let warning, let critical else { return nil }
                guard warning.enter < critical.enter, warning.leave < critical.leave else {
                    section.report(
                        "critical",
                        found: "a critical band that does not lie beyond the warning band",
                        allowed: "more bytes gone than for the warning, both to enter and to leave"
                    )
                    return nil
                }
                return TakenSinceStart(warning: warning, critical: critical)
            }
        }
    }

    /// Below this a process does not get far enough to react to anything.
    static let leastCgroupLimit = ByteCount.mebibytes(64)

    static var form: Form<MemorySpec> {
        let limit = Form<ByteCount>.size.checked { limit in
            limit < leastCgroupLimit ? "a limit of at least \(leastCgroupLimit)" : nil
        }
        return .kind(
            "memory",
            words: [
                .init("simulated", .simulated, "Only the timeline warns."),
                .init("real", .real, "/proc/meminfo warns too, at the library's thresholds."),
            ],
            keyed: [
                .init(
                    "taken_since_start",
                    TakenSinceStart.form.map(MemorySpec.realBelowStart),
                    "/proc/meminfo warns too, at so many bytes of MemAvailable gone since the start."
                ),
                .init(
                    "cgroup_limit",
                    limit.map(MemorySpec.cgroupLimit),
                    "The scenario is played in a cgroup with this limit, where the OOM killer waits. Takes root."
                ),
            ]
        )
    }

    /// Whether real memory is watched.
    package var isReal: Bool { self != .simulated }

    /// The limit of the cgroup to play in.
    package var cgroupLimit: ByteCount? {
        if case .cgroupLimit(let limit) = self { limit } else { nil }
    }

    /// What the manager watches.
    package var sources: [PressureSource] {
        switch self {
        case .simulated: []
        case .real, .realBelowStart: [.memoryInfo]
        case .cgroupLimit: [.automatic]
        }
    }
}
