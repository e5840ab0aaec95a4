import PressureSystem
import SpillStore
import SystemPackage

/// Reads one saved state, refuses it whole, or applies it. Blocks; on a thread that may.
struct StateRestorer {
    let place: any StatePlace
    /// Those of the manager's spill file, which say what is to become of the page cache.
    var limits = SpillLimits()
    /// The manager's.
    var decoders = DecoderPool()

    /// A state whose every byte was checked.
    struct Checked: Sendable {
        var manifest: StateManifest
        var file: SegmentFile
    }

    /// Reads the state and checks all of it, frames included; `nil` when there is none.
    ///
    /// - Throws: ``PressureError`` with `stateRefused`.
    func read() throws(PressureError) -> Checked? {
        let opened: StateFile
        do {
            guard let found = try place.open() else { return nil }
            opened = found
        } catch {
            throw place.unreadable(error)
        }
        // Closes the descriptor when it is released.
        let file = SegmentFile(
            adopting: opened.descriptor,
            fileSystem: opened.fileSystem,
            limits: SpillLimits(freeSpaceFloor: .zero, bypassPageCache: limits.bypassPageCache),
            isReadOnly: true,
            decoders: decoders
        )
        do {
            let size = try opened.fileSystem.usage(opened.descriptor).size
            guard size >= UInt64(StateTrailer.byteCount) else { throw StateRefusal.foreign }
            let end = try read(opened, at: size - UInt64(StateTrailer.byteCount), count: StateTrailer.byteCount)
            let trailer = try StateTrailer(end, ofFileWith: size)
            let bytes = try read(
                opened,
                at: trailer.units * UInt64(ExtentAllocator.unitSize),
                count: Int(trailer.manifestLength)
            )
            guard StateTrailer.checksum(bytes[...]) == trailer.manifestChecksum else {
                throw StateRefusal.damaged("its manifest is not the one written")
            }
            let manifest = try StateManifest(bytes[...], units: UInt32(trailer.units))
            var visit = place.visit(opened, limits)
            // The manifest too, whatever comes of the rest.
            defer { visit.end() }
            visit.moved(bytes.count)
            try check(manifest.root, in: file, &visit)
            // Until here it was read from the front to the end.
            opened.fileSystem.expectRandomReads(opened.descriptor)
            return Checked(manifest: manifest, file: file)
        } catch let refusal as StateRefusal {
            throw .stateRefused(place.path, refusal)
        } catch {
            throw place.unreadable(error)
        }
    }

    private func read(_ file: StateFile, at offset: UInt64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // Valid for the call.
        let found = try unsafe bytes.withUnsafeMutableBytes { bytes in
            try unsafe file.fileSystem.readFully(
                file.descriptor,
                at: Int64(offset),
                into: bytes,
                UnsafeMutableRawBufferPointer(start: nil, count: 0)
            )
        }
        guard found == count else { throw StateRefusal.damaged("it ends too early") }
        return bytes
    }

    /// Reads every frame and holds it against its record and checksum.
    private func check(_ node: StateManifest.Node, in file: SegmentFile, _ visit: inout CacheVisit) throws {
        let decoder = try file.decoders.take()
        defer { file.decoders.giveBack(decoder) }
        for value in node.caches.lazy.flatMap(\.values) {
            for record in value.records {
                switch file.verdict(on: record, with: decoder) {
                case nil: visit.moved(Int(record.storedLength))
                case .readFailed(let errno): throw errno
                case .some: throw StateRefusal.damaged("a value is not the one written")
                }
            }
        }
        for child in node.children { try check(child, in: file, &visit) }
    }
}

/// Brings a tree back to what a manifest says. Hooks are called on the calling thread, with nothing locked.
struct StateApplication {
    let file: SegmentFile
    let manager: (any PressureManagerDelegate)?
    private(set) var report = StateReport()
    /// Those that exist again, parents before children, with what they encoded.
    private var restored: [(controller: PressureController, node: StateManifest.Node)] = []

    init(file: SegmentFile, manager: (any PressureManagerDelegate)?) {
        self.file = file
        self.manager = manager
    }

    /// Makes or finds all controllers, then gives the caches their values, then has every controller decode, then tells
    /// all that it is done; each step from the root down.
    mutating func apply(_ node: StateManifest.Node, to root: PressureController) {
        collect(node, root)
        for (controller, node) in restored {
            controller.state.withLock { state in
                for cache in node.caches { state.saved[cache.name] = SavedCache(cache: cache, file: file) }
            }
            for entry in controller.state.withLock({ $0.entries }) {
                do throws(PressureError) {
                    guard let bytes = try controller.takeSaved(entry) else { continue }
                    report.caches.append(entry.path)
                    report.byteCount.bytes += bytes
                } catch {
                    report.failures.append(error)
                }
            }
        }
        for (controller, node) in restored { controller.delegate?.decodeRestorableState(from: node.coder) }
        for (controller, _) in restored { controller.delegate?.didFinishRestoringState() }
    }

    private mutating func collect(_ node: StateManifest.Node, _ controller: PressureController) {
        restored.append((controller, node))
        if !controller.identifier.isEmpty { report.controllers.append(controller.path) }
        for child in node.children {
            let path = controller.path.isEmpty ? child.identifier : "\(controller.path)/\(child.identifier)"
            do throws(PressureError) {
                guard let found = try find(child, at: path, below: controller) else {
                    report.stopped.append(path)
                    continue
                }
                if found.isRestorable { collect(child, found) }
            } catch {
                report.stopped.append(path)
                report.failures.append(error)
            }
        }
    }

    /// The controller that is there already, or one that somebody provides: the nearest above first, the manager last.
    private func find(
        _ node: StateManifest.Node,
        at path: String,
        below parent: PressureController
    ) throws(PressureError) -> PressureController? {
        if let existing = existing(node, below: parent) { return existing }
        guard let provided = provide(node, at: path, below: parent) else { return nil }
        guard provided.identifier == node.identifier else {
            throw PressureError(
                code: .stateMismatch,
                message: """
                    A provider was asked for the controller "\(node.identifier)" and gave "\(provided.identifier)". \
                    Nothing is restored there. Give one with that identifier, or nil.
                    """,
                path: path
            )
        }
        // It may have been put in its place by whoever made it.
        if existing(node, below: parent) === provided { return provided }
        if node.isPresented { try parent.present(provided) } else { try parent.addChild(provided) }
        return provided
    }

    private func existing(_ node: StateManifest.Node, below parent: PressureController) -> PressureController? {
        guard node.isPresented else { return parent.child(node.identifier) }
        return parent.presented?.identifier == node.identifier ? parent.presented : nil
    }

    private func provide(
        _ node: StateManifest.Node,
        at path: String,
        below parent: PressureController
    ) -> PressureController? {
        var next: PressureController? = parent
        while let controller = next {
            if let found = controller.delegate?.controller(forRestoring: path, coder: node.coder) { return found }
            next = controller.superior
        }
        return manager?.controller(forRestoring: path, coder: node.coder)
    }
}
