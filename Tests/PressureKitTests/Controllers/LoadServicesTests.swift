import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Which manager a load asks, wherever its controller has been moved to meanwhile.
@Suite(.timeLimit(.minutes(5))) struct LoadServicesTests {
    private let manager: PressureManager
    private let other: PressureManager
    private let parent = PressureController("parent")
    private let child = PressureController("child")

    init() throws {
        manager = try makeManager(fileSystem: InMemoryFileSystem())
        other = try makeManager(fileSystem: InMemoryFileSystem())
        try parent.addChild(child)
    }

    private func expect(_ manager: PressureManager?, isOpen: Bool, _ comment: Comment) {
        for controller in [parent, child] {
            #expect(controller.services === manager?.context.services, comment)
            #expect(controller.admission === manager?.context.admission, comment)
            #expect((controller.link.services != nil) == isOpen, comment)
        }
    }

    @Test func aSubtreeGoesByTheManagerWhoseTreeItIsIn() throws {
        expect(nil, isOpen: false, "in no tree")
        try manager.root.addChild(parent)
        expect(manager, isOpen: true, "added")
        let room = try addController("room", to: manager.root)
        try parent.move(to: room)
        expect(manager, isOpen: true, "moved in the same tree")
        room.removeFromParent()
        expect(nil, isOpen: false, "taken out, with the one above it")
        try manager.root.addChild(room)
        expect(manager, isOpen: true, "put back")
        parent.removeFromParent()
        try room.present(parent)
        expect(manager, isOpen: true, "presented")
        room.dismiss()
        expect(nil, isOpen: false, "dismissed")
        try other.root.addChild(parent)
        expect(other, isOpen: false, "the way leads to the first manager's, so these climb")
        parent.removeFromParent()
        try manager.root.addChild(parent)
        expect(manager, isOpen: true, "and back")
    }

    /// What a controller keeps of a manager that is gone is not asked.
    @Test func aManagerThatIsGoneIsNotAsked() async throws {
        var brief: PressureManager? = try makeManager(fileSystem: InMemoryFileSystem())
        try brief?.root.addChild(parent)
        weak let context = brief?.context
        #expect(parent.link.services != nil)
        brief = nil
        // Its threads let go of the tree when they end; what the controllers keep does not hold them up.
        while context != nil { await Task.yield() }
        expect(nil, isOpen: false, "gone")
        try manager.root.addChild(parent)
        expect(manager, isOpen: false, "it climbs")
    }

    /// A parent that goes takes nobody's way from what has another parent by then.
    @Test func aParentThatGoesClosesWhatItLeavesOnly() throws {
        var room: PressureController? = try addController("room", to: manager.root)
        try room?.addChild(parent)
        room?.removeFromParent()
        try manager.root.addChild(#require(room))
        expect(manager, isOpen: true, "below it")
        try parent.move(to: manager.root)
        room?.removeFromParent()
        room = nil
        expect(manager, isOpen: true, "moved away in time")
    }
}
