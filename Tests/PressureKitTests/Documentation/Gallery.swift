import PressureKit

func openGallery() async throws {
    let manager = try PressureManager()  // opens the spill file, reserves all that a reclaim will need
    let gallery = PressureController("gallery")
    try manager.root.addChild(gallery)

    // Can be made again: written to the spill file or dropped, whichever is cheaper to undo.
    let thumbnails = try gallery.cache("thumbnails") { [UInt8](repeating: 7, count: 8 << 20) }
    // Cannot be made again: in memory, or in a checked copy on disk, and nowhere else.
    let drawing = try gallery.cache("drawing", initialValue: [Float](repeating: 0.5, count: 4 << 20))

    let watching = Task { try await manager.run() }  // until cancelled; in a server, a ServiceGroup runs it
    try thumbnails.withValue { print("thumbnails: \($0.count) bytes") }  // loaded; stays put during the call
    try drawing.update { $0[12] = 1 }

    print(await manager.simulateMemoryWarning(.critical))
    print("drawing: \(drawing.residency)")
    let stroke = try await drawing.value()[12]  // read back, checked
    print("drawing: \(drawing.residency), \(stroke)")
    watching.cancel()
}
