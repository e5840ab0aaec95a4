import CAllocationCounter
import CLinuxShims
import Testing

@testable import PressureKit
@testable import PressureSignals

@Suite struct ProcessFootprintTests {
    /// 128 MiB, and half of it as the margin: other tests run in this process at the same time.
    @Test func followsPagesThatAreTouchedAndReturned() throws {
        let footprint = try ProcessFootprint()
        let length = 128 << 20
        let before = footprint.residentBytes()
        let pages = unsafe try #require(pk_map_pages(length))
        unsafe pages.initializeMemory(as: UInt8.self, repeating: 1, count: length)  // exactly what was mapped
        let touched = footprint.residentBytes()
        _ = unsafe pk_unmap_pages(pages, length)
        let returned = footprint.residentBytes()
        #expect(touched - before > length / 2)
        #expect(touched - returned > length / 2)
    }

    @Test func aReadingAllocatesNothing() throws {
        let footprint = try ProcessFootprint()
        _ = footprint.residentBytes()
        let before = pk_thread_allocations()
        var sum = 0
        for _ in 0..<100 { sum &+= footprint.residentBytes() }
        #expect(pk_thread_allocations() - before == 0)
        #expect(sum > 0)
    }

    @Test(arguments: [
        ("84537 2105 1846 5 0 21013 0\n", 2105), ("1 0 0 0 0 0 0", 0), ("7 8", 8), ("", nil), ("7", nil), ("7 ", nil),
        ("x 5", nil), ("5 x", nil), ("1 99999999999999999999", nil), ("1 140737488355328", nil),
    ])
    func theSecondNumberIsTheResidentPages(text: String, pages: Int?) {
        let bytes = Array(text.utf8)
        let found = ProcessFootprint.residentPages(bytes.span)
        #expect(found == pages)
    }
}
