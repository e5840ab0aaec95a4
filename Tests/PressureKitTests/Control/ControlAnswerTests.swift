#if !THREAD_SANITIZER  // One thread at a time.
import Foundation
import PressureKitTestSupport
import Testing

@testable import PressureKit

/// What comes back over the control socket: JSON that any parser reads, bounded, and without content.
@Suite struct ControlAnswerTests {
    private static func parse(_ bytes: [UInt8]) throws -> [String: Any] {
        #expect(bytes.last == 10)
        #expect(!bytes.dropLast().contains(10))
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    @Test func everyTextSurvivesTheNotation() throws {
        let texts = ["", "plain", "\"quoted\" \\ slash/", "line\nend\r\t\u{0}\u{1F}\u{7F}", "größer 漢字 🧠", "\u{2028}"]
        for text in texts {
            let json = JSONLine { $0.member("text", text) }
            let object = try #require(try JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String: String])
            #expect(object["text"] == text)
        }
    }

    @Test func whatIsNoNumberBecomesNull() throws {
        let json = JSONLine { json in
            json.member("a", Double.nan)
            json.member("b", -Double.infinity)
            json.member("c", 0.5)
            json.member("d", Int?.none)
            json.member("e") { _ in }
            json.member("f", [1, 2, 3] as [Int], until: { $1 == 2 }) { $0.member("n", $1) }
            json.member("g", true)
        }
        let text = String(decoding: json.bytes, as: UTF8.self)
        #expect(text == #"{"a":null,"b":null,"c":0.5,"d":null,"e":{},"f":[{"n":1},{"n":3}],"g":true}"#)
    }

    @Test func aRefusalHasAStableCode() throws {
        let answer = try Self.parse(ControlAnswer.refused(.busy).bytes)
        #expect(answer["protocol"] as? Int == 1)
        #expect(answer["ok"] as? Bool == false)
        #expect(answer["error"] as? String == "busy")
    }

    /// However many controllers and caches there are, and whatever they are called.
    @Test(arguments: [(2000, 1), (20, 200), (1, 3000)])
    func aStatusIsBoundedAndSaysWhatItLeavesOut(controllers: Int, caches: Int) throws {
        let manager = try makeManager()
        for index in 0..<controllers {
            let controller = try addController("controller\u{1} \(index)", to: manager.root)
            for cache in 0..<caches {
                _ = try controller.cache("cache\u{2} \(cache)") { [UInt8](repeating: 0, count: 8) }
            }
        }
        let status = ControlStatus(process: 1, snapshot: manager.snapshot(), isInBackground: false)
        let bytes = ControlAnswer.status(status).bytes
        #expect(bytes.count <= ControlAnswer.mostBytes)
        let answer = try #require(try Self.parse(bytes)["status"] as? [String: Any])
        let shown = try #require(answer["controllers"] as? [[String: Any]])
        let left = try #require(answer["left_out"] as? [String: Int])
        #expect(shown.count + left["controllers"]! == controllers + 1)
        let shownCaches = shown.reduce(0) { $0 + (($1["caches"] as? [Any])?.count ?? 0) }
        #expect(left["caches"]! + shownCaches <= controllers * caches)
        #expect(left["controllers"]! + left["caches"]! > 0)
        #expect((answer["counts"] as? [String: Int])?["caches"] == controllers * caches)
    }

    @Test func whatIsDeeperThanEightIsLeftOut() throws {
        let manager = try makeManager()
        var parent = manager.root
        for level in 1...12 { parent = try addController("level \(level)", to: parent) }
        let status = ControlStatus(process: 1, snapshot: manager.snapshot(), isInBackground: false)
        let answer = try #require(try Self.parse(ControlAnswer.status(status).bytes)["status"] as? [String: Any])
        #expect((answer["controllers"] as? [Any])?.count == 9)
        #expect((answer["left_out"] as? [String: Int])?["controllers"] == 4)
    }
}
#endif
