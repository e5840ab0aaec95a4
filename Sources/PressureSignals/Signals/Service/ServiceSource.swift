import CLinuxShims
import Glibc
package import PressureSystem

/// What the service manager watches for the process, by systemd's protocol: a pressure file of the kernel's, or a FIFO or
/// socket into which somebody writes when memory is short.
///
/// A notification demands warning for two seconds; the protocol knows one degree only. The notification of a pressure file counts only if
/// its totals have grown as they must: the first one is false on many kernels.
package final class ServiceSource: SignalSource {
    /// How long a notification counts.
    private static let hold = Duration.seconds(2)
    /// How soon what has ended is opened again.
    private static let patience = Duration.seconds(1)

    private enum Kind: CInt {
        case file = 0
        case fifo, socket
    }

    private struct State {
        var kind = Kind.file
        var descriptor: CInt = -1
        var totals: ProcFile?
        var some = 0
        var loop: EventLoop?
        var isWatched = false
        /// Bytes of ours that come back out of a FIFO.
        var echo = 0
        var hasFired = false
        var isVerified = false
        var demandedUntil: MonotonicInstant?
        /// It has ended, and is to be opened again from then on.
        var endedAt: MonotonicInstant?
        var hasEnded = false
        var failure: PressureError?
    }

    package let name: String
    private let write: [UInt8]
    private let threshold: Int
    private let state = Lock(State())

    /// Opens what the variables name.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when the service manager says nothing, says no, or names
    ///   what cannot be opened.
    package init(_ watch: ServiceWatch) throws(PressureError) {
        switch watch {
        case .absent:
            throw .serviceIsSilent(
                "\(ServiceWatch.watchVariable) is not set: the process is no service of systemd's, or it has MemoryPressureWatch=no."
            )
        case .off:
            throw .serviceIsSilent("The service manager has turned it off (\(ServiceWatch.watchVariable)=/dev/null).")
        case .invalid(let reason): throw .serviceIsSilent(reason)
        case .path(let path, let write):
            name = path
            self.write = write
            threshold = ServiceWatch.threshold(in: write)
            try state.withLock { (state: inout State) throws(PressureError) in try open(&state) }
        }
    }

    deinit { state.withLock { close(&$0) } }

    // MARK: Sampling

    package func sample(at now: MonotonicInstant) -> SignalReading? {
        state.withLock { state in
            if state.hasEnded { reopen(&state, at: now) }
            if state.hasFired {
                state.hasFired = false
                if isTrue(&state) {
                    state.isVerified = true
                    state.demandedUntil = now + Self.hold
                }
            }
            let isDemanding = state.demandedUntil.map { now < $0 } ?? false
            return SignalReading(
                origin: .service,
                source: name,
                measure: .demand(isDemanding ? .warning : .normal, freeing: nil),
                takenAt: now
            )
        }
    }

    private func isTrue(_ state: inout State) -> Bool {
        guard state.kind == .file else { return true }
        guard let some = state.totals?.read(StallTotals.parse)?.some else { return true }
        defer { state.some = some }
        return some - state.some >= threshold
    }

    // MARK: Opening and closing

    private func open(_ state: inout State) throws(PressureError) {
        let kind = unsafe pk_kind_of_path(name)  // the string outlives the call, here and below
        guard kind >= 0 else { throw .serviceUnreachable(name, errno: errno) }
        guard let kind = Kind(rawValue: kind) else {
            throw .serviceIsSilent("\(name) is neither a file nor a FIFO nor a socket.")
        }
        let descriptor =
            switch kind {
            case .file: unsafe pk_open_trigger(name)
            // Writing and reading, so that there is a partner from the start and no end until the FIFO itself is gone.
            case .fifo: unsafe write.isEmpty ? pk_open_wait(name) : pk_open_trigger(name)
            case .socket: unsafe pk_connect_unix(name)
            }
        guard descriptor >= 0 else { throw .serviceUnreachable(name, errno: errno) }
        if kind == .file {
            state.totals = try? ProcFile(path: name)
            state.some = state.totals?.read(StallTotals.parse)?.some ?? 0
        }
        if !write.isEmpty {
            // The bytes are read during the call only.
            let written = unsafe write.withUnsafeBytes { bytes in
                unsafe kind == .socket
                    ? pk_send_bytes(descriptor, bytes.baseAddress, bytes.count)
                    : pk_write_bytes(descriptor, bytes.baseAddress, bytes.count)
            }
            guard written == write.count else {
                let reason = errno
                Glibc.close(descriptor)
                throw .serviceUnreachable(name, errno: reason)
            }
        }
        state.kind = kind
        state.descriptor = descriptor
        state.echo = kind == .fifo ? write.count : 0
        state.failure = nil
        watch(&state)
    }

    private func watch(_ state: inout State) {
        guard let loop = state.loop, state.descriptor >= 0 else { return }
        state.isWatched = loop.watch(
            state.descriptor,
            for: state.kind == .file ? .urgent : .readable,
            tag: 0,
            receiver: self
        )
    }

    private func close(_ state: inout State) {
        guard state.descriptor >= 0 else { return }
        state.loop?.unwatch(state.descriptor)
        Glibc.close(state.descriptor)
        state.descriptor = -1
        state.isWatched = false
        state.totals = nil
    }

    private func reopen(_ state: inout State, at now: MonotonicInstant) {
        guard let endedAt = state.endedAt else {
            state.endedAt = now
            return
        }
        guard now - endedAt >= Self.patience else { return }
        state.endedAt = now
        do throws(PressureError) {
            try open(&state)
            state.hasEnded = false
            state.endedAt = nil
        } catch {
            state.failure = error
        }
    }

    // MARK: Waiting

    package func attach(to loop: EventLoop) {
        state.withLock { state in
            state.loop = loop
            watch(&state)
        }
    }

    package func detach(from loop: EventLoop) {
        state.withLock { state in
            guard state.loop === loop else { return }
            if state.descriptor >= 0 { loop.unwatch(state.descriptor) }
            state.isWatched = false
            state.loop = nil
        }
    }

    package func receive(_ event: EventLoop.Event) {
        state.withLock { state in
            if state.kind == .file {
                if event.failed { end(&state) } else { state.hasFired = true }
            } else {
                drain(&state, hungUp: event.failed)
            }
        }
    }

    /// Reads what has come, up to 16 KiB at a time; the rest is reported again.
    private func drain(_ state: inout State, hungUp: Bool) {
        guard state.descriptor >= 0 else { return }
        var total = 0
        for _ in 0..<16 {
            let count = Self.discard(state.descriptor)
            if count <= 0 {
                if count == 0 || errno != EAGAIN || hungUp { end(&state) }
                break
            }
            total += count
        }
        let ours = min(total, state.echo)
        state.echo -= ours
        if total > ours { state.hasFired = true }
    }

    private static func discard(_ descriptor: CInt) -> Int {
        var buffer = InlineArray<1024, UInt8>(repeating: 0)
        var bytes = buffer.mutableSpan
        // The kernel writes at most `count` bytes from the start.
        return unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
    }

    private func end(_ state: inout State) {
        close(&state)
        state.hasEnded = true
        state.endedAt = nil
    }

    package func reopenAfterFork() {
        state.withLock { state in
            close(&state)
            do throws(PressureError) {
                try open(&state)
            } catch {
                state.failure = error
                state.hasEnded = true
            }
        }
    }

    package var statuses: [SignalStatus] {
        state.withLock { state in
            var status = SignalStatus(
                origin: .service,
                source: name,
                state: state.isVerified ? .verified : .armed,
                detail: "The service manager has this watched for memory pressure."
            )
            if state.hasEnded {
                status.state = .unavailable
                status.detail = "It has ended, and is tried again each second."
                if let failure = state.failure { status.detail += " \(failure.message)" }
            } else if !state.isWatched {
                status.state = state.loop == nil ? .available : .unavailable
                if state.loop != nil { status.detail = "It is a plain file, on which nobody can wait." }
            }
            return [status]
        }
    }
}
