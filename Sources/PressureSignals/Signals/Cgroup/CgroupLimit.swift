package import PressureSystem

/// The memory limit that the process's cgroups set it, looked up on the spot.
package enum CgroupLimit {
    /// The least limit of all cgroups that the process is in, as far as they can be seen; `nil` when there is none.
    /// Opens and reads a few files of the kernel's; allocates.
    package static func least(_ context: SignalContext) -> ByteCount? {
        guard let layout = CgroupLayout.current(context) else { return nil }
        var levels: [any CgroupLevel] = layout.unified.compactMap { try? UnifiedLevel(directory: $0) }
        levels += layout.memory.compactMap { try? LegacyLevel(directory: $0) }
        return levels.compactMap { $0.usage()?.limit }.min()
    }
}

extension CgroupLayout {
    /// Where the process is now; `nil` when that cannot be told. Reads a few files of the kernel's; allocates.
    ///
    /// - Parameter controller: the one of version 1 whose directories are told, in ``memory``.
    package static func current(_ context: SignalContext, controller: String = "memory") -> CgroupLayout? {
        guard var locator = try? CgroupLocator(context: context, controller: controller) else { return nil }
        return locator.changedLayout(isLost: true, at: MonotonicInstant(nanoseconds: 0))
    }
}
