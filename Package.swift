// swift-tools-version: 6.2

import PackageDescription

/// What only those who work on the package ask for; see CONTRIBUTING.md.
let wantsStrictBuild = Context.environment["PRESSUREKIT_STRICT"] != nil
let wantsOptimizedDebugBuild = Context.environment["PRESSUREKIT_OPTIMIZED"] != nil

/// The language settings of every Swift target, each with the proposal that defines it.
var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
    .strictMemorySafety(),  // SE-0458: every pointer and system call is spelled `unsafe`
]

/// The settings of every C target.
var cSettings: [CSetting] = [.enableWarning("all")]

if wantsStrictBuild {
    // SE-0480: for our targets and no dependency's.
    settings.append(.treatAllWarnings(as: .error))
    cSettings.append(.treatAllWarnings(as: .error))
}

/// The library, from the bottom to the top: each uses those before it, but the two in the middle do not know each other.
let layers: [Target.Dependency] = ["PressureSystem", "PressureSignals", "SpillStore", "PressureKit"]

let package = Package(
    name: "PressureKit",
    products: [
        .library(name: "PressureKit", targets: ["PressureKit"]),
        .library(name: "PressureSignals", targets: ["PressureSignals"]),
        .library(name: "PressureKitTesting", targets: ["PressureKitTesting"]),
        .executable(name: "pressuresim", targets: ["pressuresim"]),
        .library(name: "PressureKitC", type: .dynamic, targets: ["PressureKitC"]),
    ],
    traits: [
        .trait(
            name: "ServiceLifecycle",
            description: "PressureManager conforms to ServiceLifecycle's Service and stops on graceful shutdown."
        ),
        .trait(
            name: "Foundation",
            description: "Data is Spillable, and Coded has JSON. Links FoundationEssentials."
        ),
        .trait(
            name: "Zstd",
            description: "Compresses with zstd, several times as fast as zlib. Links the system's libzstd."
        ),
        .trait(
            name: "Metrics",
            description: "PressureMetrics: handles of swift-metrics. Links CoreMetrics, which needs no Foundation."
        ),
        .trait(
            name: "Encryption",
            description: "Spilled bytes are sealed with AES-256-GCM. Links swift-crypto and FoundationEssentials."
        ),
        .trait(
            name: "Redis",
            description:
                "A process without a disk spills to a Redis or Valkey server. Links the system's libhiredis and OpenSSL."
        ),
        .default(enabledTraits: ["ServiceLifecycle", "Foundation", "Metrics"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-system.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift.git", from: "0.2.0"),
    ],
    targets: [
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
        .target(name: "CLinuxShims", cSettings: cSettings),
        .target(name: "CAllocationCounter", cSettings: cSettings),
        // Arrows point down only: PressureKit uses the other three, PressureSignals and SpillStore use PressureSystem.
        .target(
            name: "PressureSystem",
            dependencies: ["CLinuxShims", .product(name: "SystemPackage", package: "swift-system")],
            swiftSettings: settings
        ),
        .target(
            name: "PressureSignals",
            dependencies: [
                "PressureSystem", "CLinuxShims", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SpillStore",
            dependencies: [
                "PressureSystem",
                "CZlib",
                .target(name: "CZstd", condition: .when(traits: ["Zstd"])),
                .target(name: "CHiredis", condition: .when(traits: ["Redis"])),
                .target(name: "COpenSSL", condition: .when(traits: ["Redis"])),
                "CLinuxShims",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Encryption"])),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "PressureKit",
            dependencies: [
                "PressureSystem",
                "PressureSignals",
                "SpillStore",
                "CLinuxShims",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Encryption"])),
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])
                ),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "PressureKitTesting",
            dependencies: layers + [
                .product(name: "SystemPackage", package: "swift-system")
            ],
            swiftSettings: settings
        ),
        .target(name: "CPressureKit", cSettings: cSettings),
        .target(name: "PressureKitC", dependencies: layers + ["CPressureKit"], swiftSettings: settings),
        // Of the tool: the language of scenarios, which the fuzzer reads as well, the bytes that values are made of, and the
        // pages it writes for a browser.
        .target(
            name: "ScenarioLanguage",
            dependencies: ["PressureSystem", "PressureSignals", "CZlib", .product(name: "Yams", package: "Yams")],
            swiftSettings: settings
        ),
        .target(name: "SampleContent", swiftSettings: settings),
        .target(name: "ReportPages", dependencies: ["PressureSystem"], swiftSettings: settings),
        .executableTarget(
            name: "pressuresim",
            dependencies: layers + [
                "ScenarioLanguage",
                "SampleContent",
                "ReportPages",
                "CAllocationCounter",
                "CLinuxShims",
                "CZlib",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            swiftSettings: settings
        ),
        // What tests ask of the system and the library does not: fork(2), and to have memory refused.
        .target(name: "CTestShims", path: "Tests/Shims", cSettings: cSettings),
        // What several test targets share.
        .target(
            name: "PressureKitTestSupport",
            dependencies: layers,
            path: "Tests/Support",
            swiftSettings: settings
        ),
        .testTarget(
            name: "PressureKitTests",
            dependencies: layers + [
                "PressureKitTesting",
                "PressureKitTestSupport",
                "CAllocationCounter",
                "CLinuxShims",
                "CTestShims",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])
                ),
                .product(
                    name: "UnixSignals",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])
                ),
            ],
            resources: [.copy("Fixtures")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FaultTests",
            dependencies: layers + [
                "PressureKitTesting",
                "PressureKitTestSupport",
                "CLinuxShims",
                "CTestShims",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings
        ),
        // Whole runs of the manager, each from one seed.
        .testTarget(
            name: "SeedTests",
            dependencies: layers + [
                "PressureKitTesting",
                "PressureKitTestSupport",
                "CAllocationCounter",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: layers + [
                "ScenarioLanguage", "PressureKitTesting",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            exclude: ["Driver", "Corpus", "Dictionaries"],  // the fuzzer's own; the corpus is read from where it is
            swiftSettings: settings
        ),
        .testTarget(
            name: "PressuresimTests",
            dependencies: layers + [
                "PressureKitTesting", "pressuresim", "ScenarioLanguage", "SampleContent", "ReportPages",
                .product(name: "Yams", package: "Yams"),
            ],
            exclude: ["Fixtures"],  // read from where they are
            swiftSettings: settings
        ),
        .testTarget(
            name: "PluginTests",
            dependencies: layers + ["PressureKitC", "CPressureKit"],
            exclude: ["symbols.txt"],  // read from where it is
            swiftSettings: settings
        ),
        .testTarget(
            name: "RealPressureTests",
            dependencies: layers + ["pressuresim"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

if Context.environment["PRESSUREKIT_FUZZ"] != nil {
    // For scripts/fuzz.sh, which builds with sanitizers: the fuzzer, without the tool and the tests.
    package.targets.removeAll { ["pressuresim", "SampleContent", "ReportPages"].contains($0.name) || $0.isTest }
    package.products.removeAll { $0.name == "pressuresim" }
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: layers + [
                "ScenarioLanguage", "PressureKitTesting",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/FuzzTests",
            exclude: ["Corpus", "CorpusTests.swift", "Dictionaries"],
            sources: ["Properties", "Driver"],
            swiftSettings: settings
        )
    )
}

if let list = Context.environment["PRESSUREKIT_ONLY_TESTS"] {
    // For scripts that build the library several times: these targets of tests and what they need, and not the tool.
    // Of one that is named as `Target/Folder`, these folders.
    let paths = list.split(separator: ",").map { $0.split(separator: "/", maxSplits: 1).map(String.init) }
    for path in paths where path.count == 2 {
        guard let target = package.targets.first(where: { $0.name == path[0] }) else { continue }
        target.sources = (target.sources ?? []) + [path[1]]
    }
    let only = paths.map { $0[0] }
    let kept = only + ["PressureKitTestSupport", "CTestShims"]
    var others = ["pressuresim", "ScenarioLanguage", "SampleContent", "ReportPages"]
    if !only.contains("PluginTests") { others += ["PressureKitC", "CPressureKit"] }
    package.targets.removeAll { ($0.isTest && !kept.contains($0.name)) || others.contains($0.name) }
    package.products.removeAll { others.contains($0.name) }
}

if wantsOptimizedDebugBuild {
    // For `make test`: what the tests test is optimized, with its assertions. The tests are not, nor what of the tool computes
    // little and is long to compile: that saves more than it costs.
    let unoptimized = ["PressureKitTestSupport", "ScenarioLanguage", "ReportPages", "pressuresim"]
    for target in package.targets where !target.isTest {
        let optimization = unoptimized.contains(target.name) ? [] : ["-O", "-assert-config", "Debug"]
        target.swiftSettings?.append(
            .unsafeFlags(
                optimization + ["-whole-module-optimization", "-num-threads", "2"],
                .when(configuration: .debug)
            )
        )
    }
}
