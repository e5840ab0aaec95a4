import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSignals
@testable import SpillStore

@Suite struct ReservesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var limit: Int?
        var processors: Int
        var quota: Double?
        var workers: Int
        /// KiB.
        var window: Int
        var writeback: Int
        var warm: Int

        init(_ limit: Int?, _ processors: Int, _ quota: Double?, _ sizes: (Int, Int, Int, Int)) {
            (self.limit, self.processors, self.quota) = (limit, processors, quota)
            (workers, window, writeback, warm) = sizes
        }

        var testDescription: String {
            "\(limit.map { "\($0) MiB" } ?? "no limit"), \(processors) processors, quota \(quota.map { "\($0)" } ?? "none")"
        }
    }

    @Test(arguments: [
        Case(64, 1, nil, (1, 2048, 4096, 2048)), Case(64, 2, nil, (2, 2048, 4096, 2048)),
        Case(64, 64, nil, (4, 2048, 4096, 2048)), Case(64, 64, 2, (2, 2048, 4096, 2048)),
        Case(96, 1, nil, (1, 3072, 6144, 3072)), Case(96, 2, nil, (2, 3072, 6144, 3072)),
        Case(96, 64, nil, (6, 3072, 6144, 3072)), Case(96, 64, 0.5, (1, 3072, 6144, 3072)),
        Case(128, 1, nil, (1, 4096, 8192, 4096)), Case(128, 2, nil, (2, 4096, 8192, 4096)),
        Case(128, 64, nil, (8, 4096, 8192, 4096)), Case(128, 64, 1.5, (2, 4096, 8192, 4096)),
        Case(256, 1, nil, (1, 8192, 16384, 8192)), Case(256, 2, nil, (2, 8192, 16384, 8192)),
        Case(256, 64, nil, (16, 8192, 16384, 8192)), Case(256, 64, 8, (8, 8192, 16384, 8192)),
        Case(4096, 1, nil, (1, 8192, 3 * 8192, 8192)), Case(4096, 2, nil, (2, 8192, 4 * 8192, 8192)),
        Case(4096, 64, nil, (64, 8192, 262_144, 8192)), Case(4096, 64, 4, (4, 8192, 6 * 8192, 8192)),
        Case(nil, 1, nil, (1, 8192, 3 * 8192, 8192)), Case(nil, 2, nil, (2, 8192, 4 * 8192, 8192)),
        Case(nil, 64, nil, (64, 8192, 66 * 8192, 8192)), Case(nil, 64, 2.5, (3, 8192, 5 * 8192, 8192)),
        Case(nil, 2, 16, (2, 8192, 4 * 8192, 8192)),
        // Nothing is too small to work with.
        Case(0, 64, 0, (1, 512, 1024, 0)), Case(8, 0, nil, (1, 512, 1024, 256)),
    ])
    func sizesFollowLimitAndProcessors(_ row: Case) {
        let reserves = Reserves(limit: row.limit.map { .mebibytes($0) }, processors: row.processors, quota: row.quota)
        #expect(reserves.workers == row.workers)
        #expect(reserves.window == row.window << 10)
        #expect(reserves.writeback == row.writeback << 10)
        #expect(reserves.warmPages == row.warm << 10)
    }

    /// A sixty-fourth of the limit; what that is in values is for the storage to say.
    @Test(arguments: [64, 96, 128]) func plansTakeAPartOfTheLimit(limit: Int) {
        let reserves = Reserves(limit: .mebibytes(limit), processors: 2, quota: nil)
        let storage = PlanStorage(most: reserves.plannedValues)
        storage.reserve(values: 1_000_000, caches: 1)
        #expect(storage.capacity == reserves.plannedValues)
        let bytes = storage.capacity * PlanStorage.bytesOfValue
        #expect((limit << 14) - PlanStorage.bytesOfValue < bytes && bytes <= limit << 14)
    }

    @Test(arguments: [(nil, 32 << 10), (1 << 20, 32 << 10), (8, 1024), (0, 1024)])
    func plansAreNeitherSmallerNorLargerThanIsOfUse(limit: Int?, values: Int) {
        #expect(Reserves(limit: limit.map { .mebibytes($0) }, processors: 2, quota: nil).plannedValues == values)
    }

    @Test func theAppsNumberOfWorkersHolds() {
        #expect(Reserves(limit: .mebibytes(64), processors: 1, quota: 1, workers: 5).workers == 5)
    }

    /// Whoever waits for a server takes no processor, but scratch.
    @Test(arguments: [(64, 1, 4, 4), (64, 1, 16, 4), (256, 2, 4, 4), (256, 8, 4, 4), (32, 1, 4, 2), (256, 1, 1, 1)])
    func aServerTakesSeveralRequestsAtATime(limit: Int, processors: Int, requests: Int, workers: Int) {
        let reserves = Reserves(limit: .mebibytes(limit), processors: processors, quota: 0.5, requests: requests)
        #expect(reserves.workers == workers)
    }

    // MARK: Quota

    @Test(
        arguments: [
            ("150000 100000\n", 1.5), ("max 100000\n", nil), ("50000 100000\n", 0.5), ("100000", nil), ("", nil),
            ("100000 0\n", nil), ("99999999999999999999 100000\n", nil),
        ] as [(String, Double?)]
    )
    func readsAQuota(text: String, quota: Double?) {
        #expect(ProcessorQuota.parse(text.utf8.span) == quota)
    }

    @Test func theLeastQuotaOfAllAncestorsBinds() throws {
        let root = try FakeRoot()
        try root.enterUnified("/app/worker")
        for (directory, text) in [("app/worker", "max 100000"), ("app", "250000 100000"), ("", "800000 100000")] {
            try root.write("/sys/fs/cgroup/\(directory)/cpu.max", text + "\n")
        }
        let quota = ProcessorQuota(root.context)
        #expect(quota.least() == 2.5)
        try root.write("/sys/fs/cgroup/app/worker/cpu.max", "50000 100000\n")
        #expect(quota.least() == 0.5)
        #expect(ProcessorQuota(try FakeRoot().context).least() == nil)
    }

    @Test func versionOneHasAQuotaToo() throws {
        let root = try FakeRoot()
        try root.write("/proc/self/cgroup", "4:memory:/m\n3:cpu,cpuacct:/app\n")
        try root.write(
            "/proc/self/mountinfo",
            """
            30 20 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
            31 20 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct

            """
        )
        for (directory, quota) in [("app", "300000"), ("", "-1")] {
            try root.write("/sys/fs/cgroup/cpu/\(directory)/cpu.cfs_quota_us", quota + "\n")
            try root.write("/sys/fs/cgroup/cpu/\(directory)/cpu.cfs_period_us", "100000\n")
        }
        #expect(ProcessorQuota(root.context).least() == 3)
    }

    // MARK: Following

    /// A manager on 64 processors under a limit that changes while it runs.
    @Test func sizesFollowWhileTheManagerRuns() throws {
        let root = try FakeRoot()
        try root.enterUnified("/app")
        try root.makeUnified("/app", current: 10 << 20, max: "max")
        try root.write("/sys/fs/cgroup/app/cpu.max", "200000 100000\n")
        let clock = ManualClock()
        var configuration = PressureConfiguration()
        configuration.sources = []
        configuration.spillDirectory = "/var/tmp"
        configuration.fileSystem = InMemoryFileSystem()
        configuration.clock = clock
        configuration.limits = root.context
        configuration.processors = { 64 }
        let manager = try PressureManager(configuration: configuration)
        let engine = manager.context.engine
        #expect(engine.workers == 2)
        #expect(!engine.file.limits.bypassPageCache)

        // The source that reads the limits anyway says what they are.
        var context = configuration.signalContext(engine: engine)
        (context.root, context.environment) = (root.path, [:])
        let source = try CgroupSource(context: context)
        var readings = [SignalReading?](repeating: nil, count: source.width)
        func sample() {
            clock.advance(by: ReclaimEngine.Followed.patience)
            source.sample(at: clock.now(), into: &readings, from: 0)
        }
        engine.reserve(values: 100_000, caches: 1)
        func plannedValues() throws -> Int {
            let storage = try #require(engine.storage.take())
            defer { engine.storage.putBack(storage) }
            return storage.capacity
        }
        func sizes() -> (workers: Int, window: Int, writeback: Int, bypasses: Bool) {
            let window = engine.file.state.withLock { ($0.window.length, $0.window.most) }
            return (engine.workers, window.0, window.1, engine.file.limits.bypassPageCache)
        }
        sample()
        #expect(sizes() == (2, 8 << 20, 32 << 20, false))
        #expect(try plannedValues() == PlanStorage.mostCandidates)
        try root.write("/sys/fs/cgroup/app/memory.max", "\(64 << 20)\n")
        sample()
        #expect(sizes() == (2, 2 << 20, 4 << 20, true))
        #expect(engine.pool.givesBack)
        #expect(try plannedValues() < 8192)
        try root.write("/sys/fs/cgroup/app/cpu.max", "max 100000\n")
        sample()
        #expect(sizes() == (4, 2 << 20, 4 << 20, true))
        try root.write("/sys/fs/cgroup/app/memory.max", "\(1 << 30)\n")
        sample()
        #expect(sizes() == (64, 8 << 20, 64 << 20, true))
        #expect(try plannedValues() == PlanStorage.mostCandidates)
        #expect(engine.pool.threads == 64)
        try root.write("/sys/fs/cgroup/app/memory.max", "max\n")
        try root.write("/sys/fs/cgroup/app/cpu.max", "100000 100000\n")
        sample()
        #expect(sizes() == (1, 8 << 20, 24 << 20, false))
        #expect(!engine.pool.givesBack, "scratch is kept where no limit counts it")
        #expect(engine.pool.threads == 64)
    }

    @Test func whatTheAppHasSaidIsNotFollowed() throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem(), workers: 3) { $0.bypassesPageCache = false }
        let engine = manager.context.engine
        engine.follow(.mebibytes(64))
        #expect(engine.workers == 3)
        #expect(!engine.file.limits.bypassPageCache)
    }

    /// In place of a disk: with one, a server is written to in idle time by a thread that waits for each answer anyway.
    @Test(arguments: [(true, 3), (false, 1)]) func aThreadWritesOnEachConnection(replacesDisk: Bool, workers: Int)
        throws
    {
        let server = FaultyFileSystem(InMemoryFileSystem(), server: "Redis at a test")
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { configuration in
            configuration.workers = nil
            configuration.processors = { 1 }
            configuration.limits.root = "/nonexistent"
            configuration.behindDisk = RemoteOptions(
                fileSystem: server,
                path: "/var/tmp",
                replacesDisk: replacesDisk,
                connections: 3
            )
        }
        let engine = manager.context.engine
        #expect(engine.workers == workers)
        #expect((engine.primary.server != nil) == replacesDisk)
        engine.follow(.mebibytes(32))
        #expect(engine.workers == min(workers, 2))
    }
}
