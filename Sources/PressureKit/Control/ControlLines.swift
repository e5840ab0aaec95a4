/// Bytes that come in pieces, cut into lines: at most one line's bytes are ever held.
package struct ControlLines: Sendable {
    /// What there is to do next.
    package enum Next: Hashable, Sendable {
        /// To wait for more bytes.
        case wait
        /// A line, without its end. Empty lines are passed over.
        case line([UInt8])
        /// There is no line's end where one must be. Nothing that follows can be understood.
        case tooLong
    }

    private var bytes: [UInt8] = []

    /// Nothing was heard yet.
    package init() { bytes.reserveCapacity(ControlCommand.longestLine) }

    /// How many bytes may be added.
    package var room: Int { ControlCommand.longestLine - bytes.count }

    /// Adds bytes, ``room`` at most: what is beyond is not taken.
    package mutating func add(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more.prefix(room)) }

    /// Takes the next line out.
    package mutating func next() -> Next {
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(bytes[..<end])
            bytes.removeFirst(end + 1)
            if line.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r") }) { return .line(line) }
        }
        return room > 0 ? .wait : .tooLong
    }
}
