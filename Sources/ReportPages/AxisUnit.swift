extension Axis {
    /// What all labels of an axis share: the unit of the largest, and as many decimals as tell each from the next.
    struct Unit: Hashable, Sendable {
        /// With a blank before it, or empty.
        var name: String
        var worth: Double
        var decimals: Int

        /// A value in this unit: `"4.0 s"` beside `"4.5 s"`.
        func text(_ value: Double) -> String { "\(Numeral.grouped(value / worth, decimals))\(name)" }

        /// The first unit that is not larger than the largest value.
        private init(of values: [Double], _ units: [(name: String, worth: Double)]) {
            let most = values.map(abs).max() ?? 0
            let unit = units.first { most >= $0.worth * (1 - 1e-9) } ?? units[units.count - 1]
            self.init(name: unit.name, worth: unit.worth, values)
        }

        private init(name: String, worth: Double, _ values: [Double]) {
            (self.name, self.worth) = (name, worth)
            decimals =
                (0...6).first { decimals in
                    let scale = Ticks.power(of: 10, Double(decimals)) / worth
                    return values.allSatisfy { abs($0 * scale - ($0 * scale).rounded()) < 1e-6 }
                } ?? 6
        }

        /// Of bytes.
        static func bytes(_ values: [Double]) -> Unit {
            Unit(
                of: values,
                [(" TiB", 0x1p40), (" GiB", 0x1p30), (" MiB", 0x1p20), (" KiB", 0x1p10), (" B", 1)]
            )
        }

        /// Of time. Minutes and hours where clocks have them: at whole ones.
        static func seconds(_ values: [Double], step: Double) -> Unit {
            switch step {
            case 3600...: Unit(name: " h", worth: 3600, values)
            case 60...: Unit(name: " min", worth: 60, values)
            default: Unit(of: values, [(" s", 1), (" ms", 1e-3), (" µs", 1e-6), (" ns", 1e-9)])
            }
        }

        /// Of plain numbers: thousands and millions from 10,000 on.
        static func numbers(_ values: [Double]) -> Unit {
            let most = values.map(abs).max() ?? 0
            guard most >= 10_000 else { return Unit(name: "", worth: 1, values) }
            return Unit(of: values, [(" T", 1e12), (" G", 1e9), (" M", 1e6), (" k", 1e3)])
        }
    }
}
