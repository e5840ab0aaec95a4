/// What a value says of its size. Asking runs the app's code, which may take long and may use the library: it is asked
/// once for each change of a value, with nothing locked and before the value's slot is anybody's.
struct ValueSize: Hashable, Sendable {
    /// The bytes that releasing the value gives back.
    let footprint: Int
    /// The bytes that a copy of the value has to hold.
    let plainByteCount: Int

    /// Asks the value.
    init(_ value: borrowing some Spillable) {
        plainByteCount = value.spillByteCount
        footprint = value.footprint
    }
}
