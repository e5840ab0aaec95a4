import Foundation

/// One of everything that `Codable` knows.
struct EveryKind: Codable, Equatable, Sendable {
    enum Shape: Codable, Equatable, Sendable {
        case empty
        case circle(radius: Double)
        indirect case pair(Shape, Shape)
    }

    enum Suit: String, Codable, CodingKeyRepresentable, Comparable {
        case hearts, spades
        static func < (left: Suit, right: Suit) -> Bool { left.rawValue < right.rawValue }
    }

    struct Point: Codable, Hashable, Sendable { var x: Int, y: Int }

    struct Empty: Codable, Equatable, Sendable {}

    var integers: [Int] = [0, 1, -1, 127, 128, 255, 256, -128, -129, 65_535, 1 << 40, .max, .min]
    var small: [Int8] = [.min, -1, 0, .max]
    var words: [Int16] = [.min, .max]
    var thirds: [Int32] = [.min, .max]
    var bytes: [UInt8] = [0, 255]
    var unsigned: [UInt64] = [0, .max]
    var int = Int.min
    var byte = UInt8.max
    var short = Int16(-300)
    var long = UInt64.max
    var wide = Int128.min
    var wideUnsigned = UInt128.max
    var wides: [Int128] = [.min, -1, 0, 127, 128, 1 << 64, -(1 << 64), .max]
    var widesUnsigned: [UInt128] = [0, 1 << 64, .max]
    var maybeWide: [Int128?] = [nil, 1 << 100]
    var byWide: [Int128: UInt128] = [1 << 70: 1, -1: .max]
    var flag = true
    var flags = [true, false]
    var float = Float.pi
    var double = -0.0
    var doubles = [Double.infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude]
    var floats: [Float] = [.infinity, 0.1]
    var text = "Grüße, 東京 👩‍👩‍👧 \0"
    var longText = String(repeating: "länger ", count: 100)
    var texts = ["", "a", String(repeating: "b", count: 31), String(repeating: "c", count: 32)]
    var nothing: Int?
    var something: Int? = 3
    var maybe: [String?] = ["a", nil, "b"]
    var data = Data([1, 2, 3])
    var noData = Data()
    var date = Date(timeIntervalSinceReferenceDate: 1.0 / 3)
    var url = URL(string: "file:///a%20b/c?d=e#f")!
    var decimal = Decimal(string: "3.14159265358979323846264338327950288")!
    var uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
    var shapes: [Shape] = [.empty, .circle(radius: 2), .pair(.empty, .pair(.circle(radius: 1), .empty))]
    var suit = Suit.spades
    var byName = ["b": 1, "a": 2, "": 3]
    var byNumber = [3: "c", -1: "x", 1 << 40: "y"]
    var bySuit: [Suit: Int] = [.hearts: 1, .spades: 2]
    var byPoint = [Point(x: 1, y: 2): "p", Point(x: 0, y: 0): "o"]
    var names: Set = ["x", "y", "z"]
    var numbers: Set = [5, -5, 500_000]
    var points: Set = [Point(x: 1, y: 1), Point(x: 2, y: 2)]
    var empties = [Empty(), Empty()]
    var nested: [[[Int]]] = [[[1], []], []]
    var range = 3..<7
    var deep: [String: [String: [Point?]]] = ["a": ["b": [nil, Point(x: 9, y: 9)]]]
}

/// A type that asks for containers by name, and fills them in turns.
struct ByHand: Codable, Equatable {
    var a: [Int]
    var b: [String: Int]
    var inner: Inner
    var base: Int

    struct Inner: Codable, Equatable { var text: String }
    enum Key: String, CodingKey { case a, b, inner, list }
    enum Name: String, CodingKey { case first, second }

    func encode(to encoder: any Encoder) throws {
        var whole = encoder.container(keyedBy: Key.self)
        var list = whole.nestedUnkeyedContainer(forKey: .a)
        var names = whole.nestedContainer(keyedBy: Name.self, forKey: .b)
        for number in a {
            try list.encode(number)
            // In between: neither is at its end.
            if number == a.first { try names.encode(b["first"]!, forKey: .first) }
        }
        try names.encode(b["second"]!, forKey: .second)
        try whole.encode(inner, forKey: .inner)
        try base.encode(to: whole.superEncoder())
        var mixed = whole.nestedUnkeyedContainer(forKey: .list)
        try mixed.encode(1)
        var part = mixed.nestedUnkeyedContainer()
        try mixed.encode("two")
        try part.encode(0.5)
        try "three".encode(to: mixed.superEncoder())
        try mixed.encodeNil()
    }

    init(a: [Int], b: [String: Int], inner: Inner, base: Int) {
        (self.a, self.b, self.inner, self.base) = (a, b, inner, base)
    }

    init(from decoder: any Decoder) throws {
        let whole = try decoder.container(keyedBy: Key.self)
        // In another order than they were written in.
        var mixed = try whole.nestedUnkeyedContainer(forKey: .list)
        guard mixed.count == 5, try mixed.decode(Int.self) == 1 else { throw Mixed() }
        var part = try mixed.nestedUnkeyedContainer()
        guard try part.decode(Double.self) == 0.5, part.isAtEnd else { throw Mixed() }
        guard try mixed.decode(String.self) == "two" else { throw Mixed() }
        guard try String(from: mixed.superDecoder()) == "three" else { throw Mixed() }
        guard try mixed.decodeNil(), mixed.isAtEnd, mixed.currentIndex == 5 else { throw Mixed() }
        base = try Int(from: whole.superDecoder())
        let names = try whole.nestedContainer(keyedBy: Name.self, forKey: .b)
        guard names.allKeys == [.first, .second] else { throw Mixed() }
        b = [
            "second": try names.decode(Int.self, forKey: .second), "first": try names.decode(Int.self, forKey: .first),
        ]
        inner = try whole.decode(Inner.self, forKey: .inner)
        var list = try whole.nestedUnkeyedContainer(forKey: .a)
        a = []
        while !list.isAtEnd { a.append(try list.decode(Int.self)) }
    }

    struct Mixed: Error {}
}
