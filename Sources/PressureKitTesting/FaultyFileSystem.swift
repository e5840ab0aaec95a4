package import PressureKit
import Synchronization

/// A file system that fails on command: wraps another and lets through every call but those a ``Rule`` picks.
///
/// The pattern of use is to fail the first call, then the second, and so on until a run comes through without meeting
/// the fault, and to check after each that nothing was lost. Safe from any thread.
public final class FaultyFileSystem: Sendable {
    /// A kind of call.
    public enum Operation: String, Sendable, CaseIterable {
        /// Making a file, nameless or not.
        case open
        /// Removing a name.
        case unlink
        /// Reading from a file.
        case read
        /// Writing to a file.
        case write
        /// Setting the size of a file.
        case truncate
        /// Giving blocks of a file back.
        case punchHole
        /// Starting or awaiting write-back.
        case writeback
        /// Saying how a file will be read. It cannot fail; its calls are counted.
        case advise
        /// Dropping what was read from the page cache.
        case dropCached
        /// Asking for the free space of the file system.
        case freeSpace
        /// Asking for the size of a file, or about a directory.
        case inspect
        /// Making a directory.
        case makeDirectory
        /// Taking a lock.
        case lock
        /// Giving a file another name.
        case rename
        /// Waiting for a file or a directory to be on the device.
        case synchronize
    }

    /// What goes wrong.
    public enum Fault: Hashable, Sendable {
        /// The call does nothing and fails with this error number.
        case error(CInt)
        /// A read or write does half its work and says so. Nothing is wrong: the system may do that at any time.
        case short
        /// A write does half its work and claims all of it.
        case lyingWrite
        /// A write does nothing and claims all of it: what was there before is there still.
        case lostWrite
        /// A write puts one wrong bit on the disk; which one depends on the number of the call.
        case wrongWrite
        /// A read gives one bit wrong; which one depends on the number of the call.
        case bitFlip
        /// A write is taken and reads back as it should, and is gone once it is to go to the device: the file says so with
        /// this error number, once, to whoever waits for write-back next. One past the page cache fails there and then.
        case lateError(CInt)
    }

    /// Which calls it happens to. Calls are counted from 1, from the moment the rule is set.
    public enum Occurrence: Hashable, Sendable {
        /// The call with this number, and no other.
        case once(Int)
        /// The call with this number and all that follow.
        case from(Int)
        /// Every call whose number this divides.
        case every(Int)
        /// One call in so many, as if at random; the same ones for the same seed.
        case sometimes(seed: UInt64, oneIn: Int)
    }

    /// A fault, the calls it applies to, and how often.
    public struct Rule: Hashable, Sendable {
        /// What goes wrong.
        public var fault: Fault
        /// The calls that are counted; `nil` counts all.
        public var operation: Operation?
        /// Which of them it happens to.
        public var occurrence: Occurrence

        /// Creates a rule.
        public init(_ fault: Fault, on operation: Operation? = nil, _ occurrence: Occurrence = .from(1)) {
            self.fault = fault
            self.operation = operation
            self.occurrence = occurrence
        }
    }

    struct State {
        var rule: Rule?
        var matching = 0
        var faults = 0
        /// With those of the rules before.
        var allFaults = 0
        var calls: [Operation: Int] = [:]
        var interceptor: (@Sendable (Operation) -> Void)?
        var follower: (@Sendable () -> Void)?
        var late = LateWrites()
        var keepsEverything = true
    }

    let base: any NamedFileSystem
    let state = Lock(State())

    /// Wraps a disk in memory.
    public convenience init(wrapping base: InMemoryFileSystem = InMemoryFileSystem()) {
        self.init(base)
    }

    /// Wraps any file system. With a name it is taken for a server.
    package init(_ base: any NamedFileSystem, server: String? = nil) {
        self.base = base
        self.server = server
    }

    /// What messages call the server that it stands for.
    package let server: String?

    /// Whether what was written stays; a server may come to say that it evicts.
    package var keepsEverything: Bool {
        get { state.withLock { $0.keepsEverything } }
        set { state.withLock { $0.keepsEverything = newValue } }
    }

    /// Sets the rule for the calls that follow, in place of any other; `nil` heals the disk.
    public func set(_ rule: Rule?) {
        state.withLock { state in
            state.rule = rule
            state.matching = 0
            state.faults = 0
        }
    }

    /// How often the present rule has struck.
    public var faults: Int { state.withLock { $0.faults } }

    /// How often any rule has struck.
    var allFaults: Int { state.withLock { $0.allFaults } }

    /// How many calls of a kind were made, failed ones included.
    public func calls(_ operation: Operation) -> Int { state.withLock { $0.calls[operation] ?? 0 } }

    /// Sets what is called, with no lock held, before each call goes on: a test can hold a call there until something
    /// else has happened.
    package func setInterceptor(_ interceptor: (@Sendable (Operation) -> Void)?) {
        state.withLock { $0.interceptor = interceptor }
    }

    /// Sets what is called, with no lock held, after each write and before its caller goes on.
    package func setFollower(_ follower: (@Sendable () -> Void)?) { state.withLock { $0.follower = follower } }

    /// Counts a call: the fault that strikes it, with the number of the call, if any does.
    func strike(_ operation: Operation) -> (fault: Fault, number: Int)? {
        state.withLock { $0.interceptor }?(operation)
        return state.withLock { state in
            state.calls[operation, default: 0] += 1
            guard let rule = state.rule, rule.operation.map({ $0 == operation }) ?? true else { return nil }
            state.matching += 1
            guard rule.occurrence.includes(state.matching) else { return nil }
            state.faults += 1
            state.allFaults += 1
            return (rule.fault, state.matching)
        }
    }
}

extension FaultyFileSystem.Occurrence {
    fileprivate func includes(_ number: Int) -> Bool {
        switch self {
        case .once(let wanted): number == wanted
        case .from(let first): number >= first
        case .every(let period): number % period == 0
        case .sometimes(let seed, let period): Self.mixed(seed &+ UInt64(number)) % UInt64(max(1, period)) == 0
        }
    }
    /// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): neighbours become unrelated.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
