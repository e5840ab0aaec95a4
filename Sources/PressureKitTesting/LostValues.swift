public import PressureKit

/// Values that are not what they were: what `expectNoLoss(in:_:)` throws when it finds any.
public struct LostValues: Error, Hashable, Sendable {
    /// One value, and what is wrong with it.
    public struct Loss: Hashable, Sendable, CustomStringConvertible {
        /// What is wrong with a value.
        public enum Reason: Hashable, Sendable {
            /// Reading it throws: the error, as text.
            case unreadable(String)
            /// It has other bytes: how many there were before, and how many there are.
            case changed(from: ByteCount, to: ByteCount)
            /// It writes other bytes each time, or the same in another order, so that nobody can tell whether it is the
            /// same: how many there are. What is in a `Set` or a `Dictionary` has to be written in order.
            case unstable(ByteCount)
        }

        /// Where the value is: the path of its cache, with its key if the cache has many.
        public let path: String
        /// What is wrong with it.
        public let reason: Reason

        /// `"gallery/drawing cannot be read: …"`
        public var description: String {
            switch reason {
            case .unreadable(let error): "\(path) cannot be read: \(error)"
            case .unstable(let count):
                "the bytes of \(path) differ from one time to the next (\(count)): write a Set or Dictionary in order"
            case .changed(let before, let after) where before == after: "\(path) has other bytes than before (\(after))"
            case .changed(let before, let after): "\(path) has other bytes than before: \(after), not \(before)"
            }
        }
    }

    /// The values, in the order of the tree.
    public let losses: [Loss]
    /// How many values were compared.
    public let compared: Int
}

extension LostValues: CustomStringConvertible {
    /// One line for each value.
    public var description: String {
        func isUnstable(_ loss: Loss) -> Bool { if case .unstable = loss.reason { true } else { false } }
        let (lost, unstable) = (losses.filter { !isUnstable($0) }, losses.filter(isUnstable))
        var lines: [String] = []
        if !lost.isEmpty { lines.append("\(lost.count) of \(compared) values lost:") }
        lines += lost.map { "  \($0)" }
        if !unstable.isEmpty { lines.append("\(unstable.count) of \(compared) values cannot be compared:") }
        lines += unstable.map { "  \($0)" }
        return lines.joined(separator: "\n")
    }
}
