// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "HTTPCache",
    dependencies: [.package(name: "PressureKit", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "HTTPCache",
            dependencies: [.product(name: "PressureKit", package: "PressureKit")]
        )
    ],
    swiftLanguageModes: [.v6]
)
