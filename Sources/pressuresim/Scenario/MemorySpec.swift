import PressureKit

/// Where pressure comes from.
enum MemorySpec: Hashable, Sendable {
    /// Only the warnings of the timeline.
    case simulated
    /// `/proc/meminfo` as well, with the library's own thresholds.
    case real
    /// `/proc/meminfo` as well, with thresholds counted from what was available when the scenario began.
    case realBelowStart(TakenSinceStart)

    /// Bytes gone from MemAvailable since the scenario began at which a level is entered and left.
    ///
    /// Counted from the start, so that one scenario behaves alike on a small and on a large machine.
    struct TakenSinceStart: Hashable, Sendable {
        var warning: Band
        var critical: Band

        /// Enter when this much is gone, leave when no more than that is.
        struct Band: Hashable, Sendable {
            var enter: ByteCount
            var leave: ByteCount

            static func form(_ noun: String) -> Form<Band> {
                .mapping(noun) { section in
                    let enter = section.required("enter", .size)
                    let leave = section.required("leave", .size)
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
                let warning = section.required("warning", Band.form("the warning band"))
                let critical = section.required("critical", Band.form("the critical band"))
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

    static var form: Form<MemorySpec> {
        .kind(
            "memory",
            words: [("simulated", .simulated), ("real", .real)],
            keyed: [("taken_since_start", TakenSinceStart.form.map(MemorySpec.realBelowStart))]
        )
    }

    /// Whether `/proc/meminfo` is watched.
    var isReal: Bool { self != .simulated }
}
