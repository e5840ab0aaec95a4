import Glibc
import PressureSystem
import Synchronization
import SystemPackage

/// The directory of a saved state: this user's alone, held by one process, with the state in one file that is replaced
/// whole.
///
/// | name | what |
/// |---|---|
/// | `state` | the state; missing before the first |
/// | `state.new-…` | one that is being written, under a name that nobody else has, or was when its process ended |
/// | `lock` | held while a manager uses the directory |
///
/// The lock keeps two managers apart. That what is written stays whole does not hang on it, since somebody may take the
/// file away (who cleans up old files does): each new state is renamed by its own name, which is never another's, and
/// whoever clears up leaves what is locked.
final class StateDirectory: Sendable {
    let path: String
    let fileSystem: any NamedFileSystem
    private let lock: CInt
    /// Whether this made the directory.
    private let isNew: Bool
    /// Whether the directory's own name is on the device.
    private let isSettled = Atomic(false)
    /// The process that has the lock.
    private let owner = ProcessMark()

    var statePath: String { "\(path)/state" }
    /// How the names of new states begin. Earlier versions had one, of this name.
    private static let newName = "state.new"

    /// Makes the directory if there is none, and takes it. Blocks.
    ///
    /// - Throws: ``PressureError`` with `stateDirectoryUnusable` when it is not this user's alone or cannot be used,
    ///   `stateDirectoryInUse` when another manager holds it, in this process or another one.
    init(_ path: String, fileSystem: any NamedFileSystem) throws(PressureError) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .stateDirectoryUnusable(path, "is not a path") }
        self.path = path
        self.fileSystem = fileSystem
        (lock, isNew) = try Self.openLock(path, fileSystem)
        do {
            try fileSystem.lock(lock)
        } catch {
            fileSystem.close(lock)
            guard error == .wouldBlock else { throw .stateDirectoryUnusable(path, "cannot be locked", errno: error) }
            throw .stateDirectoryInUse(path)
        }
    }

    private static func openLock(_ path: String, _ fileSystem: any NamedFileSystem) throws(PressureError) -> (
        CInt, isNew: Bool
    ) {
        let facts: DirectoryFacts
        let isNew: Bool
        do {
            isNew = try makeDirectory(path, fileSystem)
            facts = try fileSystem.directoryFacts(path)
        } catch {
            throw .stateDirectoryUnusable(path, "cannot be used", errno: error)
        }
        if let objection = facts.stateObjection(user: fileSystem.effectiveUser) {
            throw .stateDirectoryUnusable(path, objection)
        }
        do {
            return (try fileSystem.openNamed("\(path)/lock", creates: true), isNew)
        } catch {
            throw .stateDirectoryUnusable(path, "takes no file", errno: error)
        }
    }

    /// Whether there was none.
    private static func makeDirectory(_ path: String, _ fileSystem: any NamedFileSystem) throws(Errno) -> Bool {
        do {
            try fileSystem.makeDirectory(path)
            return true
        } catch {
            if error != .fileExists { throw error }
            return false
        }
    }

    deinit {
        // Closing is not enough while a child that is about to exec has the file too; but a child that goes on without
        // exec must not end its parent's lock.
        if owner.isThisProcess { fileSystem.unlock(lock) }
        fileSystem.close(lock)
    }

    /// Opens an empty file for a new state. What others left unfinished that are gone is removed.
    func openNew() throws(Errno) -> StateFile {
        sweep()
        var attempts = 16
        while true {
            let number = String(UInt64.random(in: .min ... .max), radix: 36)
            attempts -= 1
            do {
                return try open(new: "\(Self.newName)-\(number)")
            } catch {
                // The name is taken; or somebody who clears up came between the file and its lock.
                guard error == .fileExists || error == .wouldBlock, attempts > 0 else { throw error }
            }
        }
    }

    private func open(new name: String) throws(Errno) -> StateFile {
        let path = "\(path)/\(name)"
        let descriptor = try fileSystem.openExclusive(path)
        do throws(Errno) {
            try fileSystem.lock(descriptor)
            // Who removes it has the lock meanwhile, so that from here on it stays.
            guard try fileSystem.names(in: self.path).contains(name) else { throw .wouldBlock }
        } catch {
            try? fileSystem.unlink(path)
            fileSystem.close(descriptor)
            throw error
        }
        return StateFile(path: path, fileSystem: fileSystem, descriptor: descriptor)
    }

    /// Removes the new states of those that are gone: a lock ends with its process.
    private func sweep() {
        guard let names = try? fileSystem.names(in: path) else { return }
        for name in names where name.hasPrefix(Self.newName) {
            guard let descriptor = try? fileSystem.openNamed("\(path)/\(name)", creates: false) else { continue }
            defer { fileSystem.close(descriptor) }
            guard (try? fileSystem.lock(descriptor)) != nil else { continue }
            try? fileSystem.unlink("\(path)/\(name)")
        }
    }

    /// Puts the new state, all of it on the device, in place of the old one, in one step.
    func replace(with new: StateFile) throws(Errno) {
        try fileSystem.synchronize(new.descriptor)
        try fileSystem.rename(new.path, to: statePath)
    }

    /// Waits until that step is on the device too: before, the loss of power may bring the old state back.
    ///
    /// - Throws: ``PressureError`` with `stateNotSaved`, which says that the new state is in place.
    func settle() throws(PressureError) {
        do {
            try fileSystem.synchronizeDirectory(path)
            try settleName()
        } catch {
            throw .stateNotSettled(path, errno: error)
        }
    }

    /// Waits, once, until the directory's own name is on the device: without it nothing in it is found. Also for one that
    /// was there, since whoever made it may have ended before that.
    private func settleName() throws(Errno) {
        guard !isSettled.load(ordering: .relaxed) else { return }
        let parent = FilePath(path).removingLastComponent()
        do {
            try fileSystem.synchronizeDirectory(parent.isEmpty ? "." : parent.string)
        } catch {
            // A directory that others have made may lie in one that this user can pass but not open.
            if isNew || error == .ioError { throw error }
        }
        isSettled.store(true, ordering: .relaxed)
    }

    /// Removes a new state that was given up.
    func discard(_ new: StateFile) { try? fileSystem.unlink(new.path) }

    /// Opens the state for reading; `nil` when there is none.
    func open() throws(Errno) -> StateFile? {
        do {
            let descriptor = try fileSystem.openNamed(statePath, creates: false)
            return StateFile(path: statePath, fileSystem: fileSystem, descriptor: descriptor)
        } catch {
            if error == .noSuchFileOrDirectory { return nil }
            throw error
        }
    }
}

extension DirectoryFacts {
    /// Why no state is kept here, as the end of a sentence.
    fileprivate func stateObjection(user: UInt32) -> String? {
        if let objection = linkObjection(user: user) { return objection }
        if !isDirectory { return "is not a directory" }
        if owner != user { return "belongs to another user (\(owner))" }
        if permissions & 0o077 != 0 { return "can be used by others (mode \(String(permissions & 0o777, radix: 8)))" }
        return nil
    }
}

extension PressureError {
    static func stateDirectoryUnusable(_ path: String, _ reason: String, errno: Errno? = nil) -> PressureError {
        let cause = errno.map { ": \($0)" } ?? ""
        let remedy =
            errno == .noSuchFileOrDirectory
            ? "Make the directory that it is to be in, or name another one."
            : "Name one that does not exist yet, in a directory of this user's, or make it this user's alone (chmod 700)."
        return PressureError(
            code: .stateDirectoryUnusable,
            message: "The state directory \(path) \(reason)\(cause). \(remedy)",
            errno: errno?.rawValue
        )
    }

    static func stateDirectoryInUse(_ path: String) -> PressureError {
        PressureError(
            code: .stateDirectoryInUse,
            message: """
                The state directory \(path) is held by another manager, in this process or another one. Wait until that \
                has ended, or give each instance of the app a directory of its own.
                """
        )
    }

    static let stateIsThere = "What was saved before is still there."

    /// - Parameter whatWas: what has become of the state that there was.
    static func stateNotSaved(
        _ path: String,
        _ reason: String,
        cause: (any Error)? = nil,
        whatWas: String = stateIsThere
    ) -> PressureError {
        // A reason may be sentences.
        let end = reason.hasSuffix(".") ? "" : "."
        return PressureError(
            code: .stateNotSaved,
            message: "The state could not be saved in \(path): \(reason)\(end) \(whatWas)",
            cause: cause
        )
    }

    static func stateHalfRestored(_ path: String) -> PressureError {
        .stateNotSaved(path, "a restoration is not complete, and would be saved half done")
    }

    static func stateNotSettled(_ path: String, errno: Errno) -> PressureError {
        PressureError(
            code: .stateNotSaved,
            message: """
                The state in \(path) is the new one, but its directory could not be written to the device: \(errno). A \
                loss of power may bring back what was saved before. Check the disk, and save again.
                """,
            errno: errno.rawValue
        )
    }

    static func stateRefused(_ path: String, _ refusal: StateRefusal) -> PressureError {
        let reason =
            switch refusal {
            case .damaged(let how): "it is damaged: \(how)"
            case .foreign: "it is no state of this library"
            case .future(let version): "it has format \(version), which a later version of this library wrote"
            case .past(let version):
                "it has format \(version), of an earlier version of this library, which is not read"
            case .version(let version): "it was saved by version \"\(version)\" of the app"
            case .vetoed: "the delegate did not want it"
            }
        return PressureError(
            code: .stateRefused,
            message: "The saved state in \(path) is not used, none of it: \(reason). The next one replaces it."
        )
    }

    static func stateUnreadable(_ path: String, errno: CInt?) -> PressureError {
        PressureError(
            code: .stateRefused,
            message: """
                The saved state in \(path) cannot be read\(errno.map { ": \(Errno(rawValue: $0))" } ?? ""). None of it \
                is used.
                """,
            errno: errno
        )
    }
}
