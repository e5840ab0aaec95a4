/// Why an item cannot be read.
enum ItemFailure: Error {
    /// The bytes are none that were written.
    case damaged
    /// It is something else.
    case mismatch(tag: UInt8)
    /// It is nil.
    case null
    /// It is an integer that the type has no room for, or not all digits of it.
    case unfit
}

/// Where an item is: at an offset, with its tag; or one of a packed array, without.
struct ItemPlace {
    var offset: Int
    var packed: PackedKind?
}

/// Items in bytes that may be any: what is not sound is told, and nothing is read past the end. A hostile length makes
/// nobody allocate more than the bytes there are can account for.
@safe
struct ItemReader {
    // Safe: every access is checked against the end, and the bytes outlive the decoding, which has the only readers.
    private let base: UnsafeRawPointer?
    let count: Int

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe base = bytes.baseAddress
        count = bytes.count
    }

    // MARK: Bytes

    func byte(at offset: Int) throws(ItemFailure) -> UInt8 {
        guard offset >= 0, offset < count, let base = unsafe base else { throw .damaged }
        return unsafe base.load(fromByteOffset: offset, as: UInt8.self)
    }

    /// Bytes that are there.
    func bytes(at offset: Int, count: Int) throws(ItemFailure) -> UnsafeRawBufferPointer {
        guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { throw .damaged }
        guard let base = unsafe base else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        return unsafe UnsafeRawBufferPointer(start: base + offset, count: count)
    }

    /// A number of up to eight bytes.
    func bits(at offset: Int, byteCount: Int) throws(ItemFailure) -> UInt64 {
        let bytes = try unsafe bytes(at: offset, count: byteCount)
        if byteCount == 8 { return unsafe UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) }
        var bits: UInt64 = 0
        for index in 0..<byteCount { bits |= unsafe UInt64(bytes[index]) << UInt64(8 * index) }
        return bits
    }

    /// A length, and where it ends.
    func length(at offset: Int) throws(ItemFailure) -> (length: Int, end: Int) {
        var (length, shift, place) = (0, 0, offset)
        while true {
            let byte = try byte(at: place)
            place += 1
            guard shift < 56 else { throw .damaged }
            length |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return (length, place) }
            shift += 7
        }
    }

    // MARK: Items

    /// Where an item ends. Time is linear in the containers that have no length, and their items.
    func skip(_ offset: Int) throws(ItemFailure) -> Int {
        var place = offset
        var open = 0
        repeat {
            let tag = try byte(at: place)
            place += 1
            switch tag {
            case ItemTag.null, ItemTag.no, ItemTag.yes, ItemTag.smallInteger...: break
            case ItemTag.float: place += 4
            case ItemTag.double: place += 8
            case ItemTag.string:
                let (length, start) = try length(at: place)
                guard length <= count - start else { throw .damaged }
                place = start + length
            case ItemTag.packed:
                let packed = try packed(at: place - 1)
                place = packed.start + packed.count * packed.kind.width
            case ItemTag.array, ItemTag.keyed:
                let length = Int(try bits(at: place, byteCount: 3))
                place += 3
                if length > 0 { place += length } else { open += 1 }
            case ItemTag.end:
                guard open > 0 else { throw .damaged }
                open -= 1
            case ItemTag.positive..<ItemTag.positive + 32: place += Int(tag & 0x0F) + 1
            case ItemTag.shortString...ItemTag.shortString + 31: place += Int(tag - ItemTag.shortString)
            default: throw .damaged
            }
            guard place <= count else { throw .damaged }
        } while open > 0
        return place
    }

    /// Where the first item of a container is.
    func open(_ offset: Int, _ wanted: UInt8) throws(ItemFailure) -> Int {
        let tag = try byte(at: offset)
        guard tag == wanted else { throw tag == ItemTag.null ? .null : .mismatch(tag: tag) }
        return offset + 4
    }

    /// What a packed array has.
    func packed(at offset: Int) throws(ItemFailure) -> (kind: PackedKind, start: Int, count: Int) {
        guard try byte(at: offset) == ItemTag.packed else { throw .mismatch(tag: try byte(at: offset)) }
        guard let kind = PackedKind(rawValue: try byte(at: offset + 1)) else { throw .damaged }
        let (number, start) = try length(at: offset + 2)
        guard number <= (count - start) / kind.width else { throw .damaged }
        return (kind, start, number)
    }

    func isNull(_ place: ItemPlace) throws(ItemFailure) -> Bool {
        guard place.packed == nil else { return false }
        return try byte(at: place.offset) == ItemTag.null
    }

    func bool(_ place: inout ItemPlace) throws(ItemFailure) -> Bool {
        let tag = try tag(place)
        guard tag == ItemTag.yes || tag == ItemTag.no else { throw mismatch(tag) }
        place.offset += 1
        return tag == ItemTag.yes
    }

    func integer<Number: FixedWidthInteger>(_ place: inout ItemPlace) throws(ItemFailure) -> Number {
        if let kind = place.packed { return try packedInteger(&place, kind) }
        let tag = try byte(at: place.offset)
        if tag >= ItemTag.smallInteger {
            place.offset += 1
            // Every type has room for that.
            return Number(truncatingIfNeeded: tag & 0x7F)
        }
        guard ItemTag.positive..<ItemTag.positive + 32 ~= tag else { throw mismatch(tag) }
        let byteCount = Int(tag & 0x0F) + 1
        let low = try bits(at: place.offset + 1, byteCount: min(8, byteCount))
        let high = byteCount > 8 ? try bits(at: place.offset + 9, byteCount: byteCount - 8) : 0
        place.offset += 1 + byteCount
        let isNegative = tag & ItemTag.negative != 0
        if high == 0 {
            guard let magnitude = Number(exactly: low), !isNegative || Number.isSigned else { throw .unfit }
            return isNegative ? ~magnitude : magnitude
        }
        let whole = UInt128(high) << 64 | UInt128(low)
        guard let magnitude = Number(exactly: whole), !isNegative || Number.isSigned else { throw .unfit }
        return isNegative ? ~magnitude : magnitude
    }

    private func packedInteger<Number: FixedWidthInteger>(
        _ place: inout ItemPlace,
        _ kind: PackedKind
    ) throws(ItemFailure) -> Number {
        guard kind != .float, kind != .double else { throw .mismatch(tag: ItemTag.double) }
        let bits = try bits(at: place.offset, byteCount: kind.width)
        place.offset += kind.width
        let spare = UInt64(64 - 8 * kind.width)
        let number =
            kind.isSigned ? Number(exactly: Int64(bitPattern: bits << spare) >> Int64(spare)) : Number(exactly: bits)
        guard let number else { throw .unfit }
        return number
    }

    func double(_ place: inout ItemPlace) throws(ItemFailure) -> Double {
        switch try kind(place) {
        case .double:
            let start = place.packed == nil ? place.offset + 1 : place.offset
            place.offset = start + 8
            return Double(bitPattern: try bits(at: start, byteCount: 8))
        case .float: return Double(try float(&place))
        default:
            // An integer that has become a floating-point number in a later version of the type.
            let number: Int64 = try integer(&place)
            guard let number = Double(exactly: number) else { throw .unfit }
            return number
        }
    }

    func float(_ place: inout ItemPlace) throws(ItemFailure) -> Float {
        if try kind(place) == .float {
            let start = place.packed == nil ? place.offset + 1 : place.offset
            place.offset = start + 4
            return Float(bitPattern: UInt32(truncatingIfNeeded: try bits(at: start, byteCount: 4)))
        }
        let double = try double(&place)
        guard double.isNaN || Float(exactly: double) != nil else { throw .unfit }
        return Float(double)
    }

    func string(_ place: inout ItemPlace) throws(ItemFailure) -> String {
        guard place.packed == nil else { throw .mismatch(tag: ItemTag.packed) }
        let (start, length) = try text(at: place.offset)
        let bytes = try unsafe bytes(at: start, count: length)
        // Not repaired: what is no text was not written.
        guard let text = unsafe String(validating: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self) else {
            throw .damaged
        }
        place.offset = start + length
        return text
    }

    /// Where the UTF-8 of a string is, and how much.
    private func text(at offset: Int) throws(ItemFailure) -> (start: Int, length: Int) {
        let tag = try byte(at: offset)
        if ItemTag.shortString...ItemTag.shortString + 31 ~= tag { return (offset + 1, Int(tag - ItemTag.shortString)) }
        guard tag == ItemTag.string else { throw mismatch(tag) }
        let (length, start) = try length(at: offset + 1)
        return (start, length)
    }

    /// Whether the key at `offset` is `name`, and where its item is.
    func isKey(_ name: String, at offset: Int) throws(ItemFailure) -> (matches: Bool, item: Int) {
        let tag = try byte(at: offset)
        guard ItemTag.shortString...ItemTag.shortString + 31 ~= tag || tag == ItemTag.string else {
            var place = ItemPlace(offset: offset)
            let number: Int64 = try integer(&place)
            return (String(number) == name, place.offset)
        }
        let (start, length) = try text(at: offset)
        let bytes = try unsafe bytes(at: start, count: length)
        return (unsafe name.utf8.elementsEqual(bytes), start + length)
    }

    /// What a number is; that of an integer for any other item.
    private func kind(_ place: ItemPlace) throws(ItemFailure) -> PackedKind {
        if let kind = place.packed { return kind }
        let tag = try byte(at: place.offset)
        return tag == ItemTag.double ? .double : tag == ItemTag.float ? .float : .int64
    }

    private func tag(_ place: ItemPlace) throws(ItemFailure) -> UInt8 {
        guard place.packed == nil else { throw .mismatch(tag: ItemTag.packed) }
        return try byte(at: place.offset)
    }

    private func mismatch(_ tag: UInt8) -> ItemFailure {
        switch tag {
        case ItemTag.null: .null
        case ItemTag.end: .damaged
        default: .mismatch(tag: tag)
        }
    }
}
