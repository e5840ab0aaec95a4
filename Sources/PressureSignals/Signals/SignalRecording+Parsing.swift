import PressureSystem

extension SignalRecording {
    /// Why a text is no recording.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The line, from 1.
        package var line: Int
        /// What is wrong there, and what is allowed.
        package var message: String

        /// `"line 3: …"`
        package var description: String { "line \(line): \(message)" }
    }

    /// Reads a whole recording. Pure; any bytes are safe, and no more memory is taken than the text deserves.
    ///
    /// - Parameter mostLines: ``SignalRecording/mostLines``, or fewer for tests.
    /// - Throws: ``Fault`` with the first line that is wrong.
    package init(parsing text: [UInt8], mostLines: Int = Self.mostLines) throws(Fault) {
        var parser = Parser()
        var number = 0
        var start = 0
        guard text.count <= Self.mostBytes else {
            throw Fault(line: 1, message: "a recording has at most \(Self.mostBytes >> 20) MiB")
        }
        while start < text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            number += 1
            do throws(Parser.Refusal) {
                guard number <= mostLines else { throw .init("there are more than \(mostLines) lines") }
                try parser.take(text[start..<end].withoutEditorsMarks(isFirst: number == 1), number: number)
            } catch {
                throw Fault(line: number, message: error.message)
            }
            start = end + 1
        }
        guard number > 0 else { throw Fault(line: 1, message: "a recording begins with \"\(Self.header)\"") }
        self = parser.recording
    }

    /// The lines so far.
    fileprivate struct Parser {
        struct Refusal: Error {
            var message: String

            init(_ message: String) { self.message = message }
        }

        var recording = SignalRecording()
        private var slots: [Int: (origin: PressureCause.Origin, source: String)] = [:]

        mutating func take(_ line: ArraySlice<UInt8>, number: Int) throws(Refusal) {
            guard line.count <= SignalRecording.longestLine else {
                throw Refusal("the line has more than \(SignalRecording.longestLine) bytes")
            }
            let text = String(decoding: line, as: UTF8.self)
            if number == 1 {
                guard text == SignalRecording.header else {
                    throw Refusal("a recording begins with \"\(SignalRecording.header)\"")
                }
                return
            }
            let fields = text.split(separator: " ")
            guard let word = fields.first, !word.hasPrefix("#") else { return }
            switch word {
            case "slot": try slot(fields)
            case "sample": try sample(fields)
            case "reclaim": try reclaim(fields)
            case "freed": try freed(fields)
            default: throw Refusal("\"\(word)\" is no event; use slot, sample, reclaim, freed or #")
            }
        }

        private mutating func slot(_ fields: [Substring]) throws(Refusal) {
            guard fields.count == 4, let place = Int(fields[1]), 0..<SignalRecording.mostPlaces ~= place else {
                throw Refusal("use: slot NUMBER ORIGIN SOURCE, with a number below \(SignalRecording.mostPlaces)")
            }
            guard let origin = PressureCause.Origin(rawValue: String(fields[2])) else {
                let known = PressureCause.Origin.allCases.map(\.rawValue).joined(separator: ", ")
                throw Refusal("\"\(fields[2])\" is no origin; use one of \(known)")
            }
            slots[place] = (origin, OctalEscapes.decoded(fields[3].utf8))
            recording.places = max(recording.places, place + 1)
        }

        private mutating func sample(_ fields: [Substring]) throws(Refusal) {
            guard fields.count >= 2 else { throw Refusal("use: sample TIME PLACE=READING …") }
            let at = try time(fields[1])
            var placed: [Placed] = []
            for field in fields.dropFirst(2) {
                guard let equals = field.firstIndex(of: "="), let place = Int(field[..<equals]), let slot = slots[place]
                else { throw Refusal("\"\(field)\" is no reading of a place that a slot line has named") }
                guard !placed.contains(where: { $0.place == place }) else {
                    throw Refusal("place \(place) has two readings in one sample")
                }
                let reading = try SignalReading(
                    parsing: field[field.index(after: equals)...],
                    origin: slot.origin,
                    source: slot.source,
                    at: at
                )
                placed.append(Placed(place: place, reading: reading))
            }
            recording.events.append(.sample(at: at, placed))
        }

        private mutating func reclaim(_ fields: [Substring]) throws(Refusal) {
            guard fields.count == 5, let level = PressureLevel(parsing: fields[2]), let duration = Int64(fields[3]),
                let returned = Int(fields[4]), duration >= 0, returned >= 0
            else { throw Refusal("use: reclaim TIME normal|warning|critical DURATION RETURNED") }
            let at = try time(fields[1])
            recording.events.append(
                .reclaim(level, duration: .nanoseconds(duration), returned: .bytes(returned), at: at)
            )
        }

        private mutating func freed(_ fields: [Substring]) throws(Refusal) {
            guard fields.count == 3, let bytes = Int(fields[2]), bytes >= 0 else {
                throw Refusal("use: freed TIME BYTES")
            }
            recording.events.append(.freed(.bytes(bytes), at: try time(fields[1])))
        }

        /// A time not before the last one.
        private func time(_ field: Substring) throws(Refusal) -> MonotonicInstant {
            guard let nanoseconds = Int64(field), 0...(1 << 60) ~= nanoseconds else {
                throw Refusal("\"\(field)\" is no time in nanoseconds")
            }
            let time = MonotonicInstant(nanoseconds: nanoseconds)
            guard recording.events.last.map({ $0.at <= time }) ?? true else {
                throw Refusal("the time goes back to \(nanoseconds)")
            }
            return time
        }
    }
}

extension ArraySlice<UInt8> {
    /// Without what some editors and transfers put around a line: a byte order mark, a carriage return.
    fileprivate func withoutEditorsMarks(isFirst: Bool) -> Self {
        var line = self
        if isFirst, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}

extension PressureLevel {
    /// The level of this name.
    init?(parsing name: Substring) {
        guard let level = PressureLevel.allCases.first(where: { $0.description == name }) else { return nil }
        self = level
    }
}

extension SignalReading {
    /// `headroom:1/2:watched` and the like.
    fileprivate init(
        parsing text: Substring,
        origin: PressureCause.Origin,
        source: String,
        at: MonotonicInstant
    ) throws(SignalRecording.Parser.Refusal) {
        var fields = text.split(separator: ":", omittingEmptySubsequences: false)
        var flags = (watched: false, armed: false, rang: false, early: false)
        var age: Int64 = 0
        while let last = fields.last, fields.count > 1 {
            if last == "watched" {
                flags.watched = true
            } else if last == "armed" {
                flags.armed = true
            } else if last == "rang" {
                flags.rang = true
            } else if last == "early" {
                flags.early = true
            } else if last.hasPrefix("age="), let value = Int64(last.dropFirst(4)), 0...(1 << 60) ~= value {
                age = value
            } else {
                break
            }
            fields.removeLast()
        }
        guard var measure = Measure(fields) else {
            throw .init(
                "\"\(text)\" is no reading; use headroom:A/L (A at most L), demand:LEVEL[:BYTES], stall:SCOPE:S/F:A/A or events:H/M/O/K"
            )
        }
        if case .stall(var stall) = measure {
            (stall.isArmed, stall.hasFired, stall.hasFiredEarly) = (flags.armed, flags.rang, flags.early)
            measure = .stall(stall)
        }
        self.init(
            origin: origin,
            source: source,
            measure: measure,
            takenAt: MonotonicInstant(nanoseconds: at.nanoseconds - age),
            isWatched: flags.watched
        )
    }
}

extension SignalReading.Measure {
    fileprivate init?(_ fields: [Substring]) {
        switch (fields.first, fields.count) {
        case ("headroom", 2):
            guard let numbers = fields[1].numbers(2) ?? fields[1].numbers(3) ?? fields[1].numbers(4),
                let headroom = Headroom(numbers)
            else { return nil }
            self = .headroom(headroom)
        case ("demand", 2), ("demand", 3):
            guard let level = PressureLevel(parsing: fields[1]) else { return nil }
            let bytes = fields.count > 2 ? fields[2].numbers(1)?[0] : nil
            guard fields.count == 2 || bytes != nil else { return nil }
            self = .demand(level, freeing: bytes.map(ByteCount.init))
        case ("stall", 4):
            guard let scope = StallReading.Scope(rawValue: String(fields[1])),
                let totals = StallTotals(fields[2], averages: fields[3])
            else { return nil }
            self = .stall(StallReading(totals: totals, scope: scope, isArmed: false, hasFired: false))
        case ("events", 2):
            guard let numbers = fields[1].numbers(4) else { return nil }
            self = .events(EventCounters(high: numbers[0], max: numbers[1], oom: numbers[2], oomKill: numbers[3]))
        default: return nil
        }
    }
}

extension Headroom {
    fileprivate init?(_ numbers: [Int]) {
        guard numbers[0] <= numbers[1] else { return nil }
        self.init(
            available: .bytes(numbers[0]),
            limit: .bytes(numbers[1]),
            unwritten: .bytes(numbers.count > 2 ? numbers[2] : 0),
            kept: .bytes(numbers.count > 3 ? numbers[3] : 0)
        )
    }
}

extension StallTotals {
    fileprivate init?(_ totals: Substring, averages: Substring) {
        let parts = totals.split(separator: "/", omittingEmptySubsequences: false)
        let means = averages.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, means.count == 2, let some = parts[0].numbers(1)?[0],
            let someAverage = means[0].hundredths, let fullAverage = means[1].hundredths
        else { return nil }
        let full = parts[1].numbers(1)?[0]
        guard full != nil || parts[1] == "-" else { return nil }
        self.init(some: some, full: full, someAverage: someAverage, fullAverage: fullAverage)
    }
}

extension Substring {
    /// So many numbers between slashes, none of them negative, each below 2⁶⁰.
    fileprivate func numbers(_ count: Int) -> [Int]? {
        let parts = split(separator: "/", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }.filter { 0..<(1 << 60) ~= $0 }
        return parts.count == count && numbers.count == count ? numbers : nil
    }

    /// `"12.34"` as 1234.
    fileprivate var hundredths: Int? {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].count == 2, let whole = Int(parts[0]), let part = Int(parts[1]),
            0...100 ~= whole, 0...99 ~= part
        else { return nil }
        return whole * 100 + part
    }
}
