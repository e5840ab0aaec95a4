import PressureKit

/// Bytes of which the library does not know where they lie, as in most types of an app's own.
struct HiddenBytes: Spillable {
    private let bytes: [UInt8]

    var spillByteCount: Int { bytes.count }

    func withSpillBytes(_ body: (RawSpan) -> Void) { bytes.withSpillBytes(body) }

    init(count: Int) { bytes = [UInt8](repeating: 1, count: count) }

    init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        bytes = unsafe try [UInt8](spillByteCount: spillByteCount, restoringWith: fill)
    }
}
