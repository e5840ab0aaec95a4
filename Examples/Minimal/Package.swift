// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Minimal",
    dependencies: [
        // The core alone, without Foundation or ServiceLifecycle. Leave `traits` out and both come along.
        .package(name: "PressureKit", path: "../..", traits: [])
    ],
    targets: [
        .executableTarget(
            name: "Minimal",
            dependencies: [.product(name: "PressureKit", package: "PressureKit")]
        )
    ],
    swiftLanguageModes: [.v6]
)
