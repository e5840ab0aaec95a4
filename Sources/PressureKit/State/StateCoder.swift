/// What a controller saves of itself, by key: small values that say where it was, not the data it showed.
///
/// ```swift
/// func encodeRestorableState(into coder: inout StateCoder) { coder.encode(page, forKey: "page") }
/// func decodeRestorableState(from coder: StateCoder) { page = coder.decode(Int.self, forKey: "page") ?? 0 }
/// ```
public struct StateCoder: Sendable, Hashable {
    /// What can be under a key.
    enum Item: Hashable, Sendable {
        case bool(Bool)
        case int(Int64)
        case double(UInt64)
        case string(String)
        case bytes([UInt8])
    }

    var items: [String: Item] = [:]

    init() {}

    /// The keys that something was encoded under.
    public var keys: Set<String> { Set(items.keys) }

    /// Saves a truth value; `nil` forgets what was under the key.
    public mutating func encode(_ value: Bool?, forKey key: String) { items[key] = value.map(Item.bool) }

    /// Saves a number.
    public mutating func encode(_ value: Int?, forKey key: String) { items[key] = value.map { .int(Int64($0)) } }

    /// Saves a floating-point number, bit by bit.
    public mutating func encode(_ value: Double?, forKey key: String) {
        items[key] = value.map { .double($0.bitPattern) }
    }

    /// Saves a string.
    public mutating func encode(_ value: String?, forKey key: String) { items[key] = value.map(Item.string) }

    /// Saves bytes.
    public mutating func encode(_ value: [UInt8]?, forKey key: String) { items[key] = value.map(Item.bytes) }

    /// The truth value that was saved; `nil` when there is none.
    public func decode(_ type: Bool.Type, forKey key: String) -> Bool? {
        if case .bool(let value) = items[key] { value } else { nil }
    }

    /// The number that was saved; `nil` when there is none.
    public func decode(_ type: Int.Type, forKey key: String) -> Int? {
        if case .int(let value) = items[key] { Int(value) } else { nil }
    }

    /// The floating-point number that was saved; `nil` when there is none.
    public func decode(_ type: Double.Type, forKey key: String) -> Double? {
        if case .double(let bits) = items[key] { Double(bitPattern: bits) } else { nil }
    }

    /// The string that was saved; `nil` when there is none.
    public func decode(_ type: String.Type, forKey key: String) -> String? {
        if case .string(let value) = items[key] { value } else { nil }
    }

    /// The bytes that were saved; `nil` when there are none.
    public func decode(_ type: [UInt8].Type, forKey key: String) -> [UInt8]? {
        if case .bytes(let value) = items[key] { value } else { nil }
    }
}
