import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

private struct Drawing: Codable, CodedSpillable, Equatable {
    var title: String
    var strokes: [[Double]]
    var tags: [String: Int] = ["b": 1, "a": 2]
}

/// Two versions of one type, as far as their bytes are concerned.
private struct First: Codable, CodedSpillable { var name: String }

private struct Second: Codable, CodedSpillable {
    static let spillVersion = 2
    var title: String
}

private struct Third: CodedSpillable {
    static let spillVersion = 3
    static let readableSpillVersions = 0...3
    var title: String

    enum Key: CodingKey { case name, title }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let isOld = decoder.userInfo[.spillVersion] as? Int == 0
        title = try container.decode(String.self, forKey: isOld ? .name : .title)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(title, forKey: .title)
    }
}

/// A conformance in one line.
@Suite(.timeLimit(.minutes(15))) struct CodedSpillableTests {
    @Test func oneLineIsEnough() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let app = try addController("app", to: manager.root)
        let drawing = Drawing(title: "title", strokes: (0..<1_000).map { [Double($0), 0.5] })
        let cache = try app.cache("drawing", initialValue: drawing)
        try await expectNoLoss(in: manager) {
            #expect(await manager.simulateMemoryWarning(.critical).evictedCount == 1)
            #expect(cache.residency == .spilled)
        }
        #expect(try await cache.value() == drawing)
        try cache.update { $0.title = "another" }
        #expect(await manager.simulateMemoryWarning(.critical).evictedCount == 1)
        #expect(try await cache.value().title == "another")
    }

    @Test func bytesOfAnotherVersionAreReadIfTheTypeSaysSo() throws {
        let old = spillBytes(of: First(name: "old"))
        #expect(try restored(First.self, of: old).name == "old")
        #expect(try restored(Third.self, of: old).title == "old")
        do {
            _ = try restored(Second.self, of: old)
            Issue.record("read another version")
        } catch DecodingError.dataCorrupted(let context) {
            #expect(context.debugDescription == "Written by version 0 of Second, which reads 2...2.")
        }
        let second = spillBytes(of: try restored(Third.self, of: old))
        #expect(try restored(Third.self, of: second).title == "old")
        #expect(throws: DecodingError.self) { try restored(First.self, of: second) }
        #expect(throws: DecodingError.self) { try restored(First.self, of: []) }
        #expect(throws: DecodingError.self) { try restored(First.self, of: Array(old[..<3])) }
    }
}
