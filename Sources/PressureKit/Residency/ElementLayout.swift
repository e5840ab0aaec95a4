/// How the elements of an array lie in memory. What was written as it lay there can only be read where it lies the same
/// way; a type that has changed is spelled as before.
struct ElementLayout: Hashable, Sendable {
    var size: UInt32
    var stride: UInt32
    var alignment: UInt32

    init(size: UInt32, stride: UInt32, alignment: UInt32) {
        (self.size, self.stride, self.alignment) = (size, stride, alignment)
    }

    init<Element>(of type: Element.Type) {
        size = UInt32(clamping: MemoryLayout<Element>.size)
        stride = UInt32(clamping: MemoryLayout<Element>.stride)
        alignment = UInt32(clamping: MemoryLayout<Element>.alignment)
    }

    /// That of the elements of a type of values; `nil` where the bytes are not elements as they lie in memory.
    init?(ofElementsIn type: Any.Type) {
        guard let type = type as? any LaidOut.Type else { return nil }
        self = type.elementLayout
    }

    /// Whether so many bytes are whole elements.
    func divides(_ byteCount: UInt64) -> Bool { stride > 0 && byteCount % UInt64(stride) == 0 }
}

/// A value whose bytes are the memory of its elements.
protocol LaidOut {
    /// How they lie there.
    static var elementLayout: ElementLayout { get }
}

extension Array: LaidOut where Element: SpillableElement {
    static var elementLayout: ElementLayout { ElementLayout(of: Element.self) }
}
