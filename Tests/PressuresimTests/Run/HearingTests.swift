import Foundation
import Testing

@testable import pressuresim

@Suite(.timeLimit(.minutes(5))) struct HearingTests {
    /// Each says nothing until the next one has been heard: with as many threads as processors none would end.
    @Test func asManyAreHeardAtATimeAsThereAre() throws {
        let pipes = (0..<32).map { _ in Pipe() }
        let heard = try pipes.map { try Hearing(textOf: $0) }
        for index in pipes.indices.reversed() {
            #expect(heard[index].result == nil)
            try pipes[index].fileHandleForWriting.write(contentsOf: Data("number \(index)".utf8))
            try pipes[index].fileHandleForWriting.close()
            #expect(heard[index].text == "number \(index)")
        }
    }

    @Test func whatComesOfItIsThereAtTheEnd() throws {
        let pipe = Pipe()
        let lines = try Hearing(pipe) { (try? $0.readToEnd())?.split(separator: UInt8(ascii: "\n")).count ?? 0 }
        #expect(lines.result == nil)
        try pipe.fileHandleForWriting.write(contentsOf: Data("one\ntwo\n".utf8))
        try pipe.fileHandleForWriting.close()
        lines.wait()
        #expect(lines.result == 2)
    }
}
