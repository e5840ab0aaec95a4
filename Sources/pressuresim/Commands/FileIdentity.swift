import Foundation
import Glibc

/// Which file a path names, whatever way it is written: so that nothing is written over what a command reads, or over what
/// else it writes.
struct FileIdentity: Hashable {
    private let device: dev_t
    private let inode: ino_t
    /// What there is no file for yet, in that directory.
    private let name: String?

    /// `nil` for what can be written twice without harm (terminals, pipes, `/dev/null`), and for what cannot be at all.
    init?(_ path: String) {
        var status = stat()
        // The string outlives the call, here and below.
        if unsafe stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            name = nil
        } else {
            let url = URL(fileURLWithPath: path)
            guard unsafe stat(url.deletingLastPathComponent().path, &status) == 0 else { return nil }
            name = url.lastPathComponent
        }
        (device, inode) = (status.st_dev, status.st_ino)
    }

    /// What is wrong with writing `outputs` after reading `inputs`, as a sentence; `nil` if nothing is.
    static func objection(outputs: [String], inputs: [String]) -> String? {
        let read = Dictionary(inputs.compactMap { path in FileIdentity(path).map { ($0, path) } }) { first, _ in first }
        var written: [FileIdentity: String] = [:]
        for path in outputs where path != "-" {
            guard let identity = FileIdentity(path) else { continue }
            if let input = read[identity] { return "\(path) would be written over \(input), which is read." }
            if let other = written[identity] { return "\(path) would be written over \(other), which is written too." }
            written[identity] = path
        }
        return nil
    }
}
