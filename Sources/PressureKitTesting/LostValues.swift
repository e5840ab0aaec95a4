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
        }

        /// Where the value is: the path of its cache, with its key if the cache has many.
        public let path: String
        /// What is wrong with it.
        public let reason: Reason

        /// `"gallery/drawing cannot be read: …"`
        public var description: String {
            switch reason {
            case .unreadable(let error): "\(path) cannot be read: \(error)"
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
        "\(losses.count) of \(compared) values lost:" + losses.map { "\n  \($0)" }.joined()
    }
}
