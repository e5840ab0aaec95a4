import Testing

@testable import ScenarioLanguage
@testable import pressuresim

@Suite struct PathGlobTests {
    @Test(arguments: [
        ("a/b", "a/b", true), ("a/b", "a/c", false), ("a/*", "a/b", true), ("a/*", "a/b/c", false),
        ("a/**", "a/b/c", true), ("a/**", "a", true), ("**", "a/b/c", true), ("**/c", "a/b/c", true),
        ("**/c", "c", true), ("a/**/d", "a/d", true), ("a/**/d", "a/b/c/d", true), ("a/**/d", "a/b/c", false),
        ("x-*", "x-12", true), ("x-*", "y-12", false), ("x-?", "x-1", true), ("x-?", "x-12", false),
        ("*-*2*", "ab-12c", true), ("*", "", false), ("", "", true), ("A", "a", false),
    ])
    func matchesWholePathsByComponent(pattern: String, path: String, isMatch: Bool) {
        #expect(PathGlob(pattern).matches(path) == isMatch)
    }
}

@Suite struct SpellingTests {
    @Test(
        arguments: [
            ("visable", "visible"), ("Visible", "visible"), ("visbile", "visible"), ("vsible", "visible"),
            ("conut", "count"), ("x", nil), ("entirely", nil),
        ] as [(String, String?)]
    )
    func suggestsTheNearestSpellingThatIsNear(word: String, suggestion: String?) {
        #expect(Spelling.nearest(to: word, among: ["name", "count", "visible", "caches"]) == suggestion)
    }

    @Test(arguments: [("", "", 0), ("abc", "", 3), ("abc", "abd", 1), ("abc", "acb", 1), ("kitten", "sitting", 3)])
    func distanceCountsSlips(left: String, right: String, distance: Int) {
        #expect(Spelling.distance(Array(left), Array(right)) == distance)
        #expect(Spelling.distance(Array(right), Array(left)) == distance)
    }
}

@Suite struct UnitTests {
    @Test(
        arguments: [
            ("64KiB", 65_536), ("1.5 MiB", 1_572_864), ("0B", 0), ("2GiB", 2_147_483_648), ("1,024B", 1024),
            ("64KB", nil), ("64", nil), ("KiB", nil), ("-1B", nil), ("1e3B", nil), ("", nil),
        ] as [(String, Double?)]
    )
    func sizesHaveBinaryUnits(text: String, bytes: Double?) {
        #expect(UnitFamily.bytes.value(text) == bytes)
    }

    @Test(
        arguments: [
            ("200ms", 0.2), ("2s", 2), ("1min", 60), ("5us", 5e-6), ("5µs", 5e-6), ("7ns", 7e-9), ("2m", nil),
            ("2", nil),
        ] as [(String, Double?)]
    )
    func durationsHaveUnits(text: String, seconds: Double?) {
        let value = UnitFamily.time.value(text)
        #expect((value == nil) == (seconds == nil))
        if let value, let seconds { #expect(abs(value - seconds) < 1e-12) }
    }

    @Test(
        arguments: [("150MB/s", 150e6), ("1MiB/s", 1_048_576), ("2GB/s", 2e9), ("150MB", nil)] as [(String, Double?)]
    )
    func ratesHaveUnits(text: String, rate: Double?) {
        #expect(UnitFamily.rate.value(text) == rate)
    }
}
