import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// From what a user writes to the paths where a socket may be.
@Suite struct ControlTargetTests {
    @Test func digitsAreAProcessAndAllElseIsAPath() throws {
        #expect(try ControlTarget("4711") == .process(4711))
        for path in ["/run/x.sock", "./4711", "4711.sock", "-1", "+1", "٤"] {
            #expect(try ControlTarget(path) == .path(path))
        }
        for text in ["", "0", "000", "2147483648", "99999999999999999999"] {
            #expect(throws: ControlFailure.self) { try ControlTarget(text) }
        }
    }

    @Test func factsAreReadFromWhatTheKernelSays() {
        let status = "Name:\tapp\nUid:\t1000\t1001\t1000\t1000\nNSpid:\t4711\t7\n"
        let block = Data("A=1\0XDG_RUNTIME_DIR=/run/user/1001\0broken\0PRESSUREKIT_CONTROL=/x=y\0".utf8)
        let facts = ProcessFacts(status: status, environment: block)
        #expect(facts.user == 1001)
        #expect(facts.ownNumber == 7)
        #expect(facts.variables["PRESSUREKIT_CONTROL"] == "/x=y")
        #expect(
            facts.socketPaths(of: 4711) == [
                "/x=y", "/run/user/1001/pressurekit/7.sock", "/tmp/pressurekit-1001/7.sock",
            ]
        )
    }

    /// Another user's environment cannot be read, and older kernels know no NSpid.
    @Test func withoutFactsTheDefaultsAreTried() {
        let facts = ProcessFacts(status: "Uid:\t5\t5\t5\t5\n", environment: Data())
        #expect(facts.socketPaths(of: 42) == ["/run/user/5/pressurekit/42.sock", "/tmp/pressurekit-5/42.sock"])
        for text in ["", "Uid:", "Uid:\tx\ty", "NSpid:\nUid:\t1"] {
            #expect(ProcessFacts(status: text, environment: Data([0, 0, 61, 0])).user == 0)
        }
    }

    @Test func aProcessThatIsNotThereIsSaidToBeSo() async throws {
        try await withTemporaryDirectory { directory in
            let failure = #expect(throws: ControlFailure.self) {
                try ControlTarget.process(42).paths(processes: directory.path)
            }
            #expect(failure?.description == "There is no process 42.")
        }
    }

    @Test func theSocketOfAProcessInAContainerIsLookedForThere() async throws {
        try await withTemporaryDirectory { directory in
            let process = directory.appendingPathComponent("42")
            try FileManager.default.createDirectory(at: process, withIntermediateDirectories: true)
            try Data("Uid:\t5\t5\t5\t5\nNSpid:\t42\t1\n".utf8).write(to: process.appendingPathComponent("status"))
            let paths = try ControlTarget.process(42).paths(processes: directory.path)
            #expect(paths.prefix(2) == ["/run/user/5/pressurekit/1.sock", "/tmp/pressurekit-5/1.sock"])
            #expect(paths.last == "\(directory.path)/42/root/tmp/pressurekit-5/1.sock")
        }
    }

    // MARK: Answers

    @Test func anAnswerOfALaterProtocolIsSaidToBeOne() {
        for (answer, word) in [
            ("{\"protocol\":2,\"ok\":true}", "version 2"), ("HTTP/1.1 400 Bad Request", "no control socket"),
            ("{\"protocol\":1,\"ok\":false,\"error\":\"busy\",\"message\":\"Later.\"}", "refuses: Later."),
            ("{\"protocol\":1}", "version 1"), ("[]", "no control socket"), ("", "no control socket"),
        ] {
            let failure = #expect(throws: ControlFailure.self) {
                try ControlReply.read(Data(answer.utf8), from: .process(1))
            }
            #expect(failure?.description.contains(word) == true, "\(answer): \(failure as Any)")
        }
    }

    /// Thousands of values are a few lines, unless all are wanted.
    @Test func valuesOfACacheHaveOneLine() throws {
        func cache(_ path: String, _ residency: String) -> String {
            #"{"path":"\#(path)","residency":"\#(residency)","resident":1024,"compressed":0,"spilled":2048,"pins":1,"#
                + #""evictions":2,"restores":1,"refaults":0,"failures":0}"#
        }
        let caches =
            (1...9).map { cache("shop/tiles/values[\($0)]", $0 == 3 ? "spilled" : "resident") }
            + (1...3).map { cache("shop/page-\($0)", "resident") } + [cache("shop/logo", "spilled")]
        let answer =
            #"{"protocol":1,"ok":true,"status":{"process":7,"level":"normal","score":0,"background":false,"headroom":{},"#
            + #""bytes":{"process_resident":1,"resident":1,"clean":0,"compressed":0,"compressed_in_memory":0,"#
            + #""spilled":0,"stored":0},"counts":{"controllers":1,"caches":13,"loads":0,"restores":0,"evictions":0,"#
            + #""refaults":0,"failures":0},"signals":[],"left_out":{"controllers":0,"caches":0},"#
            + #""controllers":[{"path":"shop","visible":true,"caches":[\#(caches.joined(separator: ","))]}]}}"#
        let reply = try ControlReply.read(Data(answer.utf8), from: .process(1))
        let text = ControlText(reply: reply, style: .plain).text
        let lines = text.components(separatedBy: "\n").filter { $0.hasPrefix("  shop/") }
            .map { $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ") }
        #expect(
            lines == [
                "shop/tiles/values[…] 8 resident, 1 spilled 9.0 KiB 18.0 KiB 18 9 9",
                "shop/page-* 3 resident 3.0 KiB 6.0 KiB 6 3 3",
                "shop/logo spilled 1.0 KiB 2.0 KiB 2 1 1",
            ]
        )
        let all = ControlText(reply: reply, style: .plain, showsAll: true).text
        #expect(all.components(separatedBy: "\n").count { $0.hasPrefix("  shop/") } == 13)
        #expect(all.contains("shop/tiles/values[3]  "))
    }

    @Test func membersThatAreNewDoNoHarm() throws {
        let answer =
            #"{"protocol":1,"ok":true,"command":"warn","news":[1],"report":{"claimed_bytes":2097152,"#
            + #""returned_bytes":1048576,"evicted":2,"skipped":1,"failures":1,"milliseconds":4.25,"more":{}}}"#
        let reply = try ControlReply.read(Data(answer.utf8), from: .process(1))
        #expect(
            ControlText(reply: reply, style: .plain).text
                == "freed 2.0 MiB (returned 1.0 MiB) of 2 values in 4.3 ms, 1 skipped, 1 failure"
        )
        let json = try #require(
            try JSONSerialization.jsonObject(with: ControlReply.json(Data(answer.utf8))) as? [String: Any]
        )
        #expect(Set(json.keys) == ["format_version", "command", "news", "report", "tool_version"])
    }
}
