import Foundation
import Glibc
import PressureKit
import PressureKitTesting
import Testing

/// A manager that spills to memory, watches nothing, and copies on the relief thread alone: every run makes the same
/// calls in the same order.
func makeManager(
    fileSystem: any FileSystem,
    workers: Int = 1,
    configure: (inout PressureConfiguration) -> Void = { _ in }
) throws -> PressureManager {
    var configuration = PressureConfiguration()
    configuration.sources = []
    configuration.workers = workers
    configuration.spillDirectory = "/var/tmp"
    configuration.freeSpaceFloor = .zero
    configuration.compressedTier = .never
    configuration.compressesLater = false
    configuration.fileSystem = fileSystem
    configure(&configuration)
    return try PressureManager(configuration: configuration)
}

/// A controller in a manager's tree.
func addController(_ identifier: String, to parent: PressureController) throws -> PressureController {
    let controller = PressureController(identifier)
    try parent.addChild(controller)
    return controller
}

/// Random numbers that are the same for the same seed (SplitMix64, Steele et al., OOPSLA 2014).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Seeded bytes, `randomBits` of each of them random: 0 compresses to almost nothing, 8 not at all. Made once for each
/// combination: a debug build takes its time.
func makeBytes(_ count: Int, seed: UInt64, randomBits: Int = 3) -> [UInt8] {
    let key = "\(count) \(seed) \(randomBits)"
    if let known = madeBytes.withLock({ $0[key] }) { return known }
    var generator = SeededGenerator(seed: seed)
    let mask = UInt64(truncatingIfNeeded: (1 << randomBits) - 1) &* 0x0101_0101_0101_0101
    let words = (0..<(count + 7) / 8).map { _ in generator.next() & mask }
    // A copy of the words' memory, cut to length.
    let bytes = unsafe words.withUnsafeBytes { unsafe Array($0.prefix(count)) }
    madeBytes.withLock { $0[key] = bytes }
    return bytes
}

private let madeBytes = Lock<[String: [UInt8]]>([:])

/// Whether both are the same bytes; `==` compares them one by one in a debug build.
func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count, !left.isEmpty else { return left.count == right.count }
    // Both are of this length, and outlive the call.
    return unsafe left.withUnsafeBytes { left in
        unsafe right.withUnsafeBytes { unsafe memcmp(left.baseAddress!, $0.baseAddress!, left.count) == 0 }
    }
}

/// What a test has come to, for RELIABILITY.md: said when `PRESSUREKIT_FIGURES` is set.
func figure(_ line: @autoclosure () -> String) {
    if ProcessInfo.processInfo.environment["PRESSUREKIT_FIGURES"] != nil { print("figure: \(line())") }
}

/// A value that several closures share.
final class Shared<Value: Sendable>: Sendable {
    private let state: Lock<Value>

    init(_ value: Value) { state = Lock(value) }

    var value: Value { state.withLock { $0 } }

    func set(_ value: Value) { state.withLock { $0 = value } }

    func change<Result: Sendable>(_ body: (inout sending Value) -> sending Result) -> Result { state.withLock(body) }
}
