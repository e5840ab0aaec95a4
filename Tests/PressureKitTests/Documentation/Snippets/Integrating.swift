import Dispatch
import PressureKit
import PressureSignals

private final class Cache: Sendable {
    func removeAll() {}
    func trim(hard: Bool) {}
}

private func callback(cache: Cache) throws {
    let monitor = try PressureMonitor { cause in
        if cause.levelAfter >= .warning { cache.removeAll() }
    }
    try monitor.start()
}

private func loop(cache: Cache) async throws {
    for await cause in try PressureMonitor.changes() where cause.levelAfter >= .warning {
        cache.removeAll()
    }
}

private func dispatch(cache: Cache) {
    let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .main)
    source.setEventHandler { [unowned source] in cache.trim(hard: source.data.contains(.critical)) }
    source.activate()
}

private func manyValues(app: PressureController) async throws {
    let notes = try app.keyedCache("notes", key: String.self, value: String.self)
    notes.set("milk", for: "shopping")
    try notes.update(for: "log", default: "") { $0 += "opened\n" }
    let draft = try await notes.valueIfPresent(for: "draft")  // restored if it is spilled; nil if there is none
    let isKnown = notes.contains("draft")  // asks, and brings nothing back
    let names = notes.keys.sorted()  // of values in memory and in copies, at this moment
    notes.removeAll()
    _ = (draft, isKnown, names)
}

private struct Hour: Hashable {
    var series: String
    var number: Int
}

private func append(app: PressureController) throws {
    let points = try app.keyedCache("points", key: Hour.self, value: [Double].self)
    try points.update(for: Hour(series: "cpu", number: 491_520), default: []) { $0.append(0.25) }
}

private func fetchPrice(of product: String) async throws -> String { product }

private func growOld(app: PressureController) throws {
    let prices = try app.keyedCache(
        "prices",
        options: .init(timeToLive: .seconds(60), timeToIdle: .seconds(10), refreshAfter: .seconds(30))
    ) { (product: String) in try await fetchPrice(of: product) }
    _ = prices
}

private final class Image: Sendable {
    init(_ path: String) {}
}

private func fromNSCache(gallery: PressureController, path: String, decode: (String) -> Image) throws {
    let images: ObjectCache<String, Image> = try gallery.objectCache("images")
    images.countLimit = 1000
    images.setObject(decode(path), forKey: path, cost: 4 << 20)
    let image = images.object(forKey: path) ?? decode(path)
    _ = image
}

/// What happens to the caches of a controller.
final class Watcher: PressureControllerDelegate {
    let log: @Sendable (String) -> Void
    init(log: @escaping @Sendable (String) -> Void) { self.log = log }

    func levelDidChange(_ cause: PressureCause) { log("level: \(cause.levelAfter)") }
    func didReceiveMemoryWarning(_ warning: MemoryWarning) { log("warned: \(warning.level)") }
    func shouldEvict(_ resource: PressureResource) -> Bool { resource.name != "open" }
    func resourceDidLoad(_ resource: PressureResource) { log("loaded: \(resource)") }
    func resourceDidEvict(_ resource: PressureResource) { log("evicted: \(resource)") }
    func resourceDidRestore(_ resource: PressureResource) { log("restored: \(resource)") }
    func evictionDidEnd(_ report: EvictionReport) { log("done: \(report)") }
    func handle(_ failure: ResourceFailure) -> Bool {
        log("failed: \(failure.resource), \(failure.error)")
        return true  // it goes no further
    }
}

private struct Client {
    func get(_ path: String) async throws -> [UInt8] { Array(path.utf8) }
}

private func suspend(site: PressureController, client: Client) async throws {
    let pages = try site.keyedCache("pages") { (path: String) in try await client.get(path) }
    let page = try await pages.value(for: "/index.html")
    let length = try await pages.withValue(for: "/index.html") { $0.count }
    let many = try await pages.values(for: ["/1", "/2", "/3"], atMost: 2)
    _ = (page, length, many)
}
