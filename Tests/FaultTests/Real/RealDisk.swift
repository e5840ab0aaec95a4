import Foundation
import Glibc

/// A small file system of one's own, mounted for a test: what needs root. `scripts/faults.sh` asks for it; `swift test`
/// alone skips it.
struct RealDisk {
    let path: String
    private let image: String?

    /// Why there can be none here; `nil` when there can.
    static let objection: String? = {
        guard ProcessInfo.processInfo.environment["PRESSUREKIT_REAL_FAULTS"] != nil else {
            return "it needs root and mounts file systems: run scripts/faults.sh"
        }
        guard geteuid() == 0 else { return "only root may mount a file system" }
        do {
            try RealDisk(mebibytes: 8).remove()
            return nil
        } catch {
            return "\(error)"
        }
    }()

    static var isAvailable: Bool { objection == nil }

    /// An ext4 file system in a file.
    init(mebibytes: Int) throws {
        path = "/var/tmp/pressurekit-disk-\(UInt64.random(in: 0 ... .max))"
        image = path + ".image"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try Self.run(
            "truncate -s \(mebibytes)M \(path).image && mkfs.ext4 -q \(path).image && mount -o loop \(path).image \(path)"
        )
    }

    /// A tmpfs.
    init(memoryMebibytes: Int) throws {
        path = "/var/tmp/pressurekit-disk-\(UInt64.random(in: 0 ... .max))"
        image = nil
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try Self.run("mount -t tmpfs -o size=\(memoryMebibytes)m tmpfs \(path)")
    }

    /// Takes all the space there is.
    func fill() { try? Self.run("dd if=/dev/zero of=\(path)/ballast bs=64k 2>/dev/null; sync \(path)/ballast") }

    func empty() throws { try Self.run("rm -f \(path)/ballast") }

    func makeReadOnly() throws { try Self.run("mount -o remount,ro \(path)") }

    func remove() throws {
        // Lazily: a thread of a manager that is gone may still hold its file.
        try Self.run("umount -l \(path) && rmdir \(path) \(image.map { "&& rm -f \($0)" } ?? "")")
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    static func run(_ command: String) throws {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", command]
        let errors = Pipe()
        shell.standardError = errors
        try shell.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        shell.waitUntilExit()
        guard shell.terminationStatus == 0 else { throw Failure(description: "\(command): \(text)") }
    }
}
