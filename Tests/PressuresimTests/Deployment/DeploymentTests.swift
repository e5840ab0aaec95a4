import Foundation
import Testing
import Yams

/// The files of Examples/Deployment set what the article Containers says, and every name in them exists.
@Suite struct DeploymentTests {
    private static let examples = packageDirectory.appendingPathComponent("Examples")

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.examples.appendingPathComponent(path), encoding: .utf8)
    }

    /// The lines of a unit, by key; a key may come again.
    private func unit() throws -> [String: [String]] {
        var settings: [String: [String]] = [:]
        for line in try text("Deployment/thumbnails.service").split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { settings[parts[0], default: []].append(parts[1]) }
        }
        return settings
    }

    private func mebibytes(_ quantity: String) throws -> Int {
        let match = try #require(quantity.wholeMatch(of: /(\d+)(M|G|Mi|Gi)/), "\(quantity)")
        return try #require(Int(match.1)) * (match.2.hasPrefix("G") ? 1_024 : 1)
    }

    // MARK: systemd

    @Test func theUnitLeavesRoomBetweenHighAndMaxAndSpillsToItsOwnDirectory() throws {
        let unit = try unit()
        let high = try mebibytes(try #require(unit["MemoryHigh"]?.first))
        let most = try mebibytes(try #require(unit["MemoryMax"]?.first))
        #expect(high < most)
        #expect(unit["MemoryPressureWatch"] == ["on"])
        let cache = try #require(unit["CacheDirectory"]?.first)
        #expect(unit["Environment"] == ["TMPDIR=/var/cache/\(cache)"])
        let program = try #require(unit["ExecStart"]?.first?.split(separator: " ").first)
        try expectProduct(String(program.split(separator: "/").last ?? ""))
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")))
    func systemdAcceptsTheUnit() throws {
        // A program that is installed nowhere here would be an error; any other that exists will do.
        let unit = try text("Deployment/thumbnails.service")
            .replacing("/usr/local/bin/ThumbnailServer", with: "/bin/true")
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("unit-\(UUID())")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let file = place.appendingPathComponent("thumbnails.service")
        try unit.write(to: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/systemd-analyze")
        process.arguments = ["verify", "--man=no", file.path]
        let output = Pipe()
        process.standardError = output
        try process.run()
        let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        // What it says of other units is not ours; an older systemd does not know MemoryPressureWatch.
        let complaints = said.split(separator: "\n").filter { $0.contains("thumbnails.service") }
            .filter { !($0.contains("Unknown key") && $0.contains("'MemoryPressure")) }
        #expect(complaints.isEmpty, "\(said)")
    }

    // MARK: Kubernetes

    @Test func thePodHasALimitAndADiskToSpillTo() throws {
        let manifest = try text("Deployment/thumbnails.yaml")
        let documents = try Yams.load_all(yaml: manifest).compactMap { $0 as? [String: Any] }
        #expect(documents.compactMap { $0["kind"] as? String } == ["Deployment", "Service"])
        let spec = try #require(documents.first?["spec"] as? [String: Any])
        let template = try #require(spec["template"] as? [String: Any])
        let pod = try #require(template["spec"] as? [String: Any])
        let container = try #require((pod["containers"] as? [[String: Any]])?.first)

        let resources = try #require(container["resources"] as? [String: [String: String]])
        let limit = try #require(resources["limits"]?["memory"])
        #expect(resources["requests"]?["memory"] == limit)

        let variables = try #require(container["env"] as? [[String: String]])
        let directory = try #require(variables.first { $0["name"] == "TMPDIR" }?["value"])
        let mounts = try #require(container["volumeMounts"] as? [[String: String]])
        let mount = try #require(
            mounts.first { "\(directory)/".hasPrefix(($0["mountPath"] ?? "?") + "/") },
            "in no volume"
        )
        let volumes = try #require(pod["volumes"] as? [[String: Any]])
        let own = volumes.first { $0["name"] as? String == mount["name"] }
        let volume = try #require(own?["emptyDir"] as? [String: String])
        #expect(volume["medium"] == nil, "memory is no place to spill to")
        let size = try mebibytes(try #require(volume["sizeLimit"]))
        #expect(try size < mebibytes(try #require(resources["limits"]?["ephemeral-storage"])))

        let labels = (template["metadata"] as? [String: [String: String]])?["labels"]
        #expect(((spec["selector"] as? [String: Any])?["matchLabels"] as? [String: String]) == labels)
        let probe = (container["readinessProbe"] as? [String: [String: Any]])?["httpGet"]
        let path = try #require(probe?["path"] as? String).dropFirst()
        #expect(try text("ThumbnailServer/Sources/ThumbnailServer/main.swift").contains("router.get(\"\(path)\")"))
    }

    @Test func thePodWithoutADiskHasAServerThatKeepsWhatItIsGiven() throws {
        let manifest = try text("Deployment/diskless.yaml")
        let documents = try Yams.load_all(yaml: manifest).compactMap { $0 as? [String: Any] }
        #expect(documents.compactMap { $0["kind"] as? String } == ["Deployment", "Deployment", "Service"])
        let pods = try documents.prefix(2).map { document in
            let template = (document["spec"] as? [String: Any])?["template"] as? [String: Any]
            return try #require(template?["spec"] as? [String: Any])
        }
        let containers = try pods.map { try #require(($0["containers"] as? [[String: Any]])?.first) }
        #expect((containers[0]["securityContext"] as? [String: Any])?["readOnlyRootFilesystem"] as? Bool == true)
        #expect(pods[0]["volumes"] == nil && containers[0]["volumeMounts"] == nil)
        // The server's name is the service's, and both have the password from the secret.
        let name = try #require((documents[2]["metadata"] as? [String: String])?["name"])
        let variables = try containers.map { try #require($0["env"] as? [[String: Any]]) }
        #expect(variables[0].contains { $0["name"] as? String == "REDIS_HOST" && $0["value"] as? String == name })
        for variables in variables {
            let password = variables.first { $0["name"] as? String == "REDIS_PASSWORD" }
            #expect(password?["value"] == nil && password?["valueFrom"] is [String: Any])
        }
        // What the article says a user needs, and no eviction.
        let command = try #require((containers[1]["command"] as? [String])?.last)
        #expect(command.contains("--maxmemory-policy noeviction"))
        let article = try String(
            contentsOf: packageDirectory.appendingPathComponent(
                "Sources/PressureKit/PressureKit.docc/BeyondOneMachine.md"
            ),
            encoding: .utf8
        )
        let block = try #require(article.firstMatch(of: /ACL SETUSER ((?:.|\n)*?)```/)).1
        let permissions = Set(block.matches(of: /[+][a-z]+/).map { String($0.0) })
        #expect(permissions.count >= 15)
        #expect(Set(command.matches(of: /[+][a-z]+/).map { String($0.0) }) == permissions)
    }

    // MARK: Docker

    @Test func theImageIsBuiltFromStagesAndProductsThatExist() throws {
        let file = try text("Deployment/Dockerfile")
        let lines = file.replacing("\\\n", with: " ").split(separator: "\n").filter { !$0.hasPrefix("#") }
        let stages = lines.filter { $0.hasPrefix("FROM ") }
        #expect(stages.count == 2)
        #expect(stages[1].hasSuffix("-slim"))
        let names = stages.compactMap { $0.firstMatch(of: /\bAS ([a-z]+)/)?.1 }
        for copy in file.matches(of: /COPY --from=([a-z]+) \S*\/([A-Za-z]+)\s/) {
            #expect(names.contains(copy.1), "\(copy.0)")
            try expectProduct(String(copy.2))
        }
        let package = try #require(file.firstMatch(of: /--package-path Examples\/([A-Za-z]+)\s/)).1
        let example = Self.examples.appendingPathComponent("\(package)/Package.swift")
        #expect(FileManager.default.fileExists(atPath: example.path))
        // As new as the manifest wants.
        let manifest = try String(contentsOf: packageDirectory.appendingPathComponent("Package.swift"), encoding: .utf8)
        let wanted = try #require(manifest.firstMatch(of: /swift-tools-version: ([0-9.]+)/)).1
        let given = try #require(file.firstMatch(of: /ARG SWIFT=([0-9.]+)/)).1
        #expect(String(given).compare(String(wanted), options: .numeric) != .orderedAscending)
        // What scripts/setup.sh installs to build with, and the library itself to run with.
        let setup = try String(contentsOf: packageDirectory.appendingPathComponent("scripts/setup.sh"), encoding: .utf8)
        let packages = try #require(setup.firstMatch(of: /packages=\(([a-z0-9 -]+)\)/)).1
        #expect(file.contains("--no-install-recommends \(packages)"))
        let last = try #require(lines.lastIndex { $0.hasPrefix("FROM ") })
        #expect(lines[last...].contains { $0.hasPrefix("RUN apt-get") && $0.contains(" zlib1g ") })
        // Where it spills is a volume.
        let directory = try #require(file.firstMatch(of: /ENV TMPDIR=(\S+)/)).1
        let volumes = try #require(lines.first { $0.hasPrefix("VOLUME") })
        #expect(volumes.contains("\"\(directory)\""))
    }

    private func expectProduct(_ name: String) throws {
        let manifest = try text("ThumbnailServer/Package.swift")
        #expect(manifest.contains(".executableTarget(\n            name: \"\(name)\""), "nothing builds \(name)")
    }
}
