/// Something that reads bytes from outside, and what has to hold whatever they are. The fuzzer (`make fuzz`) looks for
/// bytes for which it does not; the tests replay what was found, and what led there.
struct FuzzTarget: Sendable {
    /// The name on the command line, and of the corpus's directory.
    let name: String
    /// Holds what comes of the bytes against what has to come of them.
    let check: @Sendable ([UInt8]) throws(FuzzFailure) -> Void

    /// All of them.
    static let all = [scenario, kernel, recording, frame, state]
}

/// Something did not hold.
struct FuzzFailure: Error, CustomStringConvertible {
    var description: String
}

/// - Throws: ``FuzzFailure`` when it does not hold.
func hold(_ holds: Bool, _ otherwise: @autoclosure () -> String) throws(FuzzFailure) {
    if !holds { throw FuzzFailure(description: otherwise()) }
}

/// Takes an input apart from its front; zeros once it is used up.
struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func number() -> UInt32 { (0..<4).reduce(0) { sum, _ in sum << 8 | UInt32(byte()) } }

    /// All that is left.
    mutating func bytes() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}
