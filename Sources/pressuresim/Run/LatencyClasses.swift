import PressureKit

/// Durations by the size of the value that they are about, in classes that are a factor of 16 apart.
struct LatencyClasses: Sendable {
    /// Values of more than the class before holds, and of no more than this one does.
    struct Class: Sendable {
        /// The most bytes of a value in it; `nil` for the last, which holds all that are larger.
        var upTo: ByteCount?
        var latencies: Latencies

        /// Such as `≤ 64 KiB`.
        var title: String {
            upTo.map { "≤ \($0)" } ?? "> \(LatencyClasses.bounds[LatencyClasses.bounds.count - 1])"
        }
    }

    /// The most bytes of each class but the last.
    static let bounds: [ByteCount] = [.kibibytes(4), .kibibytes(64), .mebibytes(1), .mebibytes(16), .mebibytes(256)]

    private var latencies: [Latencies?]

    init() { latencies = Array(repeating: nil, count: Self.bounds.count + 1) }

    /// Those in which something was recorded, by size.
    var classes: [Class] {
        latencies.enumerated().compactMap { index, latencies in
            latencies.map { Class(upTo: index < Self.bounds.count ? Self.bounds[index] : nil, latencies: $0) }
        }
    }

    /// All durations, of values of any size.
    var total: Latencies {
        latencies.compactMap(\.self).reduce(into: Latencies()) { $0.add($1) }
    }

    /// Records `times` durations of values of so many bytes.
    mutating func record(nanoseconds: Int64, byteCount: Int, times: Int = 1) {
        let index = Self.bounds.firstIndex { byteCount <= $0.bytes } ?? Self.bounds.count
        for _ in 0..<times { latencies[index, default: Latencies()].record(nanoseconds: nanoseconds) }
    }

    /// Adds what another one recorded.
    mutating func add(_ other: LatencyClasses) {
        for (index, more) in other.latencies.enumerated() {
            if let more { latencies[index, default: Latencies()].add(more) }
        }
    }
}

extension [Latencies?] {
    /// The element, made first if there is none.
    fileprivate subscript(index: Int, default make: @autoclosure () -> Latencies) -> Latencies {
        get { self[index] ?? make() }
        set { self[index] = newValue }
    }
}
