/// How much memory a value takes, told from its type, its capacities and a sample of its parts: in time that has a bound
/// however many there are, and without encoding anything.
struct FootprintEstimate {
    /// How far down the value it is: the further, the smaller the samples.
    private var depth = 0
    /// How many values were looked into.
    private(set) var parts = 0
    /// How many elements were looked at.
    private(set) var elements = 0
    /// Whether it is a sample of many that is being looked at: what is in one of them is not looked at more closely.
    private var isInSample = false

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
        let wasInSample = isInSample
        // What says by itself what it has is asked in no time.
        let isQuick = !wasInSample && Elements.Element.self is any HeapSized.Type
        var samples = min(count, isQuick ? Self.quickSamples : Self.samples(at: depth))
        depth += 1
        isInSample = wasInSample || samples < count
        defer { (depth, isInSample) = (depth - 1, wasInSample) }
        let before = parts
        var sample = look(at: samples, of: elements)
        var partsOfSample = parts - before
        // Few of them may have most of the bytes, as the commonest words of an index have.
        while !wasInSample, samples < count, !sample.isSteady || isQuick && !sample.isEven {
            // Where they are asked in no time all are: what makes the difference may be one of them.
            let room = Self.mostElements - self.elements
            let more = isQuick && count <= room ? count : min(count, (isQuick ? 64 : 8) * samples, room / 2)
            guard more > samples else { break }
            partsOfSample = partsOfSample * more / samples
            samples = more
            // What comes after these has to be looked into as well.
            guard parts + partsOfSample <= Self.mostParts / 2 else { break }
            sample = look(at: samples, of: elements)
        }
        return Int(sample.mean * Double(count))
    }

    /// Looks at so many elements, and at each as often as at any other.
    private mutating func look<Elements: Collection>(at samples: Int, of elements: Elements) -> Sample {
        // One from each of so many parts, where going there costs nothing, and not always the first of it: what differs may be
        // every tenth. A hash table has them in no order anyway.
        let isEven = elements is any RandomAccessCollection
        let count = elements.count
        var index = elements.startIndex
        var sample = Sample()
        var place = 0
        for number in 0..<samples {
            let next = isEven ? count * number / samples + number * 2_654_435_761 % (count / samples) : number
            elements.formIndex(&index, offsetBy: next - place)
            place = next
            self.elements += 1
            sample.add(heapBytes(of: elements[index]))
        }
        return sample
    }

    /// What some elements have on the heap.
    private struct Sample {
        private var count = 0.0
        private var sum = 0.0
        private var squares = 0.0

        mutating func add(_ bytes: Int) {
            count += 1
            sum += Double(bytes)
            squares += Double(bytes) * Double(bytes)
        }

        var mean: Double { sum / count }

        /// Whether they differ little. Where they differ much, what has most may be missing among them without a trace.
        var isEven: Bool { max(0, squares / count - mean * mean) <= mean * mean / 4 }

        /// Whether the mean of all is likely to be within a fifth of the mean of these: two standard errors.
        var isSteady: Bool {
            let variance = max(0, squares / count - mean * mean)
            return 4 * variance <= 0.04 * mean * mean * count
        }
    }

    /// What the C library takes from the heap for a block of so many bytes: eight for itself, in steps of sixteen, and whole
    /// pages for one that is mapped (malloc(3), `M_MMAP_THRESHOLD`).
    static func block(_ byteCount: Int) -> Int {
        byteCount >= 128 << 10 ? (byteCount + 16 + 4095) & ~4095 : max(32, (byteCount + 8 + 15) & ~15)
    }

    /// The same of a block that is filled from its beginning, of which the system gives pages as they are written to: an array
    /// that has been appended to has room for up to as many elements again.
    static func block(_ byteCount: Int, filled: Int) -> Int {
        byteCount >= 128 << 10 ? min(block(byteCount), (filled + 16 + 4095) & ~4095) : block(byteCount)
    }

    private static let mostDepth = 16
    /// A tree of objects has any number: some thousand take a millisecond.
    static let mostParts = 1_024
    /// What is looked at in tables whose entries differ much, as the lists of an index do: in some ten milliseconds.
    static let mostElements = 65_536

    private static let quickSamples = 96

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
extension Int128: HeapSized {}
extension UInt128: HeapSized {}
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
        let stride = MemoryLayout<Element>.stride
        return FootprintEstimate.block(32 + capacity * stride, filled: 32 + count * stride)
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
