import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

/// A value that is invalidated while the full one is loaded to take a lighter one's place.
@Suite struct LateInvalidationTests {
    /// What the loader made before must not come back in place of what was loaded since, lighter or not.
    @Test func whatWasLoadedBeforeAnInvalidationIsNotPutInPlaceAfterIt() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let choice = Alternate(from: .warning)
        let (level, version) = (Shared(PressureLevel.critical), Shared(UInt8(1)))
        let meanwhile = Shared<(@Sendable () -> Void)?>(nil)
        let cache = try controller.cache("picture") { () -> [UInt8] in
            choice.load(
                at: level.value,
                full: {
                    let made = [UInt8](repeating: version.value, count: 1000)
                    meanwhile.change { $0.take() }?()
                    return made
                },
                lighter: { [version.value] }
            )
        }
        _ = cache.entry.traits.alternate.storeIfNil(choice)
        #expect(try await cache.value() == [1])
        #expect(cache.variant == .alternate)

        level.set(.normal)
        meanwhile.set {
            version.set(2)
            try? cache.invalidate()
            // Somebody reads it, and memory is short again for that moment.
            level.set(.critical)
            try? cache.loadIfNeeded()
            level.set(.normal)
        }
        try cache.entry.bringFullBack()
        #expect(try await cache.value() == [UInt8](repeating: 2, count: 1000))
        #expect(cache.variant == .full)
    }
}
