import Foundation
import Testing

@testable import pressuresim

/// What `pressuresim neighbours` says of those who share a limit.
@Suite struct NeighbourTextTests {
    private let board = NeighbourBoard(
        file: "/dev/shm/board",
        cgroup: "/sys/fs/cgroup/shop",
        shortage: .init(number: 3, needBytes: 5 << 20, secondsAgo: 2),
        processes: [
            .init(
                process: 71,
                command: "shop\u{1B}[2J",
                heldBytes: 90 << 20,
                freeBytes: 80 << 20,
                dirtyBytes: 7 << 20,
                heapBytes: 33 << 20,
                residentBytes: 130 << 20,
                floorBytes: 1 << 20,
                weight: 1,
                share: 0.25,
                budgetBytes: 60 << 20,
                waitedSeconds: 1.5,
                answerMilliseconds: 4
            )
        ]
    )

    @Test func aProcessIsALineUnderItsColumns() throws {
        let lines = NeighbourText(boards: [board], style: Style(isColoured: false)).text.split(separator: "\n")
        #expect(lines.first == "/sys/fs/cgroup/shop")
        #expect(lines.contains { $0.contains("shortage 3: 5.0 MiB were missing 2") })
        let head = try #require(lines.first { $0.contains("free heap") })
        let line = try #require(lines.first { $0.contains("90.0 MiB") })
        for (name, value) in [
            ("holds", "90.0 MiB"), ("can go at once", "80.0 MiB"), ("to be written", "7.0 MiB"),
            ("free heap", "33.0 MiB"), ("its share", "25.0 %"),
        ] {
            let column = try #require(head.range(of: name)).upperBound
            let end = line.index(line.startIndex, offsetBy: head.distance(from: head.startIndex, to: column))
            #expect(line[..<end].hasSuffix(value), "\(name): \(line)")
        }
        #expect(!line.contains("\u{1B}"), "a process's name may be anything")
    }

    @Test func withNobodyThereItSaysWhy() {
        #expect(NeighbourText(boards: [], style: Style(isColoured: false)).text.contains("none has a manager"))
    }
}
