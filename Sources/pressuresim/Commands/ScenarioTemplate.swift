import ScenarioLanguage

/// The scenario to begin with: right, played in some seconds, and explained.
enum ScenarioTemplate {
    /// The text, for a scenario of that name.
    static func text(name: String) -> String {
        """
        # A scenario for pressuresim: what an app holds, how that is read, when memory runs short, what is expected.
        # pressuresim check says what is wrong with it, run plays it, compare plays it under other orders of eviction.
        name: "\(name)"                     # the title of the account
        description: What can be fetched again may be dropped; what cannot must come back.
        seed: 1                             # the same seed gives the same bytes and the same reads

        controllers:                        # what your app's objects hold; a tree, by name
          - name: list
            visible: true                   # on the screen: the last to lose its values. Left out: hidden
            caches:
              - name: rows                  # list/rows-001 … list/rows-400
                count: 400
                size: 4KiB to 64KiB         # small ones are more frequent, as they are in apps
                content: text               # or {files: DIRECTORY}, or {synthetic: {compressibility: 0.6}}
                loader: {cost: 2ms}         # made on first access, and again after it was dropped
            children:
              - name: editor
                caches:
                  - name: drafts            # list/editor/drafts-01 … list/editor/drafts-24
                    count: 24
                    size: 512KiB
                    content: {synthetic: {compressibility: 0.6}}
                    loader: none            # set at the start; nothing can make it again, so it may never be lost

        timeline:                           # one step after the other
          - access: {of: list/**}                                   # every value once
          - access: {of: list/**, pattern: zipf, count: 4000}       # some often, most hardly ever
          - warning: {level: warning, freeing: 8MiB}                # what the system says when memory runs short
          - access: {of: list/**, pattern: zipf, count: 4000}       # what is gone comes back when it is read
          - update: {of: list/editor/drafts-*, pattern: uniform, count: 8}
          - warning: critical                                       # all that is not in use
          - access: {of: list/**, pattern: zipf, count: 2000}
          - background                                              # the app is put aside …
          - foreground                                              # … and comes back

        expect:                             # each is a figure, held against a number with its unit
          lost: == 0
          failed_accesses: == 0
          restores: ">= 1"                  # quoted: YAML reads a bare > as something else
          restore_p99: < 250ms
        """
    }
}

/// How to write a scenario and how to read an account, on a few screens.
enum ScenarioTopic {
    static var text: String {
        """
        A SCENARIO is a YAML file with these keys. pressuresim new FILE writes one that is explained line by line,
        and Scenarios/README.md documents all of it.

          name          the title of the account
          description   a sentence about what is shown
          seed          a whole number: the same seed gives the same bytes and the same reads
          controllers   the tree of what the app holds; each has a name, visible, caches, children
          timeline      the steps, one after the other
          expect        figures, each with a comparison: lost: == 0, restore_p99: < 50ms
          memory, spill whether memory is real or simulated; where evicted values go, and how much of them

        A CACHE has a name, a count, a size (64KiB, or 4KiB to 64KiB), content (text, {files: DIRECTORY},
        {synthetic: {compressibility: 0.6}}) and a loader: {cost: 5ms, failure: 1%}, or none for what cannot be made again.

        Editors complete and explain all this with Scenarios/scenario.schema.json, which pressuresim schema prints too.

        A STEP is one of:

        \(wrapped(Step.form.allowed, indent: "  "))

          - access: {of: list/**, pattern: zipf, count: 2000, threads: 2}
          - warning: {level: warning, freeing: 64MiB}

        Paths may have * for any characters within a name, ? for one, ** for any number of names. Sizes carry a unit (B, KiB,
        MiB, GiB), durations too (ns, us, ms, s, min).

        A FIGURE is what was measured: a name for expect, and a key of the JSON report. Of these, p50 is the median, p99 what
        99 of 100 did not exceed.

        \(figures)

        AN ACCOUNT is what run prints.

          What happened   each step, when it began, how long it took, what it did. Below a warning: why it came, what left
                          memory and how (dropped: its loader makes it again; spilled: written to disk; reused: a copy was
                          there already), what was claimed and what the system really got back, what had to stay and why.
          Latency         how long reads took from memory, through a loader, from the disk; and evictions
          Memory          what was freed, what it took on disk, the process's resident memory
          Expected        each expectation with the value that was measured, ✓ or ✗

        The last line is the verdict. Exit status: 0 all holds; 1 an expectation failed or a value was lost; 2 the scenario is
        wrong; 3 the environment refused.

        SEE IT WORK
          pressuresim new shop.yaml
          pressuresim run shop.yaml --json shop.json
          pressuresim compare shop.yaml
        """
    }

    /// All figures, with their units.
    private static var figures: String {
        var table = TextTable([.left, .left, .left])
        for figure in Figure.allCases { table.add([figure.rawValue, figure.unit.rawValue, figure.meaning]) }
        return table.lines.map { "  \($0)" }.joined(separator: "\n")
    }

    /// Words in lines of at most 118 columns.
    private static func wrapped(_ text: String, indent: String) -> String {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= 118 {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(indent + word)
            }
        }
        return lines.joined(separator: "\n")
    }
}
