/// What is wrong with a frame that was read.
package enum FrameDamage: Error, Hashable, Sendable, CaseIterable {
    /// The file ends before the frame does.
    case truncated
    /// The record describes a frame that cannot be.
    case contradiction
    /// The bytes are not the ones that were written, by their checksum or their seal: damaged, or another frame's.
    case checksumMismatch
    /// The payload matches its checksum but does not inflate to the plain length.
    case badPayload
}
