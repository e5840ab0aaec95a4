import Foundation
import Hummingbird
import PressureKit

let usage = """
    usage: ThumbnailServer [--plain | --lru MEBIBYTES] PICTURES COUNT [PORT]
           draws COUNT pictures in the directory PICTURES, and serves thumbnails of them at PORT, 0 for any; without a
           port it draws only. --plain keeps them in a dictionary, --lru in one with a bound. HOST in the environment
           says where to listen.
    """
var arguments = Array(CommandLine.arguments.dropFirst())
let isPlain = arguments.first == "--plain"
if isPlain { arguments.removeFirst() }
var bound: Int?
if arguments.first == "--lru", arguments.count > 1 {
    bound = Int(arguments[1])
    arguments.removeFirst(2)
}
guard 2...3 ~= arguments.count, let count = Int(arguments[1]), count > 0 else {
    print(usage)
    exit(2)
}
let album = try Album(at: arguments[0], count: count)
guard arguments.count == 3, let port = Int(arguments[2]) else { exit(0) }

let host = ProcessInfo.processInfo.environment["HOST"] ?? "127.0.0.1"
let gallery: any Gallery =
    if isPlain {
        PlainGallery(album)
    } else if let bound {
        BoundedGallery(album, byteLimit: bound << 20)
    } else {
        try PressureGallery(album)
    }

let router = Router()
router.get("thumbnails/{id}") { _, context -> Response in
    let id = try context.parameters.require("id", as: Int.self)
    guard 0..<album.count ~= id else { throw HTTPError(.notFound) }
    let pixmap = try await gallery.thumbnail(id, size: 64)
    return Response(
        status: .ok,
        headers: [.contentType: "image/x-portable-pixmap"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: pixmap))
    )
}
router.get("status") { _, _ in gallery.status().joined(separator: "\n") + "\n" }

// The application's service group runs the manager beside the server, and stops both on SIGTERM.
let app = Application(
    router: router,
    configuration: .init(address: .hostname(host, port: port)),
    services: (gallery as? PressureGallery).map { [$0.manager] } ?? [],
    onServerRunning: { channel in
        print("listening on \(host):\(channel.localAddress?.port ?? port)")
        fflush(nil)
    }
)
try await app.runService()
