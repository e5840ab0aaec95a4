extension RunRecord {
    /// How the steps are numbered for people, in their order: `"6"`, or `"6.1"` and `"6.2"` where several records belong to
    /// one step, as those of `together` do; `nil` for what happened by itself.
    var stepNumbers: [String?] {
        let counts = steps.reduce(into: [Int: Int]()) { counts, step in
            if let number = step.number { counts[number, default: 0] += 1 }
        }
        var told: [Int: Int] = [:]
        return steps.map { step in
            guard let number = step.number else { return nil }
            guard let count = counts[number], count > 1 else { return "\(number)" }
            told[number, default: 0] += 1
            return "\(number).\(told[number] ?? 1)"
        }
    }
}
