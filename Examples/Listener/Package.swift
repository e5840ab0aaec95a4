// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Listener",
    dependencies: [.package(name: "PressureKit", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "Listener",
            dependencies: [.product(name: "PressureSignals", package: "PressureKit")]
        )
    ],
    swiftLanguageModes: [.v6]
)
