package import PressureKit

/// A manager that spills to memory, watches nothing, and copies on the reclaim thread alone: every run makes the same
/// calls in the same order.
///
/// - Parameters:
///   - fileSystem: Where it spills; `nil` for the real one.
///   - workers: Threads that copy.
///   - configure: What is different in this test.
package func makeManager(
    fileSystem: (any NamedFileSystem)? = nil,
    workers: Int = 1,
    configure: (inout PressureConfiguration) -> Void = { _ in }
) throws -> PressureManager {
    var configuration = PressureConfiguration()
    configuration.sources = []
    configuration.workers = workers
    configuration.spillDirectory = "/var/tmp"
    configuration.freeSpaceFloor = .zero
    // So that a test of the disk is one.
    configuration.compressedTier = .never
    configuration.compressesLater = false
    if let fileSystem { configuration.fileSystem = fileSystem }
    configure(&configuration)
    return try PressureManager(configuration: configuration)
}

/// A controller in a manager's tree.
package func addController(_ identifier: String, to parent: PressureController) throws -> PressureController {
    let controller = PressureController(identifier)
    try parent.addChild(controller)
    return controller
}
