// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Notebook",
    dependencies: [
        .package(name: "PressureKit", path: "../..", traits: [])
    ],
    targets: [
        .executableTarget(
            name: "Notebook",
            dependencies: [.product(name: "PressureKit", package: "PressureKit")]
        ),
        .testTarget(
            name: "NotebookTests",
            dependencies: ["Notebook", .product(name: "PressureKitTesting", package: "PressureKit")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
