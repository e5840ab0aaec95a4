public import Dispatch
import PressureSystem

/// Memory pressure in Dispatch's own shape, so that code written for Apple's systems compiles.
///
/// ```swift
/// let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .main)
/// source.setEventHandler { [unowned source] in cache.trim(hard: source.data.contains(.critical)) }
/// source.activate()
/// ```
extension DispatchSource {
    /// Levels of memory pressure, as Dispatch names and numbers them.
    public struct MemoryPressureEvent: OptionSet, Sendable {
        /// The sum of the levels.
        public let rawValue: UInt

        /// Creates a set of levels.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The pressure is over.
        public static let normal = MemoryPressureEvent(rawValue: 1)
        /// Memory is short: let go of what is easily made again.
        public static let warning = MemoryPressureEvent(rawValue: 2)
        /// Memory is all but gone: let go of everything that can be.
        public static let critical = MemoryPressureEvent(rawValue: 4)
        /// All three.
        public static let all: MemoryPressureEvent = [.normal, .warning, .critical]
    }

    /// Makes a source that fires when the level of memory pressure becomes one of `eventMask`, and again while it stays
    /// there and memory is still short. Watching begins at once, the handlers run once the source is activated; it ends with
    /// `cancel()`, or when the source is released.
    ///
    /// Watches what ``PressureSource/automatic`` does. Where the system tells nothing, or no thread is left, it never
    /// fires, since the call cannot throw: ``PressureMonitor`` says why.
    ///
    /// - Parameters:
    ///   - eventMask: The levels to tell of.
    ///   - queue: Where the handlers run; by default a queue of Dispatch's own.
    public static func makeMemoryPressureSource(
        eventMask: MemoryPressureEvent,
        queue: DispatchQueue? = nil
    ) -> any DispatchSourceMemoryPressure {
        watched(mask: eventMask, sources: [.automatic], queue: queue).source
    }

    /// The same over other sources of pressure, with the monitor behind it; `nil` if there is nothing to watch.
    ///
    /// Dispatch lets nobody else implement its protocol, so this is one of its sources that join numbers by "or", into
    /// which the monitor's thread puts the levels. It ends soon after that source does: at its next sample.
    static func watched(
        mask: MemoryPressureEvent,
        sources: [PressureSource],
        queue: DispatchQueue?
    ) -> (source: DispatchSource, monitor: PressureMonitor?) {
        let merged = makeUserDataOrSource(queue: queue)
        // Every source that Dispatch makes is one of this class.
        let source = merged as! DispatchSource
        let target = Target(source)
        // One that cannot be opened is no reason to leave out the others.
        let opened = sources.flatMap { (try? $0.open()) ?? [] }
        guard !opened.isEmpty else { return (source, nil) }
        let monitor = try? PressureMonitor(sources: opened, sampled: { target.endIfUnwanted() }) { decision in
            let level = MemoryPressureEvent(decision.level)
            if mask.contains(level) { target.note(level) }
        }
        target.monitor.withLock { $0 = monitor }
        try? monitor?.start()
        return (source, monitor)
    }

    /// Where a monitor puts its levels. Keeps the monitor as long as somebody has the source.
    private final class Target: Sendable {
        private weak let source: DispatchSource?
        let monitor = Lock<PressureMonitor?>(nil)

        init(_ source: DispatchSource) { self.source = source }

        func note(_ event: MemoryPressureEvent) { source?.or(data: event.rawValue) }

        func endIfUnwanted() {
            if let source, !source.isCancelled { return }
            monitor.withLock { $0.take() }?.stop()
        }
    }
}

extension DispatchSource.MemoryPressureEvent {
    init(_ level: PressureLevel) {
        self =
            switch level {
            case .normal: .normal
            case .warning: .warning
            case .critical: .critical
            }
    }
}

/// A Dispatch source that fires on memory pressure.
public protocol DispatchSourceMemoryPressure: AnyObject, DispatchSourceProtocol {}

extension DispatchSource: DispatchSourceMemoryPressure {}

extension DispatchSourceMemoryPressure {
    /// The levels there were since the handler ran last; to be asked by the handler.
    public var data: DispatchSource.MemoryPressureEvent { .init(rawValue: (self as any DispatchSourceProtocol).data) }
}
