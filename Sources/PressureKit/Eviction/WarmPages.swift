import CLinuxShims
import PressureSystem
import Synchronization

/// Pages that a cache at its limit has just taken from one ``PageBuffer``, kept for the next one of that size.
///
/// A cache that is full trades one value for another at every miss. Fresh pages would cost it 0.55 ms for each MiB in
/// page faults (measured), more than reading and inflating the value. Nothing else feeds this: what an app or a reclaim
/// releases goes back to the system at once, and a reclaim takes what is kept here first.
final class WarmPages: Sendable {
    /// The pages of the process: the app makes a ``PageBuffer`` before any cache, and so any manager, knows of it.
    static let shared = WarmPages()

    /// The most that is kept, a small limit on memory aside: what a few misses under way at once need.
    static let mostBytes = 8 << 20
    /// Below this a buffer is not worth a look at the shelf.
    static let leastBytes = 64 << 10
    private static let places = 16

    @safe private struct State {
        // Safe: an address here is of pages that nobody else knows of.
        var shelf = InlineArray<16, (address: UInt, byteCount: Int)>(repeating: (0, 0))
        var bytes = 0
        /// Reclaims under way.
        var closings = 0
    }

    private let state = Lock(State())
    private let most = Atomic<Int>(mostBytes)

    /// Keeps no more than so many bytes from now on; what is over goes back to the system. Allocates nothing.
    func follow(_ reserves: Reserves) {
        most.store(reserves.warmPages, ordering: .relaxed)
        if byteCount > reserves.warmPages { empty() }
    }

    /// The bytes kept now.
    var byteCount: Int { state.withLock { $0.bytes } }

    /// Pages of exactly `byteCount` bytes, with anything in them, if there are any.
    func take(byteCount: Int) -> UnsafeMutableRawPointer? {
        guard byteCount >= Self.leastBytes else { return nil }
        let address = state.withLock { state -> UInt in
            guard state.bytes > 0 else { return 0 }
            for index in 0..<Self.places where state.shelf[index].byteCount == byteCount {
                state.bytes -= byteCount
                defer { state.shelf[index] = (0, 0) }
                return state.shelf[index].address
            }
            return 0
        }
        return unsafe UnsafeMutableRawPointer(bitPattern: address)
    }

    /// Keeps pages, if this thread is trading values and there is room. Returns whether it does.
    func keep(_ address: UnsafeMutableRawPointer, byteCount: Int) -> Bool {
        guard pk_is_trading(), byteCount >= Self.leastBytes else { return false }
        return state.withLock { state in
            guard state.closings == 0, state.bytes + byteCount <= most.load(ordering: .relaxed) else { return false }
            for index in 0..<Self.places where state.shelf[index].byteCount == 0 {
                state.shelf[index] = (UInt(bitPattern: address), byteCount)
                state.bytes += byteCount
                return true
            }
            return false
        }
    }

    /// Runs `body`; pages that it releases on this thread may be kept. A mark of the thread, since a `deinit` can be told
    /// nothing.
    static func trading<Result>(_ body: () throws -> Result) rethrows -> Result {
        pk_set_trading(true)
        defer { pk_set_trading(false) }
        return try body()
    }

    /// Gives everything back to the system and keeps nothing until ``reopen()``: a reclaim begins. Allocates nothing.
    func close() {
        state.withLock { $0.closings += 1 }
        empty()
    }

    /// A reclaim has ended.
    func reopen() { state.withLock { $0.closings -= 1 } }

    /// Gives everything back to the system. Allocates nothing.
    func empty() {
        for index in 0..<Self.places {
            let (address, byteCount) = state.withLock { state in
                defer { state.shelf[index] = (0, 0) }
                state.bytes -= state.shelf[index].byteCount
                return state.shelf[index]
            }
            // Taken off the shelf, so ours alone; of that length.
            if byteCount > 0 { _ = unsafe pk_unmap_pages(UnsafeMutableRawPointer(bitPattern: address), byteCount) }
        }
    }
}
