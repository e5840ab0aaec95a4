import Foundation
import Testing

@testable import pressuresim

extension Maker {
    /// Of a number that no process has (proc(5): it is below 2^22).
    static let gone = Maker(process: 4_194_305, start: 1, namespace: Maker.own.namespace)
}

@Suite struct MakerTests {
    @Test func aNameSaysWhoMadeIt() {
        #expect(Maker(of: "\(Maker.own.prefix)1") == .own)
        #expect(Maker.own.start > 0)
        for name in [
            "", "pressuresim-", "pressuresim-7-1", "pressuresim-0.1.2-1", "pressuresim-1.2.3", "other-1.2.3-4",
        ] {
            #expect(Maker(of: name) == nil, "\(name)")
        }
    }

    /// Numbers are used again, and mean somebody else elsewhere.
    @Test func onlyWhoHasEndedForSureIsGone() {
        #expect(!Maker.own.isGone)
        #expect(Maker.gone.isGone)
        var later = Maker.own
        later.start += 1
        #expect(later.isGone)
        var elsewhere = Maker.gone
        elsewhere.namespace += 1
        #expect(!elsewhere.isGone)
    }

    /// A child that has ended, and whose parent has not asked how, is there and is gone.
    @Test func oneThatNobodyWaitedForIsGone() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The shell waits for nobody and becomes a program that does not either.
        process.arguments = ["-c", "/bin/true & echo $!; exec sleep 3600"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // Not SIGTERM, which it ignores where another test has taken that over.
        defer { kill(process.processIdentifier, SIGKILL) }
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let number = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        for _ in 0..<6000 where ProcessState("\(number)")?.hasEnded == false { usleep(10_000) }
        let state = try #require(ProcessState("\(number)"))
        #expect(Maker(process: number, start: state.start, namespace: Maker.own.namespace).isGone)
    }

    @Test func directoriesOfThoseWhoAreGoneAreSwept() async throws {
        try await withTemporaryDirectory { directory in
            let manager = FileManager.default
            let kept = directory.appendingPathComponent("kept")
            try Data().write(to: kept)
            let gone = directory.appendingPathComponent("\(Maker.gone.prefix)1")
            try manager.createDirectory(at: gone.appendingPathComponent("state"), withIntermediateDirectories: true)
            // Neither a file nor a link of such a name is a directory of ours.
            let link = directory.appendingPathComponent("\(Maker.gone.prefix)2")
            try manager.createSymbolicLink(at: link, withDestinationURL: directory)
            let first = try TemporaryDirectory(in: directory.path, option: "--directory")
            let second = try TemporaryDirectory(in: directory.path, option: "--directory")
            #expect(!manager.fileExists(atPath: gone.path))
            for path in [first.path, second.path, link.path, kept.path] { #expect(manager.fileExists(atPath: path)) }
            first.remove()
            #expect(!manager.fileExists(atPath: first.path))
            #expect(manager.fileExists(atPath: second.path))
        }
    }
}
