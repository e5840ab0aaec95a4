// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Travel",
    dependencies: [
        .package(name: "PressureKit", path: "../..", traits: ["Redis"])
    ],
    targets: [
        .executableTarget(
            name: "Travel",
            dependencies: [.product(name: "PressureKit", package: "PressureKit")]
        )
    ],
    swiftLanguageModes: [.v6]
)
