/// A quantity of memory or storage, in bytes.
///
/// Carries its unit so that a limit is never mistaken for a count of pages or kibibytes:
///
/// ```swift
/// let limit: ByteCount = .mebibytes(512)
/// ```
public struct ByteCount: Hashable, Comparable, Sendable {
    /// The number of bytes. May be negative for a difference.
    public var bytes: Int

    /// Creates a quantity from a number of bytes.
    @inlinable public init(bytes: Int) { self.bytes = bytes }

    /// No bytes.
    public static let zero = ByteCount(bytes: 0)

    /// A number of bytes.
    public static func bytes(_ count: Int) -> ByteCount { ByteCount(bytes: count) }

    /// A number of kibibytes (1,024 bytes each).
    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(bytes: count << 10) }

    /// A number of mebibytes (1,024 kibibytes each).
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(bytes: count << 20) }

    /// A number of gibibytes (1,024 mebibytes each).
    public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(bytes: count << 30) }

    /// Whether `left` is fewer bytes.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

    /// The sum of two quantities.
    public static func + (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(bytes: left.bytes + right.bytes) }

    /// The difference of two quantities.
    public static func - (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(bytes: left.bytes - right.bytes) }

    /// Adds a quantity in place.
    public static func += (left: inout ByteCount, right: ByteCount) { left.bytes += right.bytes }

    /// Subtracts a quantity in place.
    public static func -= (left: inout ByteCount, right: ByteCount) { left.bytes -= right.bytes }
}

extension ByteCount: CustomStringConvertible {
    /// The quantity in the largest binary unit that keeps at least one whole digit: `"512 B"`, `"1.5 MiB"`.
    public var description: String {
        let magnitude = Double(bytes.magnitude)
        var value = magnitude
        var unit = 0
        while value >= 1024, unit < Self.units.count - 1 {
            value /= 1024
            unit += 1
        }
        let sign = bytes < 0 ? "-" : ""
        guard unit > 0 else { return "\(sign)\(bytes.magnitude) B" }
        let tenths = Int((value * 10).rounded())
        return "\(sign)\(tenths / 10).\(tenths % 10) \(Self.units[unit])"
    }

    private static let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
}
