import PressureKitTestSupport

@testable import PressureKit

extension Track {
    /// Has the track be the value of a cache.
    func connect(_ cache: LazyCache<[UInt8]>) {
        connect(
            Verbs(
                read: { body in try cache.withValue { body($0) } },
                readIfLoaded: { body in cache.ifLoaded { body($0) } },
                lease: { [self] body in
                    let lease = try await cache.lease()
                    if !isSame(await body(lease.value), lease.value) { complain("a leased value changed") }
                },
                set: { try cache.set($0) },
                update: { body in try cache.update { $0 = body($0) } },
                invalidate: { try cache.invalidate() }
            )
        )
    }

    /// Has the track be one of the values of a cache.
    func connect(_ cache: KeyedCache<Int, [UInt8]>, _ key: Int) {
        connect(
            Verbs(
                read: { body in try cache.withValue(for: key) { body($0) } },
                readIfLoaded: { body in cache.ifLoaded(for: key) { body($0) } },
                lease: { [self] body in
                    let lease = try await cache.lease(for: key)
                    if !isSame(await body(lease.value), lease.value) { complain("a leased value changed") }
                },
                set: { cache.set($0, for: key) },
                update: { body in try cache.update(for: key) { $0 = body($0) } },
                invalidate: { cache.invalidate(for: key) }
            )
        )
    }

    /// The same with pages of their own, which a limited cache reuses.
    func connect(_ cache: KeyedCache<Int, PageBuffer>, _ key: Int) {
        connect(
            Verbs(
                read: { body in try cache.withValue(for: key) { body($0.array) } },
                readIfLoaded: { body in cache.ifLoaded(for: key) { body($0.array) } },
                lease: { [self] body in
                    let lease = try await cache.lease(for: key)
                    if !isSame(await body(lease.value.array), lease.value.array) { complain("a leased value changed") }
                },
                set: { cache.set(PageBuffer($0), for: key) },
                update: { body in try cache.update(for: key) { $0 = PageBuffer(body($0.array)) } },
                invalidate: { cache.invalidate(for: key) }
            )
        )
    }
}

extension PageBuffer {
    /// A copy of the bytes.
    var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
