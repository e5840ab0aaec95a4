import PressureSignals

/// How a manager stands, as `status` tells it.
package struct ControlStatus: Sendable {
    /// The process's number.
    package var process: Int
    /// What the manager knows.
    package var snapshot: PressureSnapshot
    /// Why the level is what it is, or why memory was wanted last.
    package var cause: PressureCause?
    /// Whether the app is in the background.
    package var isInBackground: Bool

    /// Controllers further down are left out and counted. The root is at depth 0.
    static let deepest = 8
    /// Bytes kept for what is written after the controllers.
    private static let rest = 1024

    /// Writes its members.
    func write(to json: inout JSONLine) {
        json.member("process", process)
        json.member("level", "\(snapshot.level)")
        json.member("score", snapshot.score)
        json.member("cause", cause.map { "\($0)" })
        json.member("background", isInBackground)
        json.member("headroom") { json in
            json.member("available_bytes", snapshot.available)
            json.member("reclaimable_bytes", snapshot.reclaimable)
            json.member("limit_bytes", snapshot.limit)
        }
        if let use = snapshot.use { write(use, to: &json) }
        if let neighbours = snapshot.neighbours {
            json.member("neighbours") { json in
                json.member("count", neighbours.count)
                json.member("held", neighbours.held)
                json.member("budget", neighbours.budget)
            }
        }
        writeBytes(to: &json)
        writeCounts(to: &json)
        json.member("signals", Array(snapshot.signals.prefix(16))) { json, signal in
            json.member("origin", signal.origin.rawValue)
            json.member("source", String(signal.source.prefix(256)))
            json.member("state", signal.state.rawValue)
        }
        var leftCaches = 0
        let leftControllers = json.member("controllers", snapshot.controllers, until: Self.leavesOut) {
            json,
            controller in
            leftCaches += write(controller, to: &json)
        }
        json.member("left_out") { json in
            json.member("controllers", leftControllers)
            json.member("caches", leftCaches)
        }
    }

    private static func leavesOut(_ json: JSONLine, _ controller: PressureSnapshot.Controller) -> Bool {
        let depth = controller.path.isEmpty ? 0 : controller.path.utf8.count { $0 == UInt8(ascii: "/") } + 1
        return depth > deepest || isFull(json, path: controller.path)
    }

    /// Whether there is no room for what has this path: some 400 bytes, and a path that is six times as long when all of
    /// it has to be escaped.
    private static func isFull(_ json: JSONLine, path: String) -> Bool {
        json.bytes.count + 6 * path.utf8.count + 400 + rest > ControlAnswer.mostBytes
    }

    private func write(_ use: PressureSnapshot.Use, to json: inout JSONLine) {
        json.member("use") { json in
            json.member("values", use.values)
            json.member("copies", use.copies)
            json.member("heap", use.heap)
            json.member("process", use.process)
            json.member("others", use.others)
            json.member("page_cache", use.pageCache)
            json.member("free", use.free)
        }
    }

    private func writeBytes(to json: inout JSONLine) {
        let tiers = snapshot.tiers
        json.member("bytes") { json in
            json.member("process_resident", snapshot.processResident)
            json.member("resident", tiers.resident)
            json.member("clean", tiers.clean)
            json.member("compressed", tiers.compressed)
            json.member("compressed_in_memory", snapshot.compressedInMemory)
            json.member("spilled", tiers.spilled)
            json.member("copied", snapshot.copied)
            json.member("stored", snapshot.stored)
            json.member("spill_file", snapshot.spillFile)
            json.member("demoted", snapshot.demoted)
        }
    }

    private func writeCounts(to json: inout JSONLine) {
        let caches = snapshot.controllers.flatMap(\.caches)
        func sum(_ count: (PressureSnapshot.Cache) -> Int) -> Int { caches.reduce(0) { $0 + count($1) } }
        json.member("counts") { json in
            json.member("controllers", snapshot.controllers.count)
            json.member("caches", caches.count)
            json.member("loads", sum(\.loads))
            json.member("restores", sum(\.restores))
            json.member("evictions", sum(\.evictions))
            json.member("refaults", sum(\.refaults))
            json.member("failures", sum(\.failures))
        }
    }

    /// - Returns: how many caches were left out.
    private func write(_ controller: PressureSnapshot.Controller, to json: inout JSONLine) -> Int {
        json.member("path", controller.path)
        json.member("visible", controller.isVisible)
        return json.member("caches", controller.caches, until: { Self.isFull($0, path: $1.path) }) { json, cache in
            json.member("path", cache.path)
            json.member("residency", "\(cache.residency)")
            json.member("bytes", cache.byteCount)
            json.member("resident", cache.tiers.resident)
            json.member("clean", cache.tiers.clean)
            json.member("compressed", cache.tiers.compressed)
            json.member("spilled", cache.tiers.spilled)
            json.member("pins", cache.pins)
            json.member("loads", cache.loads)
            json.member("restores", cache.restores)
            json.member("evictions", cache.evictions)
            json.member("refaults", cache.refaults)
            json.member("failures", cache.failures)
        }
    }
}
