import PressureKit
import PressureKitTestSupport
import Testing

@Suite struct FirstLightTests {
    @Test func aValueWithoutALoaderIsSpilledAndComesBack() async throws {
        let manager = try makeManager()
        let controller = try addController("gallery", to: manager.root)
        let bytes = makeBytes(1 << 20, seed: 1)
        let cache = try controller.cache("original", initialValue: bytes)
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.claimed == .mebibytes(1))
        #expect(cache.residency == .spilled)
        #expect(report.stored < report.copied)
        let back = try await cache.value()
        #expect(back == bytes)
        #expect(cache.residency == .resident)
        let again = await manager.simulateMemoryWarning(.critical)
        #expect(again.evicted.map(\.outcome) == [.reused])
        #expect(again.copied == .zero)
        await manager.shutdown()
    }
}
