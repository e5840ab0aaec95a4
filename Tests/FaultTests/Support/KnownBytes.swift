import PressureKit
import PressureKitTestSupport

/// As the shared one, but made once for each combination: workflows run thousands of times, and a debug build takes its
/// time. Elsewhere this would keep in memory what a test means to be freed.
func makeBytes(_ count: Int, seed: UInt64, randomBits: Int = 3) -> [UInt8] {
    let key = Key(count: count, seed: seed, randomBits: randomBits)
    if let known = known.withLock({ $0[key] }) { return known }
    let bytes = PressureKitTestSupport.makeBytes(count, seed: seed, randomBits: randomBits)
    known.withLock { $0[key] = bytes }
    return bytes
}

private struct Key: Hashable {
    var count: Int
    var seed: UInt64
    var randomBits: Int
}

private let known = Lock<[Key: [UInt8]]>([:])
