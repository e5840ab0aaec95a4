import PressureSystem
import SpillStore
import Synchronization
import SystemPackage

/// Writes one saved state. Blocks; on a thread that may.
struct StateSaver {
    let place: any StatePlace
    let version: String
    /// Those of the manager's spill file: the space to be left free, and what is to become of the page cache.
    let limits: SpillLimits
    let clock: any MonotonicClock

    /// Saves what is below a root. What was saved before stays until all of the new state is on the device.
    func save(_ root: PressureController) throws(PressureError) -> StateReport {
        var report = StateReport()
        report.version = version
        let new: StateFile
        do {
            new = try place.openNew()
        } catch {
            throw notSaved(error)
        }
        // Closes the descriptor when it is released.
        let file = SegmentFile(
            adopting: new.descriptor,
            fileSystem: new.fileSystem,
            limits: SpillLimits(freeSpaceFloor: limits.freeSpaceFloor)
        )
        do {
            let visit = place.visit(new, limits)
            let writer = StateFrames(file: file, encoder: try ChunkEncoder(clock: clock), visit: visit)
            let node = try describe(root, writer, &report, depth: 0)
            report.failures = writer.failures
            let manifest = StateManifest(version: version, root: node).encoded
            guard manifest.count <= StateTrailer.mostManifestBytes else {
                throw PressureError(
                    code: .stateNotSaved,
                    message: "it has more values than \(StateTrailer.mostManifestBytes >> 20) MiB of records name"
                )
            }
            let units = file.units
            let tail = manifest + StateTrailer(units: UInt64(units), manifest: manifest).encoded
            let offset = Int64(units) * Int64(ExtentAllocator.unitSize)
            try write(tail, at: offset, of: new)
            try place.replace(with: new)
            writer.visit.end()
            report.byteCount = ByteCount(bytes: Int(offset) + tail.count)
        } catch {
            place.discard(new)
            let cause = (error as? SpillFailure).map(place.failure) ?? error
            throw notSaved(cause)
        }
        try place.settle()
        return report
    }

    private func notSaved(_ cause: any Error) -> PressureError {
        let reason = (cause as? PressureError)?.message ?? "\(cause)"
        return .stateNotSaved(place.path, reason, cause: cause, whatWas: place.whatWas)
    }

    /// Writes what follows the values, and reads it back: a write that lies must not cost the state that there was.
    private func write(_ tail: [UInt8], at offset: Int64, of new: StateFile) throws {
        let (fileSystem, descriptor) = (new.fileSystem, new.descriptor)
        // Both are valid for their calls.
        try unsafe tail.withUnsafeBytes { bytes in
            let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
            try unsafe fileSystem.writeFully(descriptor, at: offset, from: bytes, nothing)
        }
        var found = [UInt8](repeating: 0, count: tail.count)
        let count = try unsafe found.withUnsafeMutableBytes { bytes in
            let nothing = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
            return try unsafe fileSystem.readFully(descriptor, at: offset, into: bytes, nothing)
        }
        guard count == tail.count, found == tail else { throw SpillFailure.notWritten }
    }

    private func describe(
        _ controller: PressureController,
        _ writer: StateFrames,
        _ report: inout StateReport,
        depth: Int
    ) throws -> StateManifest.Node {
        // What is not read again is not saved.
        guard depth < StateManifest.mostDepth else {
            throw PressureError(
                code: .stateNotSaved,
                message: "controllers lie \(StateManifest.mostDepth) deep",
                path: controller.path
            )
        }
        var node = StateManifest.Node(identifier: controller.identifier)
        controller.delegate?.encodeRestorableState(into: &node.coder)
        let (entries, children, presented) = controller.state.withLock { ($0.entries, $0.children, $0.presented) }
        for entry in entries where entry.traits.isRestorable.load(ordering: .relaxed) {
            guard let cache = try entry.save(to: writer), !cache.values.isEmpty else { continue }
            node.caches.append(cache)
            report.caches.append(entry.path)
        }
        for child in children where child.isRestorable {
            node.children.append(try describe(child, writer, &report, depth: depth + 1))
        }
        if let presented, presented.isRestorable {
            var sheet = try describe(presented, writer, &report, depth: depth + 1)
            sheet.isPresented = true
            node.children.append(sheet)
        }
        if !controller.identifier.isEmpty { report.controllers.append(controller.path) }
        return node
    }
}
