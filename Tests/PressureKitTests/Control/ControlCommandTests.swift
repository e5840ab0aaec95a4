#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import Testing

@testable import PressureKit

/// What may be said over the control socket, and how it is cut into lines.
@Suite struct ControlCommandTests {
    @Test(arguments: [
        ("status", ControlCommand.status), ("background", .background), ("foreground", .foreground),
        ("warn", .warn(.warning, freeing: nil)), ("warn warning", .warn(.warning, freeing: nil)),
        ("warn critical", .warn(.critical, freeing: nil)), ("warn 1", .warn(.warning, freeing: .bytes(1))),
        ("warn critical 67108864", .warn(.critical, freeing: .mebibytes(64))),
        ("evict 1152921504606846976", .evict(.bytes(1 << 60))), ("evict 0000000000000000007", .evict(.bytes(7))),
        ("  evict\t 5 \r", .evict(.bytes(5))),
    ])
    func aCommandIsRead(line: String, command: ControlCommand) throws {
        #expect(try ControlCommand(line: Array(line.utf8)) == command)
        #expect(try ControlCommand(line: Array("\(line)\r".utf8)) == command)
    }

    @Test(arguments: [
        "status now", "background 5", "foreground x", "warn normal", "warn critical 0", "warn 1 2", "warn critical -1",
        "warn warning critical", "evict", "evict 0", "evict 1 2", "evict 1MiB", "evict -1", "evict +1", "evict 0x10",
        "evict 1152921504606846977", "evict 9223372036854775808", "evict 99999999999999999999999999999999", "evict ١",
    ])
    func aWrongArgumentIsRefusedWithWhatIsAllowed(line: String) {
        let refusal = #expect(throws: ControlRefusal.self) { try ControlCommand(line: Array(line.utf8)) }
        #expect(refusal?.code == "wrongArgument")
        #expect(refusal?.message.isEmpty == false)
    }

    @Test(arguments: [
        "", " ", "\r", "STATUS", "statusx", "stat", "GET / HTTP/1.1", "warn\u{0}", "{\"command\":\"status\"}",
    ])
    func anUnknownCommandIsRefusedWithAllThereAre(line: String) {
        let refusal = #expect(throws: ControlRefusal.self) { try ControlCommand(line: Array(line.utf8)) }
        #expect(refusal == .unknownCommand)
        for name in ["status", "warn", "evict", "background", "foreground"] {
            #expect(refusal?.message.contains(name) == true)
        }
    }

    /// Whatever bytes come: a command or a refusal, and a command means what it says.
    @Test(arguments: [UInt64(1), 2, 3]) func noBytesAreTooMuchForIt(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let words = [
            "status", "warn", "evict", "critical", "warning", " ", "\t", "1", "99", "18446744073709551616", "\u{0}",
        ]
        var understood = 0
        for _ in 0..<20_000 {
            var line: [UInt8] = []
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                if Bool.random(using: &generator) {
                    line += Array(words.randomElement(using: &generator)!.utf8)
                } else {
                    line.append(UInt8.random(in: 0...255, using: &generator))
                }
            }
            do throws(ControlRefusal) {
                let command = try ControlCommand(line: line)
                understood += 1
                #expect(line.contains(Array(command.name.utf8)), "seed \(seed): \(line)")
            } catch {
                #expect(["unknownCommand", "wrongArgument"].contains(error.code))
            }
        }
        #expect(understood > 100)
    }

    // MARK: Lines

    @Test func linesComeOutAsTheyWentInHoweverTheyAreCut() {
        for seed in UInt64(1)...50 {
            var generator = SeededGenerator(seed: seed)
            let lines = (0..<20).map { index in
                "line \(index) " + String(repeating: "x", count: Int.random(in: 0...200, using: &generator))
            }
            var rest = Array(lines.map { $0 + "\n" }.joined().utf8)[...]
            var cut = ControlLines()
            var found: [String] = []
            while !rest.isEmpty {
                let piece = min(Int.random(in: 1...300, using: &generator), cut.room, rest.count)
                cut.add(rest.prefix(piece))
                rest = rest.dropFirst(piece)
                while case .line(let line) = cut.next() { found.append(String(decoding: line, as: UTF8.self)) }
            }
            #expect(found == lines, "seed \(seed)")
            #expect(cut.next() == .wait)
        }
    }

    @Test func emptyLinesArePassedOver() {
        var lines = ControlLines()
        lines.add(Array("\n\r\n  \nstatus\n\n".utf8))
        #expect(lines.next() == .line(Array("status".utf8)))
        #expect(lines.next() == .wait)
    }

    @Test func aLineOf255BytesIsTheLongest() {
        var lines = ControlLines()
        let longest = [UInt8](repeating: 120, count: 255)
        lines.add(longest + [10])
        #expect(lines.next() == .line(longest))
        lines.add(longest + [120])
        #expect(lines.next() == .tooLong)
        // Nothing more is taken, so that nothing grows.
        lines.add(longest)
        #expect(lines.room == 0)
    }
}
#endif
