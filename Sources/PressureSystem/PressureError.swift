import SystemPackage

/// What went wrong in PressureKit, where, and what to do about it.
///
/// Errors compare by value, so that a test can expect one. A loader's own error is never wrapped in this type: it
/// reaches the reader as it was thrown.
public struct PressureError: Error, Hashable, Sendable {
    /// The kind of failure. New codes may come with new versions, so a `switch` needs a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case damagedCopy, diskFull, duplicateIdentifier, hierarchyInconsistency
            case controlUnavailable
            case invalidConfiguration, noValue, recursiveAccess, restoreFailed, serverUnusable, shutDown
            case signalUnavailable, spillDirectoryInMemory, spillDirectoryUnusable, spillFailed
            case threadUnavailable, valueTooLarge
            case stateDirectoryInUse, stateDirectoryUnusable, stateMismatch, stateNotSaved, stateRefused
        }

        private let kind: Kind

        private init(_ kind: Kind) { self.kind = kind }

        /// The name of the code, as it is spelled in Swift.
        public var description: String { kind.rawValue }

        /// The control socket cannot be had at the path that was asked for.
        public static let controlUnavailable = Code(.controlUnavailable)
        /// A spilled copy does not match its checksum or its length.
        public static let damagedCopy = Code(.damagedCopy)
        /// The spill file may not grow: no space left, a quota, the configured cap or the free-space floor.
        public static let diskFull = Code(.diskFull)
        /// A sibling controller already has this restoration identifier, or another cache of the controller this name.
        public static let duplicateIdentifier = Code(.duplicateIdentifier)
        /// A controller would get a second parent or become its own ancestor.
        public static let hierarchyInconsistency = Code(.hierarchyInconsistency)
        /// The configuration contradicts itself.
        public static let invalidConfiguration = Code(.invalidConfiguration)
        /// The cache has no loader and no value was set.
        public static let noValue = Code(.noValue)
        /// A loader reads its own cache, or an update touches the cache it is updating.
        public static let recursiveAccess = Code(.recursiveAccess)
        /// A spilled copy could not be read.
        public static let restoreFailed = Code(.restoreFailed)
        /// The server that is to be spilled to, or that has the saved state, cannot be reached, does not let us in, takes
        /// nothing, or may evict a state.
        public static let serverUnusable = Code(.serverUnusable)
        /// The manager has been shut down.
        public static let shutDown = Code(.shutDown)
        /// A pressure source does not exist here or may not be read.
        public static let signalUnavailable = Code(.signalUnavailable)
        /// The spill directory is in memory (tmpfs, ramfs, zram): spilling there frees nothing.
        public static let spillDirectoryInMemory = Code(.spillDirectoryInMemory)
        /// The spill directory does not exist, is not ours or may not be written.
        public static let spillDirectoryUnusable = Code(.spillDirectoryUnusable)
        /// A copy could not be written. The value is still in memory.
        public static let spillFailed = Code(.spillFailed)
        /// The system gave no thread.
        public static let threadUnavailable = Code(.threadUnavailable)
        /// The value is larger than a spill file can hold.
        public static let valueTooLarge = Code(.valueTooLarge)
        /// Another manager, in this process or another one, holds the directory of the saved state, or the state on a server.
        public static let stateDirectoryInUse = Code(.stateDirectoryInUse)
        /// The directory of the saved state is not this user's alone, or cannot be used.
        public static let stateDirectoryUnusable = Code(.stateDirectoryUnusable)
        /// A provider gave a controller that is not the one it was asked for; or what was saved is of another type, or has
        /// elements that lie otherwise in memory, than the cache holds.
        public static let stateMismatch = Code(.stateMismatch)
        /// The state could not be saved. What was saved before is still there.
        public static let stateNotSaved = Code(.stateNotSaved)
        /// The saved state is damaged, foreign, of another format, or not wanted. None of it was used.
        public static let stateRefused = Code(.stateRefused)
    }

    /// The kind of failure.
    public var code: Code

    /// What happened and how it may be remedied, in a sentence or two for a person.
    public var message: String

    /// The path of the cache or controller concerned, such as `"gallery/thumbnails"`; `nil` when there is none.
    public var path: String?

    /// The system's error number behind this, when there is one.
    public var errno: CInt?

    /// The error that led to this one, as it was thrown: an app's own, a system's, another ``PressureError``; `nil` where
    /// this is the first. Errors that differ in nothing else are equal.
    public var cause: (any Error)? {
        get { underlying.error }
        set { underlying.error = newValue }
    }

    private var underlying: Underlying

    /// An error that does not count when two are compared, since not every error can be.
    private struct Underlying: Hashable {
        var error: (any Error)?

        static func == (one: Underlying, other: Underlying) -> Bool { true }

        func hash(into hasher: inout Hasher) {}
    }

    /// Creates an error. Its error number is that of `cause`, if none is given and that has one.
    public init(code: Code, message: String, path: String? = nil, errno: CInt? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.errno = errno ?? (cause as? PressureError)?.errno ?? (cause as? Errno)?.rawValue
        underlying = Underlying(error: cause)
    }

    /// The same error, naming the cache or controller it concerns.
    package func at(path: String) -> PressureError {
        var error = self
        error.path = path
        return error
    }
}

extension PressureError: CustomStringConvertible {
    /// `"restoreFailed at gallery/thumbnails: …"`
    public var description: String {
        let place = path.map { " at \($0)" } ?? ""
        return "\(code)\(place): \(message)"
    }
}
