import Foundation
import Glibc
import PressureKit

/// The process to speak to: its number, or the path of its control socket.
enum ControlTarget: Hashable, Sendable {
    case process(Int32)
    case path(String)

    /// Digits are a process's number; a file of that name is written `./4711`.
    ///
    /// - Throws: a sentence with what is allowed.
    init(_ text: String) throws(ControlFailure) {
        guard !text.isEmpty else {
            throw ControlFailure("An empty word is neither a process's number nor a path.")
        }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            self = .path(text)
            return
        }
        guard let number = Int32(text), number > 0 else {
            throw ControlFailure("\(text) is no process's number. For a file of that name write ./\(text).")
        }
        self = .process(number)
    }

    /// As the user would say it.
    var name: String {
        switch self {
        case .process(let number): "process \(number)"
        case .path(let path): path
        }
    }

    /// Where the socket may be, the likeliest first.
    ///
    /// - Parameter processes: the directory of processes.
    /// - Throws: ``ControlFailure`` when there is no such process.
    func paths(processes: String = "/proc") throws(ControlFailure) -> [String] {
        switch self {
        case .path(let path): return [path]
        case .process(let number):
            let directory = "\(processes)/\(number)"
            guard let status = try? String(contentsOfFile: "\(directory)/status", encoding: .utf8) else {
                throw ControlFailure("There is no process \(number).")
            }
            // Only its own user and root may read it; others would be turned away by the socket too.
            let block = FileManager.default.contents(atPath: "\(directory)/environ") ?? Data()
            let facts = ProcessFacts(status: status, environment: block)
            let paths = facts.socketPaths(of: number)
            // The same as seen from the process, which may be in a container.
            return paths + paths.map { "\(directory)/root\($0)" }
        }
    }
}

/// What /proc says of a process, as far as its control socket goes.
struct ProcessFacts: Hashable {
    /// The user whose rights it has.
    var user: UInt32 = 0
    /// Its number in its own namespace; `nil` where the kernel does not say.
    var ownNumber: Int32?
    /// The variables it was started with, as far as they may be read.
    var variables: [String: String] = [:]

    /// Reads `/proc/PID/status` and `/proc/PID/environ`, whatever they hold.
    init(status: String, environment: Data) {
        for line in status.split(separator: "\n") {
            let words = line.split { $0 == "\t" || $0 == " " }
            switch words.first {
            // Real, effective, saved, file system.
            case "Uid:": if words.count > 2 { user = UInt32(words[2]) ?? 0 }
            case "NSpid:": ownNumber = words.last.flatMap { Int32($0) }
            default: break
            }
        }
        for entry in environment.split(separator: 0) {
            let text = String(decoding: entry, as: UTF8.self)
            guard let end = text.firstIndex(of: "=") else { continue }
            variables[String(text[..<end])] = String(text[text.index(after: end)...])
        }
    }

    /// Where its control socket may be: where its environment says, and where it is by default.
    func socketPaths(of number: Int32) -> [String] {
        let process = ownNumber ?? number
        let places = [
            ControlSocket.environment.place(environment: variables, user: user, process: process),
            ControlSocket.automatic.place(environment: variables, user: user, process: process),
        ]
        var paths: [String] = []
        for path in places.compactMap(\.self).flatMap(\.candidates).map(\.path) where !paths.contains(path) {
            paths.append(path)
        }
        return paths
    }
}

/// Why nothing was said to a process, or it did not answer: a sentence or two, with the remedy.
struct ControlFailure: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
