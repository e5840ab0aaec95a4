import PressureKit

private func renderThumbnails() throws -> [UInt8] { [] }
private func draw(_ bytes: [UInt8]) {}

/// What PressureKit.md and ForUIKitEngineers.md quote.
private func overview() async throws {
    let manager = try PressureManager()
    let gallery = PressureController("gallery")
    try manager.root.addChild(gallery)

    let thumbnails = try gallery.cache("thumbnails") { try renderThumbnails() }
    let drawing = try gallery.cache("drawing", initialValue: PageBuffer(byteCount: 64 << 20))

    try thumbnails.withValue { bytes in draw(bytes) }
    try await manager.run()
    _ = drawing
}

private func restoration(manager: PressureManager, gallery: PressureController, directory: String) async throws {
    let thumbnails = try gallery.cache("thumbnails") { try renderThumbnails() }
    try thumbnails.withValue { bytes in draw(bytes) }

    try await manager.saveState(to: directory, version: "4.2")
    // … the process is killed; in the next one:
    try await manager.restoreState(from: directory, version: "4.2")
}
