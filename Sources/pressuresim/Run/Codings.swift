import PressureKit

/// What lives leave each other holds these.
extension PressureLevel: Codable {}

extension ByteCount: Codable {
    package init(from decoder: any Decoder) throws {
        self.init(bytes: try decoder.singleValueContainer().decode(Int.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}
