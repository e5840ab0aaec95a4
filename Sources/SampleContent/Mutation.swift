/// What `update` does to a value: version 1 differs from version 0 in a few bytes, version 2 from version 1, and so on.
///
/// A mutation depends on the value's seed and the version only, so the expected bytes of any version can be made again
/// from the source without asking the cache.
package enum Mutation {
    /// How many bytes one mutation changes at most.
    static let changes = 64

    /// Turns version `version - 1` of a value into `version`.
    package static func apply(version: Int, seed: UInt64, to bytes: inout MutableRawSpan) {
        guard bytes.byteCount > 0 else { return }
        var random = SplitMix64(seed: seed, stream: UInt64(version))
        for _ in 0..<changes {
            let offset = Int(random.next() % UInt64(bytes.byteCount))
            // In bounds by the line above; never 0, so that the byte changes.
            let old = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            bytes.storeBytes(of: old ^ UInt8(1 + random.next() % 255), toByteOffset: offset, as: UInt8.self)
        }
    }
}
