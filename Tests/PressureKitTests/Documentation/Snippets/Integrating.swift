import Dispatch
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
