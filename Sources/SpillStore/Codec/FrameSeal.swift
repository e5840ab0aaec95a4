/// What shows that a frame is the one that was sealed under this key and this nonce, whole: the authentication tag of
/// AES-GCM. Of no size without the package trait `Encryption`. Trivial.
///
/// In memory with the record, where nobody who writes to the disk can change it, and where a frame of whole pages stays
/// one of whole pages.
package struct FrameSeal: Hashable, Sendable, BitwiseCopyable {
    #if Encryption
    /// Bytes of a tag (NIST SP 800-38D allows fewer; there is no reason for fewer here).
    static let byteCount = 16

    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// The tag as it comes from the cipher.
    ///
    /// - Parameter bytes: exactly ``byteCount``.
    init(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == Self.byteCount, "A tag has 16 bytes.")
        // Both loads are inside the 16 bytes.
        low = unsafe bytes.loadUnaligned(as: UInt64.self)
        high = unsafe bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }
    #endif

    /// No seal: that of a frame in a file without a cipher.
    package init() {}
}
