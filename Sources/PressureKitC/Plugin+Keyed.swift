public import CPressureKit
import PressureKit

// The functions of pressurekit.h for keyed caches.

/// `pressurekit_add_keyed_cache`
@_cdecl("pressurekit_add_keyed_cache")
public func pluginAddKeyedCache(
    _ handle: pressurekit_manager_t,
    _ name: UnsafePointer<CChar>?,
    _ options: UnsafePointer<pressurekit_keyed_options>?,
    _ result: UnsafeMutablePointer<pressurekit_cache_t>?
) -> pressurekit_status {
    answer {
        guard let result = unsafe result, let name = unsafe name else {
            throw PluginFailure.badArgument("name or cache is NULL.")
        }
        let text = unsafe try PluginStructure.text(name, "name", atMost: 255)
        var read = unsafe pressurekit_keyed_options()
        if let options = unsafe options {
            unsafe read = try PluginStructure.read(options, into: read)
            guard unsafe read.reserved == (0, 0, 0, 0) else {
                throw PluginFailure.badArgument(
                    "A reserved member is not 0; begin with PRESSUREKIT_KEYED_OPTIONS_INIT."
                )
            }
        }
        var limits = CacheOptions()
        if unsafe read.limit_bytes > 0 { limits.limit = .bytes(unsafe Int(clamping: read.limit_bytes)) }
        if unsafe read.limit_values > 0 { limits.countLimit = unsafe Int(clamping: read.limit_values) }
        let callbacks = unsafe PluginCallbacks(of: text, read)
        try PluginRegistry.shared.withManager(handle) { manager in
            let cache = try PluginKeyedCache(text, callbacks, limits, in: manager.manager)
            unsafe result.pointee = PluginRegistry.shared.add(cache, to: handle)
        }
    }
}

/// `pressurekit_access_key`
@_cdecl("pressurekit_access_key")
public func pluginAccessKey(
    _ handle: pressurekit_cache_t,
    _ key: UnsafeRawPointer?,
    _ keyCount: Int,
    _ pin: UnsafeMutablePointer<pressurekit_pin_t>?,
    _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> pressurekit_status {
    answer {
        guard let pin = unsafe pin, let bytes = unsafe bytes, let count = unsafe count else {
            throw PluginFailure.badArgument("pin, bytes or count is NULL.")
        }
        let key = unsafe try PluginKey(checking: key, keyCount)
        let (number, made) = try PluginRegistry.shared.addPin(of: handle) { (cache: PluginKeyedCache) in
            try cache.pin(key)
        }
        let value = unsafe made.bytes
        unsafe pin.pointee = number
        unsafe bytes.pointee = value.baseAddress
        unsafe count.pointee = value.count
    }
}

/// `pressurekit_set_key`
@_cdecl("pressurekit_set_key")
public func pluginSetKey(
    _ handle: pressurekit_cache_t,
    _ key: UnsafeRawPointer?,
    _ keyCount: Int,
    _ bytes: UnsafeRawPointer?,
    _ count: Int
) -> pressurekit_status {
    answer {
        let value = unsafe try PluginStructure.bytes(bytes, count)
        try withKeyedCache(handle, unsafe PluginKey(checking: key, keyCount)) { cache, key in
            unsafe try cache.set(value, for: key)
        }
    }
}

/// `pressurekit_update_key`
@_cdecl("pressurekit_update_key")
public func pluginUpdateKey(
    _ handle: pressurekit_cache_t,
    _ key: UnsafeRawPointer?,
    _ keyCount: Int,
    _ update: pressurekit_update_fn?,
    _ context: UnsafeMutableRawPointer?
) -> pressurekit_status {
    answer {
        guard let update = unsafe update else { throw PluginFailure.badArgument("update is NULL.") }
        try withKeyedCache(handle, unsafe PluginKey(checking: key, keyCount)) { cache, key in
            unsafe try cache.update(key) { unsafe update(context, $0.baseAddress, $0.count) }
        }
    }
}

/// `pressurekit_invalidate_key`
@_cdecl("pressurekit_invalidate_key")
public func pluginInvalidateKey(
    _ handle: pressurekit_cache_t,
    _ key: UnsafeRawPointer?,
    _ keyCount: Int
) -> pressurekit_status {
    answer {
        try withKeyedCache(handle, unsafe PluginKey(checking: key, keyCount)) { try $0.invalidate($1) }
    }
}

/// `pressurekit_get_key_residency`
@_cdecl("pressurekit_get_key_residency")
public func pluginKeyResidency(
    _ handle: pressurekit_cache_t,
    _ key: UnsafeRawPointer?,
    _ keyCount: Int,
    _ result: UnsafeMutablePointer<Int32>?
) -> pressurekit_status {
    answer {
        guard let result = unsafe result else { throw PluginFailure.badArgument("residency is NULL.") }
        let key = unsafe try PluginKey(checking: key, keyCount)
        unsafe result.pointee = try withKeyedCache(handle, key) { $0.residency($1) }
    }
}

/// `pressurekit_get_key_count`
@_cdecl("pressurekit_get_key_count")
public func pluginKeyCount(
    _ handle: pressurekit_cache_t,
    _ result: UnsafeMutablePointer<UInt64>?
) -> pressurekit_status {
    answer {
        guard let result = unsafe result else { throw PluginFailure.badArgument("keys is NULL.") }
        unsafe result.pointee = try PluginRegistry.shared.withKeyedCache(handle) {
            UInt64($0.count)
        }
    }
}

private func withKeyedCache<Result>(
    _ handle: pressurekit_cache_t,
    _ key: @autoclosure () throws -> PluginKey,
    _ body: (PluginKeyedCache, PluginKey) throws -> Result
) throws -> Result {
    let key = try key()
    return try PluginRegistry.shared.withKeyedCache(handle) { try body($0, key) }
}

extension PluginKey {
    /// A copy of a key that is passed in.
    ///
    /// - Throws: ``PluginFailure`` when there is none, or it is too long.
    fileprivate init(checking key: UnsafeRawPointer?, _ count: Int) throws {
        guard unsafe (key != nil || count == 0), (0...Self.mostBytes).contains(count) else {
            throw PluginFailure.badArgument("key is NULL, or key_count is not between 0 and \(Self.mostBytes).")
        }
        // The caller vouches for so many bytes.
        unsafe self.init(UnsafeRawBufferPointer(start: key, count: count))
    }
}
