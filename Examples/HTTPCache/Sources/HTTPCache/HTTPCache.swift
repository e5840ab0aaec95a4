import PressureKit

/// A memory cache in front of an HTTP origin: 10,000 requests for 100 pages, of which the origin sees 100.
@main struct HTTPCache {
    static func main() async throws {
        let manager = try PressureManager()
        let site = PressureController("site")
        try manager.root.addChild(site)

        let origin = Origin()
        // The `await` makes it a cache that is read with `await`. Who asks for what is on its way waits for that.
        let pages = try site.keyedCache("pages", options: .init(limit: .mebibytes(16))) { (path: String) in
            try await origin.get(path)
        }

        try await withThrowingTaskGroup(of: Void.self) { requests in
            for number in 0..<10_000 {
                requests.addTask {
                    let path = "/pages/\(number % 100)"
                    let isRight = try await pages.withValue(for: path) { isPage($0, at: path) }
                    precondition(isRight, "\(path) is another page")
                }
            }
            try await requests.waitForAll()
        }
        print("10000 requests, \(origin.requests.count) pages, \(origin.requests.values.max() ?? 0) load each")
        precondition(origin.requests.count == 100 && origin.requests.values.allSatisfy { $0 == 1 })

        // Many at once, with at most 32 on their way.
        let next = try await pages.values(for: (100..<200).map { "/pages/\($0)" })
        print("\(next.count) more at once")

        // A reader that gives up leaves at once, and with the last one the request is cancelled.
        let reader = Task { try await pages.value(for: "/pages/slow") }
        while pages.residency(for: "/pages/slow") != .loading { await Task.yield() }
        reader.cancel()
        let outcome = await reader.result
        print("a reader that was cancelled: \(outcome), \(pages.residency(for: "/pages/slow"))")

        // What the origin answers with an error is nobody's value, and is asked for again.
        for _ in 0..<2 { _ = try? await pages.value(for: "/nothing") }
        print("asked for what is not there: \(origin.requests["/nothing"] ?? 0) times")
        precondition(origin.requests["/nothing"] == 2)

        // Under pressure pages are dropped, and loaded again when they are wanted: 5 ms is what they are measured to cost.
        let report = await manager.simulateMemoryWarning(.critical)
        print("under pressure: \(report.claimed) given back")
        let isBack = try await pages.withValue(for: "/pages/7") { isPage($0, at: "/pages/7") }
        print("and back: \(isBack)")
        precondition(isBack)
        await manager.shutdown()
    }

    /// Whether the bytes are those of the page at a path, whose last ones say which it is.
    private static func isPage(_ bytes: [UInt8], at path: String) -> Bool {
        bytes.suffix(path.utf8.count).elementsEqual(path.utf8)
    }
}
