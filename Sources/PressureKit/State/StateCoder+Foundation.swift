#if Foundation
import FoundationEssentials

extension StateCoder {
    /// Saves any `Codable` value, as JSON.
    ///
    /// - Throws: `EncodingError`.
    public mutating func encodeObject(_ value: some Encodable, forKey key: String) throws {
        encode([UInt8](try JSONEncoder().encode([value])), forKey: key)
    }

    /// The `Codable` value that was saved; `nil` when there is none.
    ///
    /// - Throws: `DecodingError` when there is one of another type.
    public func decodeObject<Value: Decodable>(_ type: Value.Type, forKey key: String) throws -> Value? {
        guard let bytes = decode([UInt8].self, forKey: key) else { return nil }
        return try JSONDecoder().decode([Value].self, from: Data(bytes)).first
    }
}
#endif
