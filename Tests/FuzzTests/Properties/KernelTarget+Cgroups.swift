@testable import PressureKit
@testable import PressureSignals

extension FuzzTarget {
    /// /proc/self/mountinfo and, behind an empty line, /proc/self/cgroup.
    static func cgroups(_ text: [UInt8]) throws(FuzzFailure) {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let half = lines.firstIndex(where: \.isEmpty) ?? lines.endIndex
        let mounts = CgroupMount.parse(Array(lines[..<half].joined(separator: [UInt8(ascii: "\n")])))
        let membership = CgroupMembership(parsing: Array(lines[half...].joined(separator: [UInt8(ascii: "\n")])))

        try hold(mounts.count <= half, "\(mounts.count) mounts on \(half) lines")
        try hold(Set(mounts.map(\.point)).count == mounts.count, "two mounts in one place: \(mounts)")
        let again = CgroupMount.parse(mounts.map(line).joined(separator: "\n").utf8)
        try hold(again == mounts, "written and read again: \(mounts)")

        let paths = [membership.unified, membership.memory].compactMap(\.self)
        try hold(paths.allSatisfy { $0.hasPrefix("/") }, "\(membership)")
        let written = [membership.unified.map { "0::\($0)" }, membership.memory.map { "7:cpu,memory:\($0)" }]
        let read = CgroupMembership(parsing: written.compactMap(\.self).joined(separator: "\n").utf8)
        try hold(read == membership, "written and read again: \(membership)")

        try check(CgroupLayout(membership, mounts: mounts) { _ in true }, mounts)
        try check(CgroupLayout(membership, mounts: mounts) { $0.utf8.count % 2 == 0 }, mounts)
        let nothing = CgroupLayout(membership, mounts: mounts) { _ in false }
        try hold(nothing == CgroupLayout(), "directories that are not there: \(nothing)")
    }

    /// A mount as the kernel would tell of it.
    private static func line(_ mount: CgroupMount) -> String {
        let kind = mount.tree == .unified ? "cgroup2 cgroup2 rw" : "cgroup cgroup rw,memory"
        return "30 23 0:26 \(escaped(mount.root)) \(escaped(mount.point)) rw,nosuid shared:4 - \(kind)"
    }

    /// As in mountinfo.
    private static func escaped(_ text: String) -> String {
        text.utf8.reduce(into: [UInt8]()) { bytes, byte in
            guard byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\") else { return bytes.append(byte) }
            let digits = String(byte, radix: 8)
            bytes += Array(("\\" + String(repeating: "0", count: 3 - digits.count) + digits).utf8)
        }.text
    }

    /// Each directory lies in the one behind it, and all where a tree is mounted.
    private static func check(_ layout: CgroupLayout, _ mounts: [CgroupMount]) throws(FuzzFailure) {
        for (tree, directories) in [(CgroupMount.Tree.unified, layout.unified), (.memory, layout.memory)] {
            try hold(directories.count <= CgroupLayout.deepest, "\(directories.count) directories")
            let points = mounts.filter { $0.tree == tree }.map(\.point)
            for directory in directories {
                let isBelow = points.contains { directory == $0 || directory.hasPrefix($0 == "/" ? "/" : "\($0)/") }
                try hold(isBelow, "\(directory) lies below none of \(points)")
            }
            for (inner, outer) in zip(directories, directories.dropFirst()) {
                try hold(inner.hasPrefix(outer == "/" ? "/" : "\(outer)/"), "\(inner) does not lie in \(outer)")
            }
        }
    }

    /// `MEMORY_PRESSURE_WATCH` on the first line, `MEMORY_PRESSURE_WRITE` on the others.
    static func service(_ text: [UInt8]) throws(FuzzFailure) {
        let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let path = Array(lines[0]).text
        let secret = lines.count > 1 ? Array(lines[1]) : []
        let watch = ServiceWatch([ServiceWatch.watchVariable: path, ServiceWatch.writeVariable: secret.text])
        if case .path(let name, let bytes) = watch {
            try hold(name == path && name.hasPrefix("/") && name != "/dev/null", "it watches \(name)")
            try hold(ServiceWatch.threshold(in: bytes) >= 1, "a threshold of nothing")
        }
        guard let bytes = Base64.decode(secret) else { return }
        try hold(bytes.count <= secret.count / 4 * 3, "\(bytes.count) bytes of \(secret.count) characters")
        let again = Base64.decode(encoded(bytes).utf8)
        try hold(again == bytes, "written and read again: \(bytes)")
    }

    private static func encoded(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
            for index in 0..<4 {
                text.append(index <= part.count ? letters[bits >> (18 - 6 * index) & 63] : "=")
            }
        }
        return text
    }
}

extension [UInt8] {
    /// As text, whatever they are.
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
