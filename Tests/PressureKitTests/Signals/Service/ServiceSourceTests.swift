import CLinuxShims
import Foundation
import Glibc
import PressureKitTestSupport
import Testing

@testable import PressureKit
@testable import PressureSignals

/// systemd's protocol, played by the test.
@Suite(.timeLimit(.minutes(5))) struct ServiceSourceTests {
    private static func watch(_ path: String?, _ write: String? = nil) -> ServiceWatch {
        var environment: [String: String] = [:]
        environment["MEMORY_PRESSURE_WATCH"] = path
        environment["MEMORY_PRESSURE_WRITE"] = write
        return ServiceWatch(environment)
    }

    // MARK: The variables

    /// systemd's own default for a service, as it is put into the environment.
    @Test func theVariablesAreDecoded() {
        let write = Array("some 200000 2000000".utf8) + [0]
        let text = Data(write).base64EncodedString()
        #expect(
            Self.watch("/sys/fs/cgroup/a/memory.pressure", text)
                == .path("/sys/fs/cgroup/a/memory.pressure", write: write)
        )
        #expect(Self.watch("/run/fifo") == .path("/run/fifo", write: []))
    }

    @Test func noVariableAndNoWishAreTwoThings() {
        #expect(Self.watch(nil) == .absent)
        #expect(Self.watch("") == .absent)
        #expect(Self.watch("/dev/null", "c29tZQ==") == .off)
    }

    @Test(arguments: [
        ("relative", "", "absolute"), ("/p", "abc", "Base64"), ("/p", "ab=c", "Base64"), ("/p", "ab!d", "Base64"),
    ])
    func whatMakesNoSenseIsNamed(path: String, write: String, word: String) {
        guard case .invalid(let reason) = Self.watch(path, write) else {
            Issue.record("accepted")
            return
        }
        #expect(reason.contains(word))
    }

    @Test(arguments: 0..<40)
    func base64IsWhatFoundationSaysItIs(count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(Base64.decode(Data(bytes).base64EncodedString().utf8) == bytes)
    }

    @Test(arguments: [
        ("some 100000 1000000\0", 100_000), ("full 7 1000000", 7), ("some 0 5\0", 1), ("anything", 1), ("", 1),
        ("some 1 2 3\0", 1),
    ])
    func theThresholdIsReadFromWhatIsWritten(text: String, threshold: Int) {
        #expect(ServiceWatch.threshold(in: Array(text.utf8)) == threshold)
    }

    @Test(arguments: [ServiceWatch.absent, .off, .invalid("why"), .path("/no/such/path", write: [])])
    func whatCannotBeWatchedIsUnavailable(watch: ServiceWatch) throws {
        let error = try #require(throws: PressureError.self) { try ServiceSource(watch) }
        #expect(error.code == .signalUnavailable)
    }

    /// Off is off for the kernel's triggers as well, and limits are still watched.
    @Test func devNullTurnsStallsOffAndHeadroomNot() throws {
        let root = try FakeRoot()
        try root.enterUnified("/a")
        try root.write("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 900 kB\n")
        try root.write("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
        var context = root.context
        context.environment = ["MEMORY_PRESSURE_WATCH": "/dev/null"]
        let statuses = try PressureSource.automatic.open(in: context).flatMap(\.statuses)
        let stall = try #require(statuses.first { $0.origin == .stall })
        #expect(stall.state == .unavailable)
        #expect(stall.detail.contains("turned it off"))
        #expect(statuses.first { $0.origin == .memoryInfo }?.state == .available)
    }

    // MARK: A FIFO and a socket

    private static func level(_ source: ServiceSource, at milliseconds: Int64) -> PressureLevel? {
        let reading = source.sample(at: MonotonicInstant(nanoseconds: milliseconds * 1_000_000))
        guard case .demand(let level, _)? = reading?.measure else { return nil }
        return level
    }

    private static func withPath(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "pk-\(UUID().uuidString.prefix(8))").path
        defer { unsafe unlink(path) }  // the string outlives the call, here and below
        try body(path)
    }

    @Test func writingIntoAFifoDemandsWarningForTwoSeconds() throws {
        try Self.withPath { path in
            try #require(unsafe mkfifo(path, 0o600) == 0)
            let source = try ServiceSource(Self.watch(path))
            let loop = try EventLoop()
            source.attach(to: loop)
            #expect(source.statuses.map(\.state) == [.armed])
            let writer = try #require(FileHandle(forWritingAtPath: path))
            #expect(Self.level(source, at: 0) == .normal)
            writer.write(Data([1, 2, 3]))
            _ = loop.wait(upTo: .seconds(20))
            #expect(Self.level(source, at: 10) == .warning)
            #expect(Self.level(source, at: 1_900) == .warning)
            #expect(Self.level(source, at: 2_100) == .normal)
            #expect(source.statuses.map(\.state) == [.verified])
            source.detach(from: loop)
            #expect(loop.watchCount == 0)
        }
    }

    /// The last writer has gone: an end that reports events for ever if the FIFO is not closed.
    @Test func aFifoThatHasEndedIsOpenedAgain() throws {
        try Self.withPath { path in
            try #require(unsafe mkfifo(path, 0o600) == 0)
            let source = try ServiceSource(Self.watch(path))
            let loop = try EventLoop()
            source.attach(to: loop)
            try FileHandle(forWritingAtPath: path)?.close()
            while loop.watchCount > 0 { _ = loop.wait(upTo: .seconds(20)) }
            #expect(source.statuses.map(\.state) == [.unavailable])
            #expect(Self.level(source, at: 0) == .normal)
            #expect(Self.level(source, at: 1_500) == .normal)
            #expect(loop.watchCount == 1)
            let writer = try #require(FileHandle(forWritingAtPath: path))
            writer.write(Data([1]))
            _ = loop.wait(upTo: .seconds(20))
            #expect(Self.level(source, at: 1_600) == .warning)
            source.detach(from: loop)
        }
    }

    /// A FIFO gives back what we wrote into it ourselves.
    @Test func ourOwnBytesAreNoPressure() throws {
        try Self.withPath { path in
            try #require(unsafe mkfifo(path, 0o600) == 0)
            let source = try ServiceSource(Self.watch(path, Data("hello".utf8).base64EncodedString()))
            let loop = try EventLoop()
            source.attach(to: loop)
            _ = loop.wait(upTo: .seconds(20))
            #expect(Self.level(source, at: 0) == .normal)
            let writer = try #require(FileHandle(forWritingAtPath: path))
            writer.write(Data([1]))
            _ = loop.wait(upTo: .seconds(20))
            #expect(Self.level(source, at: 1) == .warning)
            source.detach(from: loop)
        }
    }

    @Test func aSocketGetsTheBytesAndRings() throws {
        try Self.withPath { path in
            let listener = try Self.listen(path)
            defer { close(listener) }
            let source = try ServiceSource(Self.watch(path, Data("some 1 2\0".utf8).base64EncodedString()))
            let loop = try EventLoop()
            source.attach(to: loop)
            let peer = accept(listener, nil, nil)
            try #require(peer >= 0)
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = unsafe read(peer, &buffer, buffer.count)
            #expect(Array(buffer.prefix(max(0, count))) == Array("some 1 2\0".utf8))
            var byte: UInt8 = 1
            #expect(unsafe write(peer, &byte, 1) == 1)
            _ = loop.wait(upTo: .seconds(20))
            #expect(Self.level(source, at: 0) == .warning)
            close(peer)
            while loop.watchCount > 0 { _ = loop.wait(upTo: .seconds(20)) }
            #expect(source.statuses.map(\.state) == [.unavailable], "the service manager has hung up")
            source.detach(from: loop)
        }
    }

    private static func listen(_ path: String) throws -> CInt {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound && Glibc.listen(descriptor, 1) == 0)
        return descriptor
    }

    @Test func aPlainFileIsToldToBeNoUse() throws {
        try Self.withPath { path in
            try Data("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n".utf8).write(to: URL(fileURLWithPath: path))
            let source = try ServiceSource(Self.watch(path))
            let loop = try EventLoop()
            source.attach(to: loop)
            #expect(source.statuses.map(\.state) == [.unavailable])
            source.detach(from: loop)
        }
    }

    /// Pitfall 2: a notification without growth of the totals is false.
    @Test(.enabled(if: RealCgroup.isUsable, RealCgroup.comment))
    func aRingOfAPressureFileCountsWithItsGrowthOnly() throws {
        let cgroup = try RealCgroup(limit: .mebibytes(64))
        let write = Data("some 100000 2000000\0".utf8).base64EncodedString()
        let source = try ServiceSource(Self.watch(cgroup.unified + "/memory.pressure", write))
        let loop = try EventLoop()
        source.attach(to: loop)
        #expect(source.statuses.map(\.state) == [.armed])
        source.receive(EventLoop.Event(tag: 0, failed: false))
        #expect(Self.level(source, at: 0) == .normal)
        #expect(source.statuses.map(\.state) == [.armed], "not verified by a false alarm")
        cgroup.remove(cgroup.unified)
        while loop.watchCount > 0 { _ = loop.wait(upTo: .seconds(20)) }
        #expect(source.statuses.map(\.state) == [.unavailable])
        source.detach(from: loop)
    }
}
