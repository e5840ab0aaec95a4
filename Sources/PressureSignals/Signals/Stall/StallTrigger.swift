import CLinuxShims
import Glibc
import PressureSystem
import SystemPackage

/// One trigger of pressure stall information: a descriptor on which the kernel notifies when tasks have waited long enough
/// in a window of time. Owns the descriptor until ``close()``.
struct StallTrigger {
    /// The lines of the file.
    enum Line: String {
        case some, full
    }

    /// To be watched for urgent news. Never to be read.
    let descriptor: CInt
    /// The window that the kernel accepted.
    let window: Duration

    /// Arms a trigger. Tries windows until one is accepted: a short one, for which the process must be privileged, then
    /// the wanted one, then multiples of two seconds, the only ones that others may have. The waiting stays the same part
    /// of the window. Kernel versions are not asked; they have been wrong about it.
    ///
    /// - Parameters:
    ///   - waiting: How long tasks must wait in a window of the length `window`.
    /// - Throws: The error of the last attempt: EINVAL when no window suits, EOPNOTSUPP when the kernel counts nothing,
    ///   EPERM, EACCES, EROFS or ENOENT.
    init(path: String, line: Line, waiting: Duration, window: Duration) throws(Errno) {
        var failure = Errno(rawValue: EINVAL)
        for candidate in Self.windows(around: window) {
            let part = Double(candidate.nanoseconds) / Double(window.nanoseconds)
            let microseconds = Int(Double(waiting.nanoseconds) * part / 1000)
            do throws(Errno) {
                descriptor = try Self.arm(path, "\(line.rawValue) \(microseconds) \(candidate.nanoseconds / 1000)")
                self.window = candidate
                return
            } catch {
                failure = error
                guard error == .invalidArgument else { throw error }
            }
        }
        throw failure
    }

    /// The windows to try, in order.
    static func windows(around wanted: Duration) -> [Duration] {
        let half = wanted / 2
        let privileged = half >= .milliseconds(500) ? [half, wanted] : [wanted]
        return privileged + [2, 4, 6, 8, 10].map { .seconds($0) }.filter { $0 != wanted && $0 != half }
    }

    private static func arm(_ path: String, _ words: String) throws(Errno) -> CInt {
        let descriptor = unsafe pk_open_trigger(path)  // the string outlives the call
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        // The kernel puts a NUL over the last byte of what is written, so that one must be there to be lost.
        let bytes = Array(words.utf8) + [0]
        // The bytes are read during the call only.
        let written = unsafe bytes.withUnsafeBytes { unsafe pk_write_bytes(descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count else {
            let failure = Errno(rawValue: errno)
            Glibc.close(descriptor)
            throw failure
        }
        return descriptor
    }

    /// Ends the trigger.
    func close() { Glibc.close(descriptor) }
}
