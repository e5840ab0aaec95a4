import PressureSystem
import SpillStore
import SystemPackage

/// Where a state is kept: a directory, or a server. Held while it is used; every call blocks.
protocol StatePlace: Sendable {
    /// What messages call it.
    var path: String { get }

    /// What has become of the state that there was, when a save has failed: a sentence.
    var whatWas: String { get }

    /// Opens an empty file for a new state.
    func openNew() throws -> StateFile

    /// Puts the new state, all of it where it stays, in place of the old one, in one step.
    func replace(with new: StateFile) throws

    /// Waits until that step cannot be undone.
    ///
    /// - Throws: ``PressureError`` with `stateNotSaved` that says which state may be there.
    func settle() throws(PressureError)

    /// Removes a new state that was given up.
    func discard(_ new: StateFile)

    /// Opens the state for reading; `nil` when there is none.
    func open() throws -> StateFile?

    /// What a failure of its file says.
    func failure(_ failure: SpillFailure) -> PressureError

    /// That the state could not be read.
    func unreadable(_ cause: any Error) -> PressureError

    /// What becomes of the page cache of a file.
    func visit(_ file: StateFile, _ limits: SpillLimits) -> CacheVisit

    /// Makes sure that it is still held.
    func confirm() throws(PressureError)

    /// It is not needed any more, now.
    func leave()
}

/// An open file with a state.
struct StateFile {
    /// Its name, until it takes the place of the old one.
    var path = ""
    let fileSystem: any FileSystem
    /// The file, locked for as long as it is open.
    let descriptor: CInt
}

extension StateDirectory: StatePlace {
    var whatWas: String { PressureError.stateIsThere }

    func failure(_ failure: SpillFailure) -> PressureError { failure.pressureError() }

    func unreadable(_ cause: any Error) -> PressureError {
        .stateUnreadable(path, errno: (cause as? Errno)?.rawValue)
    }

    func visit(_ file: StateFile, _ limits: SpillLimits) -> CacheVisit {
        CacheVisit(fileSystem, file.descriptor, limits)
    }

    /// The kernel keeps the lock.
    func confirm() throws(PressureError) {}

    /// It is held until the manager lets go of it.
    func leave() {}
}
