/// How much memory a value takes, told from its type, its capacities and a sample of its parts: in time that does not
/// depend on how many there are, and without encoding anything.
struct FootprintEstimate {
    /// How far down the value it is: the further, the smaller the samples.
    private var depth = 0
    /// How many values were looked into.
    private(set) var parts = 0

    /// The bytes that `value` takes, in place and on the heap.
    static func bytes<Value>(of value: Value) -> Int {
        var estimate = FootprintEstimate()
        return MemoryLayout<Value>.size + estimate.heapBytes(of: value)
    }

    /// The heap bytes behind a value, not those in its own place.
    mutating func heapBytes<Part>(of value: Part) -> Int {
        // It is only asked what it takes.
        if let value = value as? any HeapSized { return value.heapBytes(&self) }
        guard depth < Self.mostDepth, parts < Self.mostParts else { return 0 }
        parts += 1
        depth += 1
        defer { depth -= 1 }
        var mirror: Mirror? = Mirror(reflecting: value)
        // Two words before the properties, of one or two words most of them.
        var bytes = mirror?.displayStyle == .class ? Self.block(16 + 12 * Int(mirror?.children.count ?? 0)) : 0
        while let part = mirror {
            for child in part.children { bytes += heapBytes(of: child.value) }
            mirror = part.superclassMirror
        }
        return bytes
    }

    /// The same for all elements, from a few of them.
    mutating func heapBytes<Elements: Collection>(ofElementsIn elements: Elements) -> Int {
        let count = elements.count
        guard count > 0, depth < Self.mostDepth, !_isPOD(Elements.Element.self) else { return 0 }
        let samples = min(count, Self.samples(at: depth))
        depth += 1
        defer { depth -= 1 }
        // Evenly over all of them, where that costs nothing; a hash table has them in no order anyway.
        let stride = elements is any RandomAccessCollection ? count / samples : 1
        var index = elements.startIndex
        var bytes = 0
        for sample in 0..<samples {
            bytes += heapBytes(of: elements[index])
            if sample + 1 < samples { elements.formIndex(&index, offsetBy: stride) }
        }
        return Int(Double(bytes) * Double(count) / Double(samples))
    }

    /// What the C library takes from the heap for a block of so many bytes: eight for itself, in steps of sixteen, and whole
    /// pages for one that is mapped (malloc(3), `M_MMAP_THRESHOLD`).
    static func block(_ byteCount: Int) -> Int {
        byteCount >= 128 << 10 ? (byteCount + 16 + 4095) & ~4095 : max(32, (byteCount + 8 + 15) & ~15)
    }

    private static let mostDepth = 16
    /// A tree of objects has any number: some thousand take a millisecond.
    static let mostParts = 1_024

    private static func samples(at depth: Int) -> Int { depth == 0 ? 12 : depth < 3 ? 6 : 2 }
}

/// A type that says by itself what it has on the heap.
protocol HeapSized {
    /// The bytes on the heap, those of its parts included.
    func heapBytes(_ estimate: inout FootprintEstimate) -> Int
}

extension HeapSized where Self: BitwiseCopyable {
    func heapBytes(_ estimate: inout FootprintEstimate) -> Int { 0 }
}

extension Bool: HeapSized {}
extension Int: HeapSized {}
extension Int8: HeapSized {}
extension Int16: HeapSized {}
extension Int32: HeapSized {}
extension Int64: HeapSized {}
extension UInt: HeapSized {}
extension UInt8: HeapSized {}
extension UInt16: HeapSized {}
extension UInt32: HeapSized {}
extension UInt64: HeapSized {}
extension Float: HeapSized {}
extension Double: HeapSized {}

extension String: HeapSized {
    func heapBytes(_ estimate: inout FootprintEstimate) -> Int {
        // Up to fifteen bytes are in the string itself (Swift's docs/StringDesign: small strings).
        utf8.count <= 15 ? 0 : FootprintEstimate.block(32 + utf8.count + 1)
    }
}

extension Optional: HeapSized {
    func heapBytes(_ estimate: inout FootprintEstimate) -> Int { map { estimate.heapBytes(of: $0) } ?? 0 }
}

extension Array: HeapSized {
    func heapBytes(_ estimate: inout FootprintEstimate) -> Int {
        guard capacity > 0 else { return 0 }
        return FootprintEstimate.block(32 + capacity * MemoryLayout<Element>.stride)
            + estimate.heapBytes(ofElementsIn: self)
    }
}

extension Set: HeapSized {
    func heapBytes(_ estimate: inout FootprintEstimate) -> Int {
        tableBytes(capacity: capacity, MemoryLayout<Element>.stride) + estimate.heapBytes(ofElementsIn: self)
    }
}

extension Dictionary: HeapSized {
    func heapBytes(_ estimate: inout FootprintEstimate) -> Int {
        tableBytes(capacity: capacity, MemoryLayout<Key>.stride + MemoryLayout<Value>.stride)
            + estimate.heapBytes(ofElementsIn: keys) + estimate.heapBytes(ofElementsIn: values)
    }
}

/// A hash table of the standard library: a power of two of places, at most three quarters of which are taken, and a bit for
/// each.
private func tableBytes(capacity: Int, _ stride: Int) -> Int {
    guard capacity > 0 else { return 0 }
    let least = (capacity * 4 + 2) / 3
    let places = 1 << max(0, Int.bitWidth - (least - 1).leadingZeroBitCount)
    return FootprintEstimate.block(64 + max(8, places / 8) + places * stride)
}
