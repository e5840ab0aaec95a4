import Foundation
import Glibc
import PressureKit

/// What the library says of itself, in the words of the tool: properties of Swift's are no names to somebody who writes
/// scenarios.
extension PressureError {
    /// What happened and how it may be remedied.
    var wordsForTool: String {
        Self.spellings.reduce(message) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }

    /// The same, with what it concerns.
    var lineForTool: String { (path.map { "\($0): " } ?? "") + wordsForTool }

    /// Of what messages tell programs to set. The longer of two that begin alike comes first.
    private static let spellings = [
        ("Set spillDirectory to", "With --spill-directory, or directory below spill, name"),
        ("Set TMPDIR, or spillDirectory, to", "Set TMPDIR, or name with --spill-directory"),
        ("set allowsMemoryBackedSpill if", "write allow_memory: true below spill if"),
        ("set another spill directory", "name another --spill-directory"),
        ("Set a spill directory", "Name a --spill-directory"),
        ("Raise spillLimit, or", "Raise limit below spill, or"),
        ("lower freeSpaceFloor, or ", "or "),
    ]
}

extension PressureCause {
    /// Why memory was reclaimed. What the timeline asked for came through a method of the library, which is no name here.
    var wordsForTool: String {
        let isAsked = origin == .simulated || origin == .background
        return isAsked && source != Self.socket
            ? description.replacingOccurrences(of: " (\(source))", with: "") : description
    }

    /// Where commands of other processes come from.
    private static let socket = "control socket"
}

extension EvictionReport.SkipReason {
    /// Why a value stayed, as a part of a sentence.
    var words: String {
        switch self {
        case .pinned: "in use, or came into use while it was being copied"
        case .busy: "being loaded, restored or changed"
        case .spillFailed: "could not be written, and there is no loader"
        case .spillSuspended: "writing is suspended after earlier failures, and there is no loader"
        case .notCompressible: "compressing would not have freed a tenth of it, or the compressed tier is full"
        case .deadline: "the reclaim's time was up"
        case .vetoed: "its controller's delegate did not want it evicted now"
        case .unsupported: "what it, its controller and the manager support leaves it no way out"
        }
    }

    /// The same for a name that a record has; the name itself if it is of another version.
    static func words(_ name: String) -> String { Self(rawValue: name)?.words ?? name }
}

extension Error {
    /// What went wrong: the system's words where it was the system that refused.
    var words: String {
        switch self {
        case let error as PressureError: error.wordsForTool
        case let error as CocoaError: error.systemsWords
        case is DecodingError: "not JSON of the form that is wanted here"
        default: "\(self)"
        }
    }

    /// The same, to be put into a sentence: without a full stop.
    var reason: String { words.hasSuffix(".") ? String(words.dropLast()) : words }
}

extension CocoaError {
    /// What the system said, which Foundation keeps below names of its own.
    fileprivate var systemsWords: String {
        if let cause = underlying as? POSIXError {
            return FileDescriptorOutput.Errno(code: cause.code.rawValue).description
        }
        switch code {
        case .fileNoSuchFile, .fileReadNoSuchFile: return FileDescriptorOutput.Errno(code: ENOENT).description
        case .fileReadNoPermission, .fileWriteNoPermission: return FileDescriptorOutput.Errno(code: EACCES).description
        case .fileWriteOutOfSpace: return FileDescriptorOutput.Errno(code: ENOSPC).description
        case .fileWriteVolumeReadOnly: return FileDescriptorOutput.Errno(code: EROFS).description
        default: return "the system refused it"
        }
    }
}
