import PressureKit
import SampleContent

/// Makes the demonstration's values and knows each again.
final class SurvivalValues: Sendable {
    private let content: SyntheticContent
    private let size: Int
    /// By key, from when a value was first made; 0 before.
    private let hashes: Lock<[UInt64]>

    init(plan: SurvivalPlan) {
        content = plan.content
        size = plan.valueSize.bytes
        hashes = Lock(Array(repeating: 0, count: plan.count))
    }

    /// The value for a key: the same bytes each time.
    func make(_ key: Int) -> PageBuffer {
        var buffer = PageBuffer(byteCount: size)
        buffer.write { content.fill(&$0, index: key) }
        let hash = buffer.withBytes { XXHash64.hash($0) }
        hashes.withLock { $0[key] = hash }
        return buffer
    }

    /// Whether these are the bytes that were made for the key.
    func knows(_ buffer: PageBuffer, as key: Int) -> Bool {
        let hash = buffer.withBytes { XXHash64.hash($0) }
        return buffer.count == size && hash == hashes.withLock { $0[key] }
    }
}
