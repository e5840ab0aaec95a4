import Foundation
import PressureKitTestSupport
import Testing

@testable import PressureKit

/// Two processes that save into one directory and do not know of each other, since somebody who cleans up old files has
/// taken the lock's away.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TwoSaversTests {
    private static let saves = 40

    /// An app whose values say who saved them, and as which save.
    private struct Saver {
        let manager: PressureManager
        let caches: [LazyCache<[UInt8]>]
        let name: String

        init(_ name: String, in path: String) throws {
            self.name = name
            manager = try makeManager(fileSystem: LinuxFileSystem(), workers: 2) { $0.spillDirectory = path }
            let controller = try addController("app", to: manager.root)
            caches = try (0..<3).map { try controller.cache("\($0)", of: [UInt8].self) }
        }

        func save(_ number: Int, to path: String) async throws {
            for (index, cache) in caches.enumerated() { try cache.set(TwoSaversTests.value(name, number, index)) }
            try await manager.saveState(to: path, version: "\(name) \(number)")
        }
    }

    private static func value(_ name: String, _ number: Int, _ index: Int) -> [UInt8] {
        makeBytes([500, 40_000, 300_000][index], seed: UInt64(name.utf8.count * 1000 + number * 3 + index))
    }

    @Test func whatTheyLeaveIsAWholeStateOfOneOfThem() async throws {
        let directory = try RealDirectory()
        defer { directory.remove() }
        let state = directory.path + "/state"
        let ours = try Saver("parent", in: directory.path)
        try await ours.save(0, to: state)
        try FileManager.default.removeItem(atPath: state + "/lock")
        let isOver = Shared(false)
        async let saved = {
            var number = 0
            while !isOver.value {
                number += 1
                try await ours.save(number, to: state)
            }
            return number
        }()
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            let theirs = try Saver("child", in: path)
            for number in 1...TwoSaversTests.saves { try await theirs.save(number, to: path + "/state") }
            // A process that ends at once leaves what it has.
            exit(0)
        }
        isOver.set(true)
        let count = try await saved
        #expect(count > 0)
        try FileManager.default.removeItem(atPath: state + "/lock")
        let next = try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = directory.path }
        let anyVersion = AnyVersion()
        next.delegate = anyVersion
        let controller = try addController("app", to: next.root)
        let report = try await next.restoreState(from: state)
        let words = report.version.split(separator: " ")
        let (name, number) = (String(words[0]), Int(words[1]) ?? -1)
        #expect(name == "parent" ? number == count : number == Self.saves, "\(report.version)")
        for index in 0..<3 {
            let found = try controller.cache("\(index)", of: [UInt8].self).withValue { $0 }
            #expect(isSame(found, Self.value(name, number, index)), "\(report.version)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: state)
        #expect(Set(names) == ["lock", "state"])
        figure("two processes: \(count) and \(Self.saves) saves, the last of the \(name)")
    }

    private final class AnyVersion: PressureManagerDelegate {
        func shouldRestoreState(savedBy saved: String, version: String) -> Bool { true }
    }
}
