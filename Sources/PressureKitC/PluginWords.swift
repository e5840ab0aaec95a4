import PressureKit

/// What the library says of itself, in the words of pressurekit.h: its own controllers, types and properties are no names
/// to somebody who writes C.
extension PressureError {
    /// What happened and how it may be remedied, with the name of the cache, if it concerns one.
    var wordsForC: String {
        let cache = path.map(Self.cacheName) ?? ""
        switch code {
        case .noValue:
            return "The cache \"\(cache)\" has no load callback and no value. Set one, or add it with a load callback."
        case .recursiveAccess:
            return "A callback of the cache \"\(cache)\" uses the value it makes or changes, and would wait for itself."
        default:
            var words = message
            for (name, spelling) in Self.spellings { words = words.replacingAll(name, with: spelling) }
            return cache.isEmpty ? words : "The cache \"\(cache)\": \(words)"
        }
    }

    /// Of the path of what holds its values: `thumbnails/value`, or `tiles/values[7]`.
    private static func cacheName(_ path: String) -> String {
        guard let slash = path.firstIndex(of: "/") else { return path }
        let rest = path[slash...].dropFirst()
        return String(path[..<slash]) + (rest.hasPrefix("values") ? rest.dropFirst("values".count) : "")
    }

    /// Of what messages tell Swift programs to set. The longer of two that begin alike comes first.
    private static let spellings = [
        ("Set spillDirectory to", "Set spill_directory to"),
        ("or spillDirectory, to", "or spill_directory, to"),
        ("set allowsMemoryBackedSpill if", "add the flag PRESSUREKIT_ALLOW_MEMORY_SPILL if"),
        ("Raise spillLimit, or", "Raise spill_limit, or"),
        ("lower freeSpaceFloor, or ", "or "),
        ("a cache with a loader", "a cache with a load callback"),
        ("Values that a loader makes", "Values that load callbacks make"),
        ("or have a loader make it", "or have a load callback make it"),
    ]
}

extension String {
    /// With each occurrence of a text replaced: what Foundation has, which the plugin does not link.
    fileprivate func replacingAll(_ text: String, with other: String) -> String {
        var (result, rest) = ("", self[...])
        while !rest.isEmpty {
            if rest.hasPrefix(text) {
                result += other
                rest = rest.dropFirst(text.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }
}
