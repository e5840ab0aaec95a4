import PressureSystem

/// Waiting for memory without a thread: one thread looks for all tasks that do, as each of the threads that wait looks for
/// itself. Waking tasks one by one would allocate, on the very thread that frees what they wait for.
extension Admission {
    /// As ``admit(_:isLoaded:)``, but suspends where that blocks.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before there is room.
    package func admitSuspending(_ expected: Int, isLoaded: Bool = false, isNested: Bool = false) async throws -> Pass {
        // Where one thing is done at a time, reclaims are waited for in the middle of all this.
        guard !isSequential else {
            return try await BlockingPool.restores.run { self.admit(expected, isLoaded: isLoaded, isNested: isNested) }
        }
        let (pass, supply) = begin(expected, isLoaded: isLoaded)
        guard let supply, !isNested || supply.room() != nil else { return pass }
        guard case .reclaim(let shortage) = await suspendingVerdict(on: pass.bytes, supply) else {
            letIn(supply)
            return pass
        }
        let last = await waitSuspending(for: pass, shortage, supply, isNested: isNested)
        guard last.mayGo else {
            end(last.pass)
            throw CancellationError()
        }
        return last.pass
    }

    /// As ``arrived(_:isNested:)``, but suspends where that blocks. Waits no longer when the task is cancelled.
    package func arrivedSuspending(_ bytes: Int, isNested: @autoclosure @Sendable () -> Bool = false) async {
        guard !isSequential else { return arrived(bytes, isNested: isNested()) }
        guard let supply = supplyFor(arrival: bytes) else { return }
        guard case .reclaim(let shortage) = await suspendingVerdict(on: bytes, supply) else {
            return keepWatermarks(supply)
        }
        _ = await waitSuspending(for: Pass(bytes: 0), shortage, supply, isNested: isNested())
    }

    private func suspendingVerdict(on bytes: Int, _ supply: Supply) async -> AdmissionLedger.Verdict {
        let first = judge(bytes, supply, at: clock.now())
        guard first == .look else { return first }
        // Reads files.
        return (try? await BlockingPool.restores.run { self.verdict(on: bytes, supply) }) ?? .go
    }

    /// Whether the load may go on, and with what; it may not when its task was cancelled.
    private func waitSuspending(
        for pass: Pass,
        _ shortage: ByteCount,
        _ supply: Supply,
        isNested: Bool = false
    ) async -> AdmissionSleepers.End {
        guard let wait = beginWaiting(for: pass, shortage, supply, isNested: isNested) else { return (pass, true) }
        let ticket = sleepers.takeTicket()
        return await withTaskCancellationHandler {
            // Resumed exactly once: by whoever takes it out of the list, or here when it was never in it.
            await Suspended.wait { task in
                let sleeper = AdmissionSleepers.Sleeper(ticket, wait, until: .now + patience, task)
                switch sleepers.add(sleeper) {
                case .isServed: books.wake()
                case .needsThread: Self.keepers.submit { [self] in serve() }
                case .isCancelled:
                    giveUp(wait)
                    sleeper.stop()
                }
            }
        } onCancel: {
            guard let sleeper = sleepers.remove(ticket) else { return }
            giveUp(sleeper.wait)
            books.wake()
            sleeper.stop()
        }
    }

    /// For those threads; there is work for one per manager.
    private static let keepers = BlockingPool(threads: 1, name: "pk-room")

    /// Looks for all that wait until nobody does.
    private func serve() {
        while let next = sleepers.nextDeadline() {
            let ready = books.wait(atMost: next - .now) {
                sleepers.takeReady({ look(&$0) }, isOver: { isOver(&$0, $1) })
            }
            // With nothing locked.
            for sleeper in ready ?? [] { sleeper.goOn() }
            for sleeper in sleepers.takeLate(at: .now, patience, isOver: { isOver(&$0, nil) }) { sleeper.goOn() }
        }
    }
}
