public import CPressureKit
import PressureKit

// The functions of pressurekit.h, which says what they do. Here is only what passes the border: pointers are looked at
// once, and no error or trap goes over it.

/// `pressurekit_abi_version`
@_cdecl("pressurekit_abi_version")
public func pluginVersionOfInterface() -> UInt32 { UInt32(PRESSUREKIT_ABI_VERSION) }

private let version: StaticString = "0.1.0"

/// `pressurekit_version`
@_cdecl("pressurekit_version")
public func pluginVersion() -> UnsafePointer<CChar>? {
    // A literal ends with a zero and lives for ever.
    unsafe UnsafeRawPointer(version.utf8Start).assumingMemoryBound(to: CChar.self)
}

// MARK: Managers

/// `pressurekit_create`
@_cdecl("pressurekit_create")
public func pluginCreate(
    _ options: UnsafePointer<pressurekit_options>?,
    _ result: UnsafeMutablePointer<pressurekit_manager_t>?
) -> pressurekit_status {
    answer {
        guard let result = unsafe result else { throw PluginFailure.badArgument("manager is NULL.") }
        let configuration = unsafe try PressureConfiguration(plugin: options)
        let manager = try PluginManager(configuration, watches: !configuration.sources.isEmpty)
        // The caller's variable, here and below.
        unsafe result.pointee = PluginRegistry.shared.add(manager)
    }
}

/// `pressurekit_destroy`
@_cdecl("pressurekit_destroy")
public func pluginDestroy(_ handle: pressurekit_manager_t) -> pressurekit_status {
    answer {
        let (manager, caches) = try PluginRegistry.shared.removeManager(handle)
        for cache in caches { cache.end() }
        manager.end()
    }
}

// MARK: Caches

/// `pressurekit_add_cache`
@_cdecl("pressurekit_add_cache")
public func pluginAddCache(
    _ handle: pressurekit_manager_t,
    _ name: UnsafePointer<CChar>?,
    _ options: UnsafePointer<pressurekit_cache_options>?,
    _ result: UnsafeMutablePointer<pressurekit_cache_t>?
) -> pressurekit_status {
    answer {
        guard let result = unsafe result, let name = unsafe name else {
            throw PluginFailure.badArgument("name or cache is NULL.")
        }
        let text = unsafe try PluginStructure.text(name, "name", atMost: 255)
        var read = unsafe pressurekit_cache_options()
        if let options = unsafe options {
            unsafe read = try PluginStructure.read(options, into: read)
            guard unsafe read.reserved == (0, 0, 0, 0) else {
                throw PluginFailure.badArgument(
                    "A reserved member is not 0; begin with PRESSUREKIT_CACHE_OPTIONS_INIT."
                )
            }
        }
        let callbacks = unsafe PluginCallbacks(of: text, read)
        try PluginRegistry.shared.withManager(handle) { manager in
            let cache = try PluginCache(text, callbacks, in: manager.manager)
            unsafe result.pointee = PluginRegistry.shared.add(cache, to: handle)
        }
    }
}

/// `pressurekit_remove_cache`
@_cdecl("pressurekit_remove_cache")
public func pluginRemoveCache(_ handle: pressurekit_cache_t) -> pressurekit_status {
    answer { try PluginRegistry.shared.removeCache(handle).end() }
}

/// `pressurekit_access`
@_cdecl("pressurekit_access")
public func pluginAccess(
    _ handle: pressurekit_cache_t,
    _ pin: UnsafeMutablePointer<pressurekit_pin_t>?,
    _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> pressurekit_status {
    answer {
        guard let pin = unsafe pin, let bytes = unsafe bytes, let count = unsafe count else {
            throw PluginFailure.badArgument("pin, bytes or count is NULL.")
        }
        let (number, made) = try PluginRegistry.shared.addPin(of: handle) { (cache: PluginCache) in try cache.pin() }
        let value = unsafe made.bytes
        unsafe pin.pointee = number
        unsafe bytes.pointee = value.baseAddress
        unsafe count.pointee = value.count
    }
}

/// `pressurekit_unpin`
@_cdecl("pressurekit_unpin")
public func pluginUnpin(_ handle: pressurekit_pin_t) -> pressurekit_status {
    answer { try PluginRegistry.shared.removePin(handle) }
}

/// `pressurekit_set`
@_cdecl("pressurekit_set")
public func pluginSet(_ handle: pressurekit_cache_t, _ bytes: UnsafeRawPointer?, _ count: Int) -> pressurekit_status {
    answer {
        let value = unsafe try PluginStructure.bytes(bytes, count)
        try PluginRegistry.shared.withCache(handle) { cache in unsafe try cache.set(value) }
    }
}

/// `pressurekit_update`
@_cdecl("pressurekit_update")
public func pluginUpdate(
    _ handle: pressurekit_cache_t,
    _ update: pressurekit_update_fn?,
    _ context: UnsafeMutableRawPointer?
) -> pressurekit_status {
    answer {
        guard let update = unsafe update else { throw PluginFailure.badArgument("update is NULL.") }
        try PluginRegistry.shared.withCache(handle) { cache in
            unsafe try cache.update { unsafe update(context, $0.baseAddress, $0.count) }
        }
    }
}

/// `pressurekit_invalidate`
@_cdecl("pressurekit_invalidate")
public func pluginInvalidate(_ handle: pressurekit_cache_t) -> pressurekit_status {
    answer { try PluginRegistry.shared.withCache(handle) { try $0.invalidate() } }
}

/// `pressurekit_set_visible`
@_cdecl("pressurekit_set_visible")
public func pluginSetVisible(_ handle: pressurekit_cache_t, _ isVisible: Int32) -> pressurekit_status {
    answer { try PluginRegistry.shared.withAnyCache(handle) { $0.show(isVisible != 0) } }
}

/// `pressurekit_get_residency`
@_cdecl("pressurekit_get_residency")
public func pluginResidency(
    _ handle: pressurekit_cache_t,
    _ result: UnsafeMutablePointer<Int32>?
) -> pressurekit_status {
    answer {
        guard let result = unsafe result else { throw PluginFailure.badArgument("residency is NULL.") }
        unsafe result.pointee = try PluginRegistry.shared.withCache(handle) { $0.residency }
    }
}

// MARK: Memory

/// `pressurekit_warn`
@_cdecl("pressurekit_warn")
public func pluginWarn(
    _ handle: pressurekit_manager_t,
    _ level: Int32,
    _ bytes: UInt64,
    _ result: UnsafeMutablePointer<pressurekit_report>?
) -> pressurekit_status {
    answer {
        let level: PressureLevel =
            switch Int(level) {
            case Int(PRESSUREKIT_WARNING): .warning
            case Int(PRESSUREKIT_CRITICAL): .critical
            default: throw PluginFailure.badArgument("level is neither PRESSUREKIT_WARNING nor PRESSUREKIT_CRITICAL.")
            }
        guard bytes <= 1 << 60 else { throw PluginFailure.badArgument("bytes is more than 2^60.") }
        let amount = bytes > 0 ? ByteCount.bytes(Int(bytes)) : nil
        unsafe try reclaim(handle, result) {
            $0.warnAndWait(level, freeing: amount, source: "pressurekit_warn")
        }
    }
}

/// `pressurekit_enter_background`
@_cdecl("pressurekit_enter_background")
public func pluginEnterBackground(
    _ handle: pressurekit_manager_t,
    _ result: UnsafeMutablePointer<pressurekit_report>?
) -> pressurekit_status {
    answer { unsafe try reclaim(handle, result) { $0.enterBackgroundAndWait(source: "pressurekit_enter_background") } }
}

/// `pressurekit_enter_foreground`
@_cdecl("pressurekit_enter_foreground")
public func pluginEnterForeground(_ handle: pressurekit_manager_t) -> pressurekit_status {
    answer {
        try PluginRegistry.shared.withManager(handle) { manager in
            // What comes back may be the very value that this callback makes, or changes.
            guard !PluginRegistry.shared.isCallingBack(handle) else { throw PluginFailure.isCallback }
            manager.enterForeground()
        }
    }
}

private func reclaim(
    _ handle: pressurekit_manager_t,
    _ result: UnsafeMutablePointer<pressurekit_report>?,
    _ reclaim: (PressureManager) -> EvictionReport
) throws {
    // Before anything is done: a result that cannot be written is no reason to forget what was freed.
    if let result = unsafe result { unsafe try PluginStructure.write(pressurekit_report(), to: result) }
    let report = try PluginRegistry.shared.withManager(handle) { manager in
        // The reclaim that warns waits for its callback.
        guard !manager.isTellingOnThisThread else { throw PluginFailure.isCallback }
        return reclaim(manager.manager)
    }
    if let result = unsafe result { unsafe try PluginStructure.write(pressurekit_report(report), to: result) }
}

/// `pressurekit_get_statistics`
@_cdecl("pressurekit_get_statistics")
public func pluginStatistics(
    _ handle: pressurekit_manager_t,
    _ result: UnsafeMutablePointer<pressurekit_statistics>?
) -> pressurekit_status {
    answer {
        guard let result = unsafe result else { throw PluginFailure.badArgument("statistics is NULL.") }
        let statistics = try PluginRegistry.shared.withManager(handle) {
            pressurekit_statistics($0.manager.snapshot(), isInBackground: $0.manager.isInBackground)
        }
        unsafe try PluginStructure.write(statistics, to: result)
    }
}
