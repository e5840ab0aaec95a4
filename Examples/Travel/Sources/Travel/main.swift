import Glibc
import PressureKit

// Travel ADDRESS save PAGE [killed]    saves that the reader is on this page; with "killed", ends itself in mid-save
// Travel ADDRESS restore               restores it, and reads on
//
// ADDRESS is a host, or the path of a Unix socket. Both go on until they are killed.

/// Where a reader is in a long document, and the pages that were made ready.
final class Reader: PressureControllerDelegate {
    static let pages = 64
    let manager: PressureManager
    let controller = PressureController("reader")
    let bookmark = PressureController("bookmark")
    let ready: KeyedCache<Int, [UInt8]>
    private let page: Int

    init(page: Int = 0) throws {
        self.page = page
        manager = try PressureManager()
        try manager.root.addChild(controller)
        try controller.addChild(bookmark)
        ready = try controller.keyedCache("pages", key: Int.self, value: [UInt8].self)
        controller.delegate = self
    }

    /// 256 KiB that look like nothing else.
    static func content(_ page: Int) -> [UInt8] {
        var state = UInt64(page + 1)
        return (0..<256 << 10).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    func encodeRestorableState(into coder: inout StateCoder) { coder.encode(page, forKey: "page") }

    func decodeRestorableState(from coder: StateCoder) {
        say("the reader is on page \(coder.decode(Int.self, forKey: "page") ?? -1)")
    }
}

/// What kills itself when it is saved, after its parent's pages.
final class Killer: PressureControllerDelegate {
    func encodeRestorableState(into coder: inout StateCoder) { kill(getpid(), SIGKILL) }
}

/// Prints at once: whoever kills this reads it.
func say(_ words: Any...) {
    print(words.map { "\($0)" }.joined(separator: " "))
    fflush(nil)
}

let arguments = CommandLine.arguments.dropFirst()
guard let address = arguments.first, let command = arguments.dropFirst().first else {
    print("usage: Travel ADDRESS save PAGE [killed] | Travel ADDRESS restore")
    exit(2)
}
var server = address.hasPrefix("/") ? RemoteSpill.redis(socketPath: address) : .redis(host: address)
// So that the state of a process that was killed can be had soon.
server.lease = .seconds(3)
let state = RemoteState("reader", on: server)
do {
    if command == "save" {
        let reader = try Reader(page: arguments.dropFirst(2).first.flatMap { Int($0) } ?? 0)
        for page in 0..<Reader.pages { reader.ready.set(Reader.content(page), for: page) }
        let killer = Killer()
        if arguments.last == "killed" { reader.bookmark.delegate = killer }
        say("saved", try await reader.manager.saveState(to: state, version: "1"))
        while true { pause() }
    }
    let reader = try Reader()
    say("restored", try await reader.manager.restoreState(from: state, version: "1"))
    let right = try await (0..<Reader.pages).asyncCount { try await reader.ready.value(for: $0) == Reader.content($0) }
    say("\(right) of \(Reader.pages) pages are as they were")
    while true { pause() }
} catch {
    say(error)
    exit(1)
}

extension Range<Int> {
    /// How many of them are so.
    func asyncCount(_ isSo: (Int) async throws -> Bool) async rethrows -> Int {
        var count = 0
        for element in self where try await isSo(element) { count += 1 }
        return count
    }
}
