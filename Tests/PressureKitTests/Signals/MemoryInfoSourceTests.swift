#if !THREAD_SANITIZER  // One thread at a time.
import CAllocationCounter
import Foundation
import PressureKit
import Testing

@Suite struct MemoryInfoSourceTests {
    private let now = MonotonicInstant(nanoseconds: 42)

    @Test func readsThisMachine() throws {
        let reading = try #require(try MemoryInfoSource().sample(at: now))
        #expect(reading.origin == .memoryInfo)
        #expect(reading.source == "/proc/meminfo")
        #expect(reading.takenAt == now)
        let headroom = try #require(reading.headroom)
        #expect(headroom.available > .mebibytes(1))
        #expect(headroom.limit > headroom.available)
    }

    /// One descriptor for life, and yet each sample is a new one.
    @Test func readsTheFileAnewEachTime() throws {
        try withFile("MemTotal: 1000 kB\nMemAvailable: 900 kB\n") { path, rewrite in
            let source = try MemoryInfoSource(path: path)
            #expect(source.sample(at: now)?.headroom?.available == .kibibytes(900))
            try rewrite("MemTotal: 1000 kB\nMemAvailable: 80 kB\n")
            #expect(source.sample(at: now)?.headroom?.available == .kibibytes(80))
        }
    }

    @Test func aFileThatTurnsIntoNonsenseHasNoNews() throws {
        try withFile("MemTotal: 1000 kB\nMemAvailable: 900 kB\n") { path, rewrite in
            let source = try MemoryInfoSource(path: path)
            try rewrite("what?")
            #expect(source.sample(at: now) == nil)
        }
    }

    @Test func aFileLongerThanTheBufferIsReadAsFarAsItGoes() throws {
        let filler = (0..<500).map { "Field\($0): 1 kB\n" }.joined()
        try withFile("MemTotal: 1000 kB\nMemAvailable: 900 kB\n" + filler) { path, _ in
            let source = try MemoryInfoSource(path: path)
            #expect(source.sample(at: now)?.headroom?.available == .kibibytes(900))
        }
    }

    @Test func aMissingFileIsUnavailableAndSaysWhatToDo() throws {
        let error = try #require(throws: PressureError.self) { try MemoryInfoSource(path: "/proc/no-such-file") }
        #expect(error.code == .signalUnavailable)
        #expect(error.errno == ENOENT)
        #expect(error.message.contains("/proc/no-such-file"))
        #expect(error.message.contains("Mount /proc"))
    }

    @Test(arguments: ["/dev/null", "/proc/self", "/proc/self/statm"])
    func aFileThatSaysNothingAboutMemoryIsUnavailable(_ path: String) throws {
        let error = try #require(throws: PressureError.self) { try MemoryInfoSource(path: path) }
        #expect(error.code == .signalUnavailable)
        #expect(error.message.contains(path))
    }

    /// P5 and P10: nothing is allocated to take a sample.
    @Test func aSampleAllocatesNothing() throws {
        let source = try MemoryInfoSource()
        _ = source.sample(at: now)
        let before = pk_thread_allocations()
        var readings = 0
        for _ in 0..<100 where source.sample(at: now) != nil { readings += 1 }
        #expect(pk_thread_allocations() - before == 0)
        #expect(readings == 100)
    }

    private func withFile(
        _ text: String,
        _ body: (_ path: String, _ rewrite: (String) throws -> Void) throws -> Void
    ) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "meminfo-\(UUID().uuidString)")
        try Data(text.utf8).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        // In place: the source holds the file itself, not its name.
        try body(path.path) { try Data($0.utf8).write(to: path) }
    }
}
#endif
