// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "ThumbnailServer",
    dependencies: [
        .package(name: "PressureKit", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
    ],
    targets: [
        .executableTarget(
            name: "ThumbnailServer",
            dependencies: [
                .product(name: "PressureKit", package: "PressureKit"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
