package import PressureSystem

extension SignalRecording {
    /// Turns what a monitor observes into lines. Pure; the lines end without a newline.
    package struct Writer: Sendable {
        private struct Slot: Hashable {
            var origin: PressureCause.Origin
            var source: String
        }

        private var slots: [Slot?] = []
        private let origin: MonotonicInstant

        /// Creates a writer.
        ///
        /// - Parameter start: The instant that is written as 0.
        package init(start: MonotonicInstant) { origin = start }

        /// The line to begin with.
        package var header: String { SignalRecording.header }

        /// The lines of one observation: a line for each place that stands for something new, then the event.
        package mutating func lines(for observation: PressureMonitor.Observation) -> [String] {
            switch observation {
            case .sample(let sample): lines(sample)
            case .reclaim(let level, let duration, let returned, let at):
                ["reclaim \(time(at)) \(level) \(duration.nanoseconds) \(returned.bytes)"]
            case .freed(let bytes, let at): ["freed \(time(at)) \(bytes.bytes)"]
            }
        }

        private mutating func lines(_ sample: PressureMonitor.Sample) -> [String] {
            var lines: [String] = []
            var line = "sample \(time(sample.at))"
            for (place, reading) in sample.readings.enumerated() {
                while slots.count <= place { slots.append(nil) }
                guard let reading, place < SignalRecording.mostPlaces else { continue }
                let slot = Slot(origin: reading.origin, source: reading.source)
                if slots[place] != slot {
                    slots[place] = slot
                    lines.append("slot \(place) \(slot.origin.rawValue) \(Self.escaped(slot.source))")
                }
                line += " \(place)=\(Self.text(reading.measure))"
                if reading.isWatched { line += ":watched" }
                let age = sample.at - reading.takenAt
                if age > .zero { line += ":age=\(age.nanoseconds)" }
            }
            return lines + [line]
        }

        private func time(_ instant: MonotonicInstant) -> Int64 { max(0, (instant - origin).nanoseconds) }

        private static func text(_ measure: SignalReading.Measure) -> String {
            switch measure {
            case .headroom(let headroom):
                let kept = headroom.kept > .zero ? "/\(headroom.kept.bytes)" : ""
                let unwritten = !kept.isEmpty || headroom.unwritten > .zero ? "/\(headroom.unwritten.bytes)" : ""
                return "headroom:\(headroom.available.bytes)/\(headroom.limit.bytes)\(unwritten)\(kept)"
            case .demand(let level, let bytes): return "demand:\(level)" + (bytes.map { ":\($0.bytes)" } ?? "")
            case .events(let counters):
                return "events:\(counters.high)/\(counters.max)/\(counters.oom)/\(counters.oomKill)"
            case .stall(let stall):
                let totals = stall.totals
                let full = totals.full.map { "\($0)" } ?? "-"
                let averages = "\(perCent(totals.someAverage))/\(perCent(totals.fullAverage))"
                let flags =
                    (stall.isArmed ? ":armed" : "") + (stall.hasFired ? ":rang" : "")
                    + (stall.hasFiredEarly ? ":early" : "")
                return "stall:\(stall.scope.rawValue):\(totals.some)/\(full):\(averages)\(flags)"
            }
        }

        private static func perCent(_ hundredths: Int) -> String {
            "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10)"
        }

        /// Blanks, backslashes and control bytes as three octal digits.
        private static func escaped(_ text: String) -> String {
            var result = ""
            for scalar in text.unicodeScalars {
                if scalar.value <= 0x20 || scalar.value == 0x7F || scalar == "\\" {
                    let digits = String(scalar.value, radix: 8)
                    result += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
            return result
        }
    }
}
