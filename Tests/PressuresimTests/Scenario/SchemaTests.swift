import Foundation
import Testing
import Yams

@testable import ScenarioLanguage
@testable import pressuresim

/// The schema that editors complete scenarios with says what the reader does.
@Suite struct SchemaTests {
    private static let path = packageDirectory.appendingPathComponent("Scenarios/scenario.schema.json")

    private func validator() throws -> SchemaValidator { try SchemaValidator(Scenario.schema.text) }

    private func complaints(of text: String) throws -> [String] {
        try validator().complaints(try #require(try Yams.load(yaml: text)))
    }

    @Test func theFileIsWhatTheReadersDeclarationsSay() throws {
        let file = try String(contentsOf: Self.path, encoding: .utf8)
        #expect(
            file == Scenario.schema.text + "\n",
            "make it anew: pressuresim schema > Scenarios/scenario.schema.json"
        )
    }

    /// With the keys that the reader's own messages list, which come from another way through the same declarations.
    @Test(arguments: [
        ("zzz: 1", "scenario"), ("spill: {zzz: 1}", "spill"),
        ("controllers: [{zzz: 1}]", "controller"),
        ("controllers: [{caches: [{zzz: 1}]}]", "cache"),
        ("controllers: [{caches: [{keyed: {zzz: 1}}]}]", "keyed_cache"),
        ("controllers: [{caches: [{loader: {zzz: 1}}]}]", "loader"),
        ("timeline: [{access: {zzz: 1}}]", "access"), ("timeline: [{update: {zzz: 1}}]", "update"),
        ("timeline: [{browse: {zzz: 1}}]", "browse"), ("timeline: [{fill: {zzz: 1}}]", "fill"),
        ("timeline: [{hog: {zzz: 1}}]", "hog"), ("timeline: [{await: {zzz: 1}}]", "await"),
        ("timeline: [{transition: {zzz: 1}}]", "transition"), ("timeline: [{warning: {zzz: 1}}]", "warning"),
    ])
    func theReaderAndTheSchemaKnowTheSameKeys(text: String, name: String) throws {
        let line = try #require(pressuresimComplaints(text).first { $0.contains("unknown key \"zzz\"") })
        let listed = line.components(separatedBy: "allowed here: ")[1].components(separatedBy: ", ")
        let definitions = try #require(try validator().root["$defs"] as? [String: [String: Any]])
        let properties = try #require(definitions[name]?["properties"] as? [String: Any])
        #expect(properties.keys.sorted() == listed.sorted())
    }

    @Test func everyKeyIsExplained() throws {
        let definitions = try #require(try validator().root["$defs"] as? [String: [String: Any]])
        for (name, definition) in definitions {
            for (key, value) in definition["properties"] as? [String: [String: Any]] ?? [:] {
                let help = value["description"] as? String ?? ""
                #expect(help.hasSuffix(".") || name == "expectations", "\(name).\(key): \(help)")
                #expect(!help.isEmpty, "\(name).\(key)")
            }
        }
    }

    @Test func everyScenarioOfThePackageFits() throws {
        let directory = packageDirectory.appendingPathComponent("Scenarios")
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".yaml") }
        #expect(files.count >= 5)
        for file in files {
            let text = try String(contentsOf: directory.appendingPathComponent(file), encoding: .utf8)
            let found = try complaints(of: text)
            #expect(found == [], "\(file)")
            #expect(text.hasPrefix("# yaml-language-server: $schema=scenario.schema.json\n"), "\(file)")
        }
    }

    @Test func aScenarioWithEveryKeyFits() throws {
        let found = try complaints(of: everyKey)
        #expect(found == [])
        #expect(pressuresimComplaints(everyKey) == [])
    }

    /// What neither takes. The schema cannot know more than forms: ranges of quantities, paths and files are the reader's.
    @Test(arguments: [
        ("visible: true", "visable: true"), ("visible: true", "visible: maybe"), ("size: 64KiB", "size: 64KB"),
        ("size: 64KiB", "size: 64"), ("size: 64KiB", "size: -64KiB"), ("count: 3", "count: 0"),
        ("count: 3", "count: 2.5"),
        ("count: 3", "count: -3"), ("count: 3", "count: 99999999999"), ("compressibility: 0.5", "compressibility: 1.5"),
        ("compressibility: 0.5", "compressibility: half"), ("compressibility: 0.5", "entropy: 9"),
        ("synthetic", "sinthetic"),
        ("content: text", "content: txt"), ("loader: none", "loader: non"), ("cost: 1ms", "cost: 1"),
        ("name: kept", "name: a/b"), ("name: Small\n", ""), ("warning: critical", "warning: critcal"),
        ("warning: critical", "warnin: critical"), ("warning: critical", "foregroud"), ("warning: critical", "wait: 5"),
        ("warning: critical", "disk: {slow: fast}"), ("warning: critical", "disk: fool"),
        ("warning: critical", "hog: {rate: 5MB/s}"), ("warning: critical", "together: []"),
        ("warning: critical", "present: a/*"), ("of: shelf/*", "of: shelf/*, pattern: zip"),
        ("of: shelf/*", "of: shelf/*, pattern: {zipf: {alpha: 0}}"), ("of: shelf/*", "of: shelf/*, every: never"),
        ("of: shelf/*", "of: shelf/*, pattern: {hot_set: {size: 10%}}"), ("of: shelf/*", "of: /shelf"),
        ("lost: == 0", "losst: == 0"), ("lost: == 0", "lost: 0"), ("lost: == 0", "hit_p99: < 50"),
        ("lost: == 0", "claimed: '> 5ms'"), ("lost: == 0", "lost: == 0 or == 1"), ("timeline:", "timline:"),
        ("seed: 5", "seed: -5"), ("seed: 5", "policy: fifo"), ("seed: 5", "memory: {cgroup_limit: much}"),
    ])
    func whatIsWrongIsRefusedByBoth(old: String, new: String) throws {
        let text = smallScenario.replacingOccurrences(of: old, with: new)
        try #require(text != smallScenario)
        #expect(!pressuresimComplaints(text).isEmpty, "the reader takes \(new)")
        #expect(try !complaints(of: text).isEmpty, "the schema takes \(new)")
    }

    @Test func theSchemaIsOne() throws {
        let check = """
            import json, sys
            try:
                import jsonschema
            except ImportError:
                sys.exit(77)
            jsonschema.Draft202012Validator.check_schema(json.load(open(sys.argv[1])))
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-W", "ignore", "-c", check, Self.path.path]
        try process.run()
        process.waitUntilExit()
        switch process.terminationStatus {
        case 0: break
        case 77, 127: print("skipped: python3-jsonschema is not installed, which knows the schema of schemas")
        default: Issue.record("not a JSON Schema of draft 2020-12")
        }
    }
}

/// The reader's complaints, by a name that tells them from the schema's.
private func pressuresimComplaints(_ text: String) -> [String] { complaints(text) }

/// Every key of the language, once at least.
let everyKey = """
    name: Everything
    description: Each key once.
    seed: 1_000
    spill: {directory: /var/tmp, limit: 1GiB, allow_memory: true, compress_later: false}
    memory: {taken_since_start: {warning: {enter: 2MiB, leave: 1MiB}, critical: {enter: 4MiB, leave: 3MiB}}}
    policy: lru
    controllers:
      - name: app
        visible: true
        caches:
          - {name: one, count: 2, size: 1KiB to 2KiB, content: text, loader: none, storage: array}
          - name: many
            keyed: {keys: 20, limit: 64KiB, count_limit: 10}
            size: 4KiB
            content: {synthetic: {entropy: 3.2}}
            loader: {cost: 1ms to 2ms, failure: 1%}
        children:
          - {name: left, count: 2, visible: first, caches: [{name: a, size: 1KiB, content: {files: default corpus}, loader: none}]}
        presents:
          - {name: sheet, caches: [{name: b, size: 1KiB, content: {synthetic: {compressibility: 50%}}, loader: none}]}
    timeline:
      - phase: First
      - access: {of: app/many, pattern: {hot_set: {size: 10%, share: 0.9, shift_every: 5}}, count: 1_0, threads: 2, every: 1ms}
      - access: {of: "app/many[1?]", pattern: {scan: {length: 5}}}
      - access: {of: app/**, pattern: {loop: {over: 3}}}
      - update: {of: app/one-*, pattern: uniform, count: 2, every: 1us}
      - browse: {of: app/left-*, pattern: {zipf: {alpha: 0.9}}, every: 0s}
      - warning: critical
      - warning: {level: warning, freeing: 1KiB}
      - background
      - foreground
      - show: app/left-2
      - hide: app/left-1
      - present: app/sheet
      - dismiss: app/sheet
      - transition: {from: app/left-2, to: app/left-1}
      - disk: full
      - disk: {slow: 10MB/s}
      - disk: {failing: 5%}
      - disk: normal
      - fill: {until: warning, at_most: 1MiB, rate: 10MB/s}
      - hog: {size: 1MiB, rate: 10MB/s, for: 1s}
      - release
      - await: {level: normal, within: 1s}
      - wait: 1h
      - together: [verify, {access: {of: app/one-1}}]
      - verify
    expect:
      lost: == 0
      hit_rate: ">= 10% and <= 1"
      restore_p99: < 50ms
      evict_rate: ">= 0"
    """
