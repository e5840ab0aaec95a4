import Glibc
import PressureKit
import Synchronization

/// How the memory of a process that is in no cache goes up and down: a rest without it, a rise at a modest pace, a rest at
/// the top, and all is given back at once.
///
/// Pure: the time comes in with each question.
struct WorthSwing: Hashable, Sendable, Codable {
    /// The most that is held.
    var peak: ByteCount
    /// How fast it rises, in bytes a second.
    var rate = 300e6
    /// How long it stays at either end, in seconds.
    var rest: Double

    /// What is to be done with the memory now.
    enum Step: Hashable, Sendable {
        /// Take one more piece.
        case take
        case keep
        /// Give everything back.
        case release
    }

    /// The bytes that are taken at once.
    static let piece = 1 << 20

    /// How long the rise takes.
    var rise: Double { Double(peak.bytes) / rate }
    /// From one rise to the next.
    var period: Double { 2 * rest + rise }
    /// How long to wait between two pieces, so that it never rises faster than it is to, however late it is.
    var pause: Duration { .seconds(Double(Self.piece) / rate) }

    /// The bytes to be held so many seconds after the start.
    func target(at seconds: Double) -> Int {
        let moment = max(seconds, 0).truncatingRemainder(dividingBy: period) - rest
        return moment <= 0 ? 0 : min(Int(moment * rate), peak.bytes)
    }

    /// What to do at a time for whoever holds so much.
    func step(held: Int, at seconds: Double) -> Step {
        let target = target(at: seconds)
        if target < held { return .release }
        return target - held >= Self.piece ? .take : .keep
    }
}

/// The memory that swings: a thread that takes it with mmap and gives it back with munmap.
final class WorthSwinger: Sendable {
    private let swing: WorthSwing
    private let isOn = Atomic<Bool>(true)

    /// Begins.
    ///
    /// - Throws: `PressureError` where no thread is left.
    init(_ swing: WorthSwing) throws {
        self.swing = swing
        try WorkerThread.spawn("swing") { [self] in run() }
    }

    /// Gives everything back, soon.
    func end() { isOn.store(false, ordering: .relaxed) }

    private func run() {
        let clock = SystemClock()
        let start = clock.now()
        var pieces: [MappedPiece] = []
        while isOn.load(ordering: .relaxed) {
            switch swing.step(held: pieces.count * WorthSwing.piece, at: (clock.now() - start).seconds) {
            case .take: if let piece = MappedPiece() { pieces.append(piece) }
            case .keep: break
            case .release: pieces.removeAll(keepingCapacity: true)
            }
            Pause.sleep(swing.pause)
        }
    }
}

/// Pages of the process's own, each of them touched.
@safe
private final class MappedPiece {
    // Safe: the address is the mapping's own from `init` to `deinit`.
    private let address: UnsafeMutableRawPointer

    /// `nil` when the system has no address space.
    init?() {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let address = unsafe mmap(nil, WorthSwing.piece, PROT_READ | PROT_WRITE, flags, -1, 0),
            unsafe address != MAP_FAILED
        else { return nil }
        unsafe self.address = address
        for offset in stride(from: 0, to: WorthSwing.piece, by: 4096) {
            unsafe address.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)  // within the mapping
        }
    }

    deinit { unsafe munmap(address, WorthSwing.piece) }
}
