#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import Testing

@testable import PressureKit

@Suite struct KeyTableTests {
    /// Against a dictionary, with hashes that collide a lot, through growth and removal.
    @Test(arguments: [UInt64(1), 2, 3])
    func behavesAsADictionary(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var table = unsafe KeyTable()
        defer { table.deallocate() }
        var model: [UInt32: UInt32] = [:]  // index → hash
        for step in 0..<20_000 {
            let index = UInt32.random(in: 0..<600, using: &generator)
            // 40 hashes for 600 indices; the high ones wrap around the end of the table.
            let hash = UInt32.max - (index % 40) * 3
            if model[index] == nil {
                table.insert(hash, index)
                model[index] = hash
            } else {
                table.remove(hash, index)
                model[index] = nil
            }
            #expect(table.count == model.count)
            if step.isMultiple(of: 97) {
                for index in UInt32(0)..<600 {
                    let hash = UInt32.max - (index % 40) * 3
                    #expect(table.find(hash) { $0 == index } == (model[index] == nil ? nil : index), "seed \(seed)")
                }
            }
        }
    }

    @Test func replacesAnIndexInPlace() {
        var table = unsafe KeyTable()
        defer { table.deallocate() }
        table.insert(9, 1)
        table.insert(9, 2)
        table.replace(9, 1, by: 7)
        #expect(table.find(9) { $0 == 1 } == nil)
        #expect(table.find(9) { $0 == 7 } == 7)
        #expect(table.find(9) { $0 == 2 } == 2)
        #expect(table.count == 2)
    }
}
#endif
