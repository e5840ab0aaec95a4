/// Steele, Lea and Flood's generator ("Fast splittable pseudorandom number generators", OOPSLA 2014): one addition and
/// three mixing steps a number, any seed is good, and the same seed gives the same numbers on every machine.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// A generator for one of many streams of a seed: streams are as independent as seeds.
    package init(seed: UInt64, stream: UInt64) {
        var mixer = SplitMix64(seed: seed ^ Self.mix(stream &+ 0x9E37_79B9_7F4A_7C15))
        state = mixer.next()
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    /// A number from 0 to below 1, all 53 bits of it random.
    package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
