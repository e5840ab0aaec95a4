import Logging
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// What the library says of values: where they are, how long, what went wrong. Never what is in them.
@Suite struct SecrecyTests {
    /// Words only: digits come up by themselves in addresses and times.
    private static let secret = "Ada Lovelace holds Bernoulli's numbers"

    private static func confession(_ count: Int) -> [UInt8] {
        let bytes = Array(secret.utf8)
        return (0..<count).map { bytes[$0 % bytes.count] }
    }

    @Test func nothingThatIsSaidCarriesContent() async throws {
        let said = Shared<[String]>([])
        var logger = Logger(label: "secrecy") { _ in Listener(said: said) }
        logger.logLevel = .trace
        let base = InMemoryFileSystem()
        let disk = FaultyFileSystem(base)
        var configuration = PressureConfiguration()
        configuration.sources = []
        configuration.spillDirectory = "/var/tmp"
        configuration.freeSpaceFloor = .zero
        configuration.fileSystem = disk
        configuration.compression = .stored
        configuration.compressedTier = .never
        let clock = ManualClock()
        configuration.clock = clock
        let manager = try PressureManager(configuration: configuration, logger: logger)
        let controller = try addController("bank", to: manager.root)
        let account = try controller.cache("account", initialValue: Self.confession(10_000))
        let names = try controller.cache("names", initialValue: Self.confession(700_000))
        func say(_ things: Any...) {
            for thing in things {
                var text = "\(thing) \(String(reflecting: thing))"
                dump(thing, to: &text)
                said.change { $0.append(text) }
            }
        }

        // A disk that takes nothing, one that does, and one that gives back something else.
        disk.set(.init(.error(28), on: .write))
        say(await manager.simulateMemoryWarning(.critical))
        disk.set(nil)
        clock.advance(by: .seconds(120))  // it is left alone for a while
        say(await manager.simulateMemoryWarning(.critical), manager.snapshot())
        #expect(account.residency == .spilled || names.residency == .spilled)
        say(try await manager.saveState(to: "/var/tmp/state"))
        base.damageEverything()
        for cache in [account, names] {
            do { _ = try await cache.value() } catch { say(error) }
        }
        do { say(try await manager.saveState(to: "/var/tmp/state")) } catch { say(error) }
        do { say(try await manager.restoreState(from: "/var/tmp/state")) } catch { say(error) }
        say(manager.snapshot(), account, names, controller)

        let all = said.value
        #expect(all.count > 10)
        #expect(all.contains { $0.contains("bank") }, "caches are named")
        for text in all {
            #expect(!text.contains("Lovelace") && !text.contains("Bernoulli"), "\(text)")
            // "Love", as numbers in an array would show it.
            #expect(!text.contains("76, 111, 118, 101"), "\(text)")
        }
    }
}

/// A log that is kept.
private struct Listener: LogHandler {
    let said: Shared<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        said.change { $0.append("\(event.message) \(event.metadata ?? [:])") }
    }
}
