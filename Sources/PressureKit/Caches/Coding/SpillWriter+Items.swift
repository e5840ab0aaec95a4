/// Writing items.
extension SpillWriter {
    /// Writes an integer.
    @inline(__always)
    func writeItem<Number: FixedWidthInteger>(_ number: Number) throws {
        if number >= 0, number < 128 {
            return try write(byte: ItemTag.smallInteger | UInt8(truncatingIfNeeded: number))
        }
        try writeLong(number)
    }

    private func writeLong<Number: FixedWidthInteger>(_ number: Number) throws {
        let tag = number < 0 ? ItemTag.negative : ItemTag.positive
        let magnitude = number < 0 ? ~number : number
        let bitCount = Number.bitWidth - magnitude.leadingZeroBitCount
        let byteCount = max(1, (bitCount + 7) / 8)
        try write(byte: tag | UInt8(byteCount - 1))
        try write(UInt64(truncatingIfNeeded: magnitude), byteCount: min(8, byteCount))
        if byteCount > 8 {
            try write(UInt64(truncatingIfNeeded: magnitude >> 64), byteCount: byteCount - 8)
        }
    }

    func writeItem(_ number: Double) throws {
        try write(byte: ItemTag.double)
        try write(number.bitPattern, byteCount: 8)
    }

    func writeItem(_ number: Float) throws {
        try write(byte: ItemTag.float)
        try write(UInt64(number.bitPattern), byteCount: 4)
    }

    func writeItem(_ flag: Bool) throws { try write(byte: flag ? ItemTag.yes : ItemTag.no) }

    func writeItem(_ text: String) throws {
        var text = text
        try text.withUTF8 { bytes in
            if bytes.count <= ItemTag.shortStringLimit {
                try write(byte: ItemTag.shortString | UInt8(bytes.count))
            } else {
                try write(byte: ItemTag.string)
                try writeLength(bytes.count)
            }
            // Read before it returns.
            try unsafe write(UnsafeRawBufferPointer(bytes))
        }
    }

    func writeNull() throws { try write(byte: ItemTag.null) }

    /// Begins a container, and returns where its length is to go.
    func beginContainer(_ tag: UInt8) throws -> Int {
        try write(byte: tag)
        let place = byteCount
        try write(0, byteCount: 3)
        return place
    }

    /// Ends the container whose length goes to `place`.
    func endContainer(_ place: Int) throws {
        try write(byte: ItemTag.end)
        let length = byteCount - place - 3
        if length < 1 << 24 { patch(UInt32(length), at: place) }
    }

    /// Writes a length, seven bits a byte.
    func writeLength(_ length: Int) throws {
        var rest = length
        while rest >= 128 {
            try write(byte: UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        try write(byte: UInt8(truncatingIfNeeded: rest))
    }

    /// Writes integers behind each other, in the width that the longest of them needs.
    func writePacked<Number: FixedWidthInteger>(_ numbers: some Collection<Number>) throws {
        var (least, most) = (Number.zero, Number.zero)
        for number in numbers {
            if number < least { least = number }
            if number > most { most = number }
        }
        let kind = PackedKind.narrowest(from: least, to: most)
        let width = kind.width
        try beginPacked(kind, count: numbers.count)
        for number in numbers { try write(UInt64(truncatingIfNeeded: number), byteCount: width) }
    }

    /// Begins a packed array; its numbers follow.
    func beginPacked(_ kind: PackedKind, count: Int) throws {
        try write(byte: ItemTag.packed)
        try write(byte: kind.rawValue)
        try writeLength(count)
    }
}
