import Glibc
import PressureSignals
import PressureSystem
import Synchronization

/// Notices that nobody runs a manager whose caches fill up, and has it watch all the same.
///
/// A service that forgets ``PressureManager/run()``, or whose task for it never gets a thread, would be killed as if there were
/// no manager, and nothing would say why. A manager that was run and no longer is, was stopped on purpose.
final class Attendance: Sendable {
    /// What the caches hold before it is noticed: more than a quarter of what there is.
    private let most: Int
    /// Whether it still matters. Held while the watching begins, so that it does not begin after an end.
    private let isAwaited: Lock<Bool>
    /// Read with every load that nobody watches.
    private let isNoticed = Atomic<Bool>(false)

    /// - Parameters:
    ///   - limit: On the process's memory; `nil` for none: then there is the machine's memory.
    ///   - isAwaited: Whether anybody is to run the manager at all.
    init(below limit: ByteCount?, isAwaited: Bool) {
        most = (limit?.bytes ?? sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))) / 4
        self.isAwaited = Lock(isAwaited)
    }

    /// Somebody runs the manager, or has ended it.
    func close() { isAwaited.withLock { $0 = false } }

    /// Whether so many bytes in the caches of a manager that nobody runs are many; says so once.
    func notices(_ resident: Int) -> Bool {
        resident > most && !isNoticed.exchange(true, ordering: .relaxed)
    }

    /// Has the watching begin, on a thread that may block, unless somebody has run or ended the manager meanwhile.
    func begin(_ watch: @escaping @Sendable () -> Void) {
        BlockingPool.errands.submit {
            self.isAwaited.withLock { isAwaited in
                if isAwaited { watch() }
                isAwaited = false
            }
        }
    }
}

extension Attendance {
    /// What a load that nobody watches has looked at.
    func look(_ context: ManagerContext, _ monitor: PressureMonitor) -> @Sendable (_ resident: Int) -> Void {
        { [weak context, weak monitor] resident in
            guard self.notices(resident) else { return }
            self.begin { [weak context, weak monitor] in
                guard let context, let monitor else { return }
                context.log.unattended(with: resident)
                do throws(PressureError) {
                    try monitor.start()
                    try context.cleaner?.start()
                } catch {
                    context.log.notWatching(error)
                }
            }
        }
    }
}
