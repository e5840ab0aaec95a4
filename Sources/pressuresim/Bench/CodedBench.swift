import PressureKit

/// Changes of a value that is encoded when it is spilled, and of one that is `Spillable` by hand.
struct CodedBench {
    let plan: BenchPlan
    let directory: String

    private static let updates = 1_000

    func run() throws -> [BenchResult] {
        let manager = try BenchManager.make(directory: directory)
        let byHand = try manager.root.cache("by hand", initialValue: NotesByHand())
        let coded = try manager.root.cache("coded", initialValue: Coded([BenchNote]()))
        let (limit, ours) = try BenchTiming.medians(plan.rounds) {
            try byHand.set(NotesByHand())
            return try time { number in try byHand.update { $0.append(BenchNote(number: number)) } }
        } ours: {
            try coded.set(Coded([]))
            return try time { number in try coded.update { $0.value.append(BenchNote(number: number)) } }
        }
        return [BenchResult(.codedUpdate, value: ours, limit: limit)]
    }

    /// The seconds of one of many changes.
    private func time(_ change: (Int) throws -> Void) rethrows -> Double {
        let seconds = try BenchTiming.seconds {
            for number in 0..<Self.updates { try change(number) }
        }
        return seconds / Double(Self.updates)
    }
}

/// A note to something, as an app may have it.
private struct BenchNote: Codable, Sendable {
    var author: String
    var text: String
    var position: Int

    init(number: Int) {
        author = "author"
        text = "An annotation that is \(number) in number."
        position = number
    }

    init(author: String, text: String, position: Int) {
        (self.author, self.text, self.position) = (author, text, position)
    }

    var byteCount: Int { author.utf8.count + text.utf8.count + 2 + 8 }
}

/// Notes that know their numbers, and write themselves.
private struct NotesByHand: Spillable {
    private var notes: [BenchNote] = []
    private(set) var spillByteCount = 0

    var footprint: Int { spillByteCount + notes.capacity * MemoryLayout<BenchNote>.stride + notes.count * 48 }

    init() {}

    mutating func append(_ note: BenchNote) {
        notes.append(note)
        spillByteCount += note.byteCount
    }

    func withSpillBytes(_ body: (RawSpan) -> Void) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(spillByteCount)
        for note in notes {
            bytes += note.author.utf8
            bytes.append(0)
            bytes += note.text.utf8
            bytes.append(0)
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: note.position >> (8 * shift))) }
        }
        // The array outlives the call.
        unsafe body(bytes.span.bytes)
    }

    init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        let bytes = unsafe try [UInt8](spillByteCount: spillByteCount, restoringWith: fill)
        var rest = bytes[...]
        func text() -> String {
            let text = String(decoding: rest.prefix { $0 != 0 }, as: UTF8.self)
            rest = rest.dropFirst(text.utf8.count + 1)
            return text
        }
        while !rest.isEmpty {
            let (author, text) = (text(), text())
            let position = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(8)
            append(BenchNote(author: author, text: text, position: position))
        }
    }
}
