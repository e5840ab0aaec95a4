#if !THREAD_SANITIZER  // Makes or weighs processes.
import CLinuxShims
import Foundation
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// The limits of a process, each in a process of its own, on the real disk.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProcessLimitTests {
    /// Lets this process have no more of something; both limits, so that nothing can raise it again.
    private static func limit(_ resource: __rlimit_resource_t, to amount: Int) {
        var limit = rlimit()
        unsafe getrlimit(resource, &limit)
        limit.rlim_cur = rlim_t(amount)
        // The structure is this function's own.
        require(unsafe setrlimit(resource, &limit) == 0, "setrlimit")
    }

    /// Bytes of address space that are in use.
    private static var addressSpace: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (Int(text.split(separator: " ").first ?? "") ?? 0) * 4096
    }

    /// No descriptor is needed to spill and restore; what needs one fails with the reason, and works again.
    @Test func withoutDescriptorsItSpillsAndRestoresOn() async throws {
        let directory = try RealDirectory()
        defer { directory.remove() }
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            let manager = try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = path }
            let controller = try addController("app", to: manager.root)
            let value = makeBytes(1 << 20, seed: 1)
            let cache = try controller.cache("mine", initialValue: value)
            var held: [CInt] = []
            ProcessLimitTests.limit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), to: openDescriptors + 8)
            while case let descriptor = dup(2), descriptor >= 0 { held.append(descriptor) }

            let report = await manager.simulateMemoryWarning(.critical)
            require(report.failures.isEmpty && cache.residency == .spilled, "\(report)")
            require(try cache.withValue { isSame($0, value) }, "wrong bytes")
            do throws(PressureError) {
                _ = try await manager.saveState(to: path + "/state")
                require(false, "saved without a descriptor")
            } catch {
                require(error.errno == EMFILE, "\(error)")
            }
            do {
                _ = try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = path }
                require(false, "a manager without a descriptor")
            } catch {
                require((error as? PressureError)?.errno == EMFILE, "\(error)")
            }
            for descriptor in held { close(descriptor) }
            let before = openDescriptors
            _ = try await manager.saveState(to: path + "/state")
            // The lock of the directory is held.
            require(openDescriptors == before + 1, "\(before) descriptors, then \(openDescriptors)")
            exit(0)
        }
    }

    /// With one descriptor more each time, until there are enough: what was opened before it failed is closed.
    @Test func aManagerThatFindsTooFewDescriptorsLeavesNone() async throws {
        let directory = try RealDirectory()
        defer { directory.remove() }
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            // What the runtime opens once.
            _ = try? makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = path }
            let before = openDescriptors
            var failures = 0
            for more in 0..<60 {
                var limit = rlimit()
                unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let hard = limit.rlim_max
                // `openDescriptors` has one open itself.
                limit.rlim_cur = rlim_t(before - 1 + more)
                unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                var failure: (any Error)?
                do {
                    let manager = try makeManager(fileSystem: LinuxFileSystem()) {
                        $0.spillDirectory = path
                        $0.sources = [.automatic]
                        $0.copiesAhead = true
                    }
                    let task = Task { try await manager.run() }
                    task.cancel()
                    try await task.value
                } catch {
                    failure = error
                }
                limit.rlim_cur = hard
                unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                // Threads let go of theirs when they notice.
                for _ in 0..<2000 where openDescriptors > before { usleep(2000) }
                require(
                    openDescriptors <= before,
                    "with \(more): \(openDescriptors - before) are left, \(failure.debugDescription)"
                )
                guard let failure else { break }
                failures += 1
                require(failure is PressureError, "\(failure)")
            }
            require((1..<60).contains(failures), "\(failures) failures")
            exit(0)
        }
    }

    /// Without address space a restore is an error and not the end, and the value is still there.
    @Test func withoutAddressSpaceAValueStaysWhereItIs() async throws {
        let directory = try RealDirectory()
        defer { directory.remove() }
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            let manager = try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = path }
            let controller = try addController("app", to: manager.root)
            let value = makeBytes(64 << 20, seed: 1, randomBits: 0)
            let cache = try controller.cache("mine", initialValue: PageBuffer(value))
            let report = await manager.simulateMemoryWarning(.critical)
            require(cache.residency == .spilled, "\(report)")
            var before = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &before)
            ProcessLimitTests.limit(
                __rlimit_resource_t(RLIMIT_AS.rawValue),
                to: ProcessLimitTests.addressSpace + (24 << 20)
            )
            for _ in 0..<3 {
                do {
                    try cache.loadIfNeeded()
                    require(false, "restored without address space")
                } catch {
                    let error = error as? PressureError
                    require(error?.code == .restoreFailed && error?.path == "app/mine", "\(String(describing: error))")
                }
            }
            // Both are this function's own.
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &before)
            require(try cache.withValue { $0 == PageBuffer(value) }, "wrong bytes")
            exit(0)
        }
    }

    /// A write past the limit of a file's size is a signal that ends the process: the spill file stays below it.
    @Test func atTheLimitOfAFilesSizeValuesStay() async throws {
        let directory = try RealDirectory()
        defer { directory.remove() }
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            ProcessLimitTests.limit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), to: 1 << 20)
            let manager = try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = path }
            let controller = try addController("app", to: manager.root)
            let values = (0..<4).map { makeBytes(600_000, seed: UInt64($0), randomBits: 8) }
            let caches = try values.enumerated().map { try controller.cache("\($0.offset)", initialValue: $0.element) }
            let report = await manager.simulateMemoryWarning(.critical)
            require(Set(report.failures.map(\.code)) == [.diskFull], "\(report): \(report.failures)")
            require(caches.filter { $0.residency == .spilled }.count == 1, "\(caches.map(\.residency))")
            for (cache, value) in zip(caches, values) {
                require(try cache.withValue { isSame($0, value) }, "wrong bytes")
            }
            exit(0)
        }
    }

    /// The spill file has no name, so nobody can take it away; only a new manager needs the directory.
    @Test func aSpillDirectoryThatIsRemovedIsNotMissed() async throws {
        let directory = try RealDirectory()
        let manager = try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = directory.path }
        let controller = try addController("app", to: manager.root)
        let values = (0..<3).map { makeBytes(400_000, seed: UInt64($0)) }
        let caches = try values.enumerated().map { try controller.cache("\($0.offset)", initialValue: $0.element) }
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(directory.names == [])
        directory.remove()
        for (cache, value) in zip(caches, values) { #expect(try cache.withValue { isSame($0, value) }) }
        try caches[0].set(values[1])
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.failures.isEmpty)
        #expect(try caches[0].withValue { isSame($0, values[1]) })
        let error = #expect(throws: PressureError.self) {
            try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = directory.path }
        }
        #expect(error?.code == .spillDirectoryUnusable)
    }
}
#endif
