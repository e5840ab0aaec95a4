import PressureKit
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

@Suite struct MemoryFillTests {
    @Test func stopsAtTheLevel() {
        let fill = MemoryFill()
        let asked = Lock(0)
        let end = fill.fill(FillSpec(level: .warning, atMost: .mebibytes(64), rate: 10e9)) {
            asked.withLock { asked in
                asked += 1
                return asked > 4 ? .warning : .normal
            }
        }
        #expect(end == .reached)
        #expect(fill.peakBytes == .mebibytes(16))
    }

    @Test func takesNothingWhenTheLevelIsThereAlready() {
        let fill = MemoryFill()
        #expect(fill.fill(FillSpec(level: .warning, atMost: .mebibytes(64), rate: 10e9)) { .critical } == .reached)
        #expect(fill.peakBytes == .zero)
    }

    /// The bound is over all fills: the second one may add only what the first one left.
    @Test func neverHoldsMoreThanTheBound() {
        let fill = MemoryFill()
        let asked = Lock(0)
        // Nearly at once, so that the waiting for a late monitor is cut short.
        let level: () -> PressureLevel = {
            asked.withLock {
                $0 += 1; return $0 > 8 ? .critical : .normal
            }
        }
        _ = fill.fill(FillSpec(level: .critical, atMost: .mebibytes(12), rate: 10e9), level: level)
        #expect(fill.peakBytes == .mebibytes(12))
        fill.release()
        #expect(fill.peakBytes == .mebibytes(12))
    }
}

@Suite struct ProcessMemoryTests {
    @Test func theKernelsFieldsAreRead() throws {
        #expect(ProcessMemory.resident > .mebibytes(1))
        #expect(ProcessMemory.peak >= ProcessMemory.resident - .mebibytes(64))
        let available = try #require(ProcessMemory.available)
        let total = try #require(ProcessMemory.total)
        #expect(available < total)
        #expect(ProcessMemory.field("NoSuchField", of: "/proc/meminfo") == nil)
        #expect(ProcessMemory.field("MemTotal", of: "/no/such/file") == nil)
    }
}
