import ArgumentParser
import Foundation
import Glibc
import ScenarioLanguage

/// How every command writes its facts and ends when it cannot.
enum CommandOutput {
    /// Prints a text and a line end to standard output. That nobody reads any more is no failure: what follows is
    /// quiet, as in `pressuresim run … | head`.
    ///
    /// - Throws: status 3 when it cannot be written for another reason, such as a full disk.
    ///
    /// On a terminal no line ends inside a word.
    static func print(_ text: String) throws {
        try write(Data("\(Wrapping.wrapped(text, to: Terminal.columns(of: STDOUT_FILENO)))\n".utf8), to: "-")
    }

    /// Writes the facts of a command to a file, or to standard output if the path is `-`.
    ///
    /// - Throws: status 3 when it cannot be written.
    static func write(_ data: Data, to path: String) throws {
        do {
            if path == "-" {
                try FileDescriptorOutput.write(data, to: STDOUT_FILENO)
            } else {
                try FileDescriptorOutput.write(data, toFile: path)
            }
        } catch {
            guard !error.isReaderGone else { return }
            let name = path == "-" ? "standard output" : path
            throw fail(
                "pressuresim: \(name) cannot be written: \(error.reason). Name another file.",
                .environmentRefused
            )
        }
    }

    /// Makes sure that files can be written before the work begins whose facts they are for, and that none is written over
    /// another or over what the command reads. Changes none, and leaves none behind.
    ///
    /// - Parameter inputs: what the command reads.
    /// - Throws: status 2 when a file would be lost, 3 for the first that cannot be written.
    static func check(_ paths: String?..., reading inputs: [String] = []) throws {
        let paths = paths.compactMap(\.self)
        if let objection = FileIdentity.objection(outputs: paths, inputs: inputs) {
            throw fail("pressuresim: \(objection) Name another file.", .wrongInput)
        }
        for path in paths where path != "-" {
            guard let reason = OutputProbe.refusal(path) else { continue }
            throw fail("pressuresim: \(path) cannot be written: \(reason). Name another file.", .environmentRefused)
        }
    }

    /// Says something on standard error and gives the error that ends the tool with a status.
    static func fail(_ message: String, _ status: ExitStatus) -> ExitCode {
        complain(message)
        return status.exitCode
    }

    /// Says something on standard error. If nobody hears it, nothing can be done about that.
    static func complain(_ message: String) {
        let text = Wrapping.wrapped(message.visible(except: ["\n", "\t"]), to: Terminal.columns(of: STDERR_FILENO))
        try? FileDescriptorOutput.write(Data("\(text)\n".utf8), to: STDERR_FILENO)
    }
}

/// Writing to what is open already.
enum FileDescriptorOutput {
    /// Writes all of it, however many calls that takes.
    ///
    /// - Throws: what the kernel says; `EPIPE` when nobody reads, as long as `SIGPIPE` is ignored.
    static func write(_ data: Data, to descriptor: Int32) throws(Errno) {
        var rest = data[...]
        while !rest.isEmpty {
            // The bytes are the data's own for the length of the call.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw Errno(code: errno)
            }
        }
    }

    /// Writes a file anew, or into a pipe that somebody reads.
    ///
    /// - Throws: what the kernel says; `ENXIO` for a pipe that nobody reads.
    static func write(_ data: Data, toFile path: String) throws(Errno) {
        // Without O_NONBLOCK opening such a pipe would wait for ever. The string outlives the call.
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o666)
        guard descriptor >= 0 else { throw Errno(code: errno) }
        defer { close(descriptor) }
        // Its reader may be slow.
        _ = fcntl(descriptor, F_SETFL, O_WRONLY)
        try write(data, to: descriptor)
    }

    /// An error number.
    struct Errno: Error, Hashable, CustomStringConvertible {
        var code: Int32

        var description: String {
            // What open(2) says of a pipe. strerror gives a string with an end, which is copied at once.
            code == ENXIO
                ? "nobody reads it" : unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        }
    }
}

/// Whether a file could be written, without writing it.
enum OutputProbe {
    /// Why not, in a few words; `nil` if it can.
    static func refusal(_ path: String) -> String? {
        var status = stat()
        // Both strings outlive their calls.
        let isThere = unsafe stat(path, &status) == 0
        // Opening a pipe would end what its reader waits for.
        if isThere, status.st_mode & S_IFMT == S_IFIFO {
            return unsafe access(path, W_OK) == 0 ? nil : FileDescriptorOutput.Errno(code: errno).description
        }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | (isThere ? 0 : O_EXCL), 0o666)
        guard descriptor >= 0 else { return FileDescriptorOutput.Errno(code: errno).description }
        close(descriptor)
        if !isThere { _ = unsafe unlink(path) }
        return nil
    }
}

extension Error {
    /// Whether it says that nobody reads what is written.
    var isReaderGone: Bool { (self as? FileDescriptorOutput.Errno)?.code == EPIPE }
}
