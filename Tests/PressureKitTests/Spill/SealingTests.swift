#if Encryption
import CAllocationCounter
import Crypto
import Foundation
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import SpillStore

/// What lies in the file of a manager that seals says nothing, and is nothing but what was sealed.
@Suite struct SealingTests {
    /// A sentence that appears nowhere else.
    private static let secret = Array("the account of Ada Lovelace holds 1815 pounds; ".utf8)

    private static func confession(_ count: Int) -> [UInt8] { (0..<count).map { secret[$0 % secret.count] } }

    private static func appears(_ needle: [UInt8], in bytes: [UInt8]) -> Bool {
        Data(bytes).range(of: Data(needle)) != nil
    }

    @Test(arguments: [true, false]) func whatIsSpilledIsReadableToNobodyElse(isSealed: Bool) async throws {
        let disk = InMemoryFileSystem()
        let manager = try makeManager(fileSystem: disk) {
            $0.encryptsSpills = isSealed
            $0.compression = .stored
        }
        let controller = try addController("bank", to: manager.root)
        let large = try controller.cache("large", initialValue: Self.confession(600_000))
        let small = try (0..<40).map {
            try controller.cache("small\($0)", initialValue: Self.confession(100 + 97 * $0))
        }
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(large.residency == .spilled && small.allSatisfy { $0.residency == .spilled })
        let descriptor = try #require(disk.descriptors.first)
        // Without a cipher the sentence is there: so it would be found.
        #expect(Self.appears(Self.secret, in: disk.contents(descriptor)) == !isSealed)
        #expect(try await large.value() == Self.confession(600_000))
        for (index, cache) in small.enumerated() {
            #expect(try await cache.value() == Self.confession(100 + 97 * index))
        }
    }

    @Test(arguments: Content.allCases, CompressionChoice.allCases)
    func whatIsSealedIsOpened(_ content: Content, _ choice: CompressionChoice) throws {
        let fixture = try SpillFixture(InMemoryFileSystem(), cipher: SpillCipher())
        let chunks = [1, 2, 4095, 4096, 4097, 65_537, 262_144].map { content.bytes($0, seed: UInt64($0)) }
        let records = try chunks.map { try fixture.write($0, choice) }
        for (record, bytes) in zip(records, chunks) { #expect(try fixture.read(record) == bytes) }
    }

    /// The same nonce for two payloads would give both away.
    @Test func equalBytesNeverLookAlike() throws {
        let disk = InMemoryFileSystem()
        let fixture = try SpillFixture(disk, cipher: SpillCipher())
        let bytes = Self.confession(4096)
        var seen: Set<[UInt8]> = []
        for _ in 0..<100 {
            let record = try fixture.write(bytes, .stored)
            let start = Int(record.offset)
            let stored = Array(disk.contents(fixture.file.descriptor)[start..<start + 4096])
            #expect(seen.insert(stored).inserted, "extents are used again, nonces are not")
            fixture.file.release(record)
        }
        // Nor under another file's key.
        let other = InMemoryFileSystem()
        let second = try SpillFixture(other, cipher: SpillCipher())
        let record = try second.write(bytes, .stored)
        #expect(record.generation == 1)
        #expect(seen.insert(Array(other.contents(second.file.descriptor).prefix(4096))).inserted)
    }

    @Test func noGenerationIsGivenTwice() throws {
        let fixture = try SpillFixture(InMemoryFileSystem(), cipher: SpillCipher())
        var generations: Set<UInt64> = []
        for round in 0..<50 {
            let record = try fixture.write(Self.confession(5000))
            #expect(generations.insert(record.generation).inserted)
            fixture.file.beginBatch(with: fixture.encoder)
            let bytes = Self.confession(200 + round)
            // Only used for the call.
            while unsafe bytes.withUnsafeBytes({ unsafe fixture.file.append($0, to: fixture.encoder) }) {
                if fixture.encoder.batchCount == 20 { break }
            }
            try fixture.file.writeBatch(with: fixture.encoder)
            let batch = (0..<fixture.encoder.batchCount).map { fixture.encoder.batchRecord($0) }
            for record in batch { #expect(generations.insert(record.generation).inserted) }
            #expect(try fixture.read(batch[3]) == bytes)
            for record in batch where round % 2 == 0 { fixture.file.release(record) }
        }
    }

    /// Whoever can write to the disk cannot choose what a restore returns: not by a changed bit, nor by another frame.
    @Test func anyOtherBytesAreNoticed() throws {
        let disk = InMemoryFileSystem()
        let fixture = try SpillFixture(disk, cipher: SpillCipher())
        let bytes = Self.confession(300)
        let record = try fixture.write(bytes, .stored)
        let start = Int(record.offset)
        let stored = Array(disk.contents(fixture.file.descriptor)[start..<start + 300])
        for bit in 0..<(300 * 8) {
            var changed = stored
            changed[bit / 8] ^= 1 << (bit % 8)
            disk.overwrite(fixture.file.descriptor, at: start, with: changed)
            #expect(throws: SpillFailure.damaged(.checksumMismatch)) { try fixture.read(record) }
        }
        let second = try fixture.write(bytes, .stored)
        let others = Array(disk.contents(fixture.file.descriptor)[Int(second.offset)...].prefix(300))
        disk.overwrite(fixture.file.descriptor, at: start, with: others)
        #expect(throws: SpillFailure.damaged(.checksumMismatch)) { try fixture.read(record) }
        disk.overwrite(fixture.file.descriptor, at: start, with: stored)
        #expect(try fixture.read(record) == bytes)
    }

    /// The encoder's memory has held other values, and a batch is written with the gaps between its frames.
    @Test func gapsBetweenFramesHoldNothingOfOthers() throws {
        let disk = InMemoryFileSystem()
        let fixture = try SpillFixture(disk, cipher: SpillCipher())
        for length in [4000, 40] {
            fixture.file.beginBatch(with: fixture.encoder)
            let bytes = Self.confession(length)
            for _ in 0..<60 {
                // Only used for the call.
                _ = unsafe bytes.withUnsafeBytes {
                    unsafe fixture.file.append($0, to: fixture.encoder, compress: .stored)
                }
            }
            try fixture.file.writeBatch(with: fixture.encoder)
        }
        #expect(!Self.appears(Array(Self.secret.prefix(12)), in: disk.contents(fixture.file.descriptor)))
    }

    @Test func aSavedStateIsReadByTheNextProcess() async throws {
        let disk = InMemoryFileSystem()
        func launch(_ body: (PressureManager, LazyCache<[UInt8]>) async throws -> Void) async throws {
            let manager = try makeManager(fileSystem: disk)
            let controller = try addController("bank", to: manager.root)
            try await body(manager, controller.cache("ledger", initialValue: [UInt8](repeating: 0, count: 9)))
            await manager.shutdown()
        }
        try await launch { manager, cache in
            try cache.set(Self.confession(300_000))
            _ = await manager.simulateMemoryWarning(.critical)
            #expect(cache.residency == .spilled)
            _ = try await manager.saveState(to: "/var/tmp/state")
        }
        try await launch { manager, cache in
            _ = try await manager.restoreState(from: "/var/tmp/state")
            #expect(try await cache.value() == Self.confession(300_000), "a state is not sealed: its key would be gone")
        }
    }

    /// swift-crypto's buffers are its own, but they are given back: what a reclaim takes does not grow with what it writes.
    @Test(.enabled(if: pk_allocations_are_counted(), "a sanitizer has a heap of its own"))
    func sealingTakesNothingThatItDoesNotGiveBack() throws {
        let fixture = try SpillFixture(InMemoryFileSystem(), cipher: SpillCipher())
        let bytes = Self.confession(100_000)
        fixture.file.release(try fixture.write(bytes))
        let footprint = try ProcessFootprint()
        let before = footprint.residentBytes()
        for _ in 0..<200 { fixture.file.release(try fixture.write(bytes)) }
        #expect(footprint.residentBytes() - before < 4 << 20, "of 20 MB that were sealed")
    }

    @Test(.enabled(if: pk_allocations_are_counted(), "a sanitizer has more memory than can be looked through"))
    func theKeyGoesWithTheFile() throws {
        var cipher: SpillCipher? = SpillCipher()
        // Never as it is, or this would be where it is found.
        let masked = unsafe cipher!.key.withUnsafeBytes { key in unsafe key.map { $0 ^ 0x5A } }
        var fixture: SpillFixture? = try SpillFixture(InMemoryFileSystem(), cipher: cipher)
        cipher = nil
        let record = try fixture!.write(Self.confession(5000))
        _ = try fixture!.read(record)
        #expect(try OwnMemory.occurrences(of: masked, mask: 0x5A) > 0, "it would be found")
        fixture = nil
        #expect(try OwnMemory.occurrences(of: masked, mask: 0x5A) == 0)
    }
}

/// This process's memory, as a core file would show it.
private enum OwnMemory {
    /// How often a masked pattern lies, unmasked, anywhere in writable memory.
    static func occurrences(of masked: [UInt8], mask: UInt8) throws -> Int {
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        let memory = unsafe open("/proc/self/mem", O_RDONLY)
        defer { close(memory) }
        let size = 1 << 20
        // Freed at the end, and emptied before: what it held is not to be found again.
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer {
            unsafe window.initializeMemory(as: UInt8.self, repeating: 0)
            unsafe window.deallocate()
        }
        let own = UInt64(UInt(bitPattern: window.baseAddress!))
        var count = 0
        for line in maps.split(separator: "\n") where line.contains(" rw") {
            let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt64($0, radix: 16) }
            var address = bounds[0]
            while address < bounds[1] {
                // What was read lies in the window, which is therefore left out.
                if address >= own, address < own + UInt64(size) { address = own + UInt64(size) }
                let end = address < own ? min(bounds[1], own) : bounds[1]
                guard address < end else { break }
                let wanted = min(size, Int(end - address))
                // Inside the window.
                let found = unsafe pread(memory, window.baseAddress, wanted, off_t(address))
                guard found > 0 else { break }
                count += unsafe matches(UnsafeRawBufferPointer(rebasing: window[..<found]), masked, mask)
                // What lies across the end is found with the next part; nothing is found twice, being shorter.
                let isLast = address + UInt64(found) >= end
                address += UInt64(isLast ? found : max(found - masked.count + 1, 1))
            }
        }
        return count
    }

    private static func matches(_ bytes: UnsafeRawBufferPointer, _ masked: [UInt8], _ mask: UInt8) -> Int {
        var count = 0
        let first = masked[0] ^ mask
        var index = 0
        // All reads are below `count`.
        while index + masked.count <= bytes.count,
            let next = unsafe memchr(bytes.baseAddress! + index, CInt(first), bytes.count - masked.count + 1 - index)
        {
            index = unsafe bytes.baseAddress!.distance(to: UnsafeRawPointer(next))
            var length = 1
            while length < masked.count, unsafe bytes[index + length] ^ mask == masked[length] { length += 1 }
            if length == masked.count { count += 1 }
            index += 1
        }
        return count
    }
}
#endif
