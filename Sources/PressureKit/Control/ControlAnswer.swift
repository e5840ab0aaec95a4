/// One line for whoever asked.
package struct ControlAnswer: Sendable {
    /// The version of the protocol. Another one is a protocol that readers of this one may misunderstand; new members and
    /// commands are none.
    package static let version = 1
    /// The most bytes of an answer: a socket that has nothing else to send takes them all at once.
    package static let mostBytes = 65_536

    /// UTF-8, with the line's end.
    package let bytes: [UInt8]

    private init(isOK: Bool, _ members: (inout JSONLine) -> Void) {
        let line = JSONLine { json in
            json.member("protocol", Self.version)
            json.member("ok", isOK)
            members(&json)
        }
        bytes = line.bytes + [UInt8(ascii: "\n")]
    }

    /// The command is not carried out.
    package static func refused(_ refusal: ControlRefusal) -> ControlAnswer {
        ControlAnswer(isOK: false) { json in
            json.member("error", refusal.code)
            json.member("message", refusal.message)
        }
    }

    /// A reclaim has ended.
    package static func reclaimed(_ report: EvictionReport, by command: ControlCommand) -> ControlAnswer {
        ControlAnswer(isOK: true) { json in
            json.member("command", command.name)
            json.member("report") { json in
                json.member("cause", "\(report.cause)")
                json.member("goal_bytes", report.goal)
                json.member("claimed_bytes", report.claimed)
                json.member("returned_bytes", report.returned)
                json.member("evicted", report.evictedCount)
                json.member("skipped", report.skipped.reduce(0) { $0 + $1.count })
                json.member("failures", report.failures.count)
                json.member("milliseconds", report.duration.inMilliseconds)
            }
        }
    }

    /// What was visible is back.
    package static func restored(_ report: RestoreReport, by command: ControlCommand) -> ControlAnswer {
        ControlAnswer(isOK: true) { json in
            json.member("command", command.name)
            json.member("report") { json in
                json.member("restored", report.restored.count)
                json.member("restored_bytes", report.bytes)
                json.member("left", report.left.count)
                json.member("failures", report.failures.count)
                json.member("milliseconds", report.duration.inMilliseconds)
            }
        }
    }

    /// How things stand.
    package static func status(_ status: ControlStatus) -> ControlAnswer {
        ControlAnswer(isOK: true) { json in
            json.member("command", ControlCommand.status.name)
            json.member("status") { status.write(to: &$0) }
        }
    }
}

extension Duration {
    /// With fractions.
    fileprivate var inMilliseconds: Double { Double(nanoseconds) / 1e6 }
}
