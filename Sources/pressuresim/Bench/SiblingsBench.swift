import PressureKit

/// Many controllers below one, with a value each: what one of them costs must not grow with their number.
struct SiblingsBench {
    let plan: BenchPlan
    let directory: String

    func run() throws -> BenchResult {
        let (few, many) = try BenchTiming.medians(plan.rounds) {
            try seconds(plan.siblings)
        } ours: {
            try seconds(10 * plan.siblings)
        }
        return BenchResult(.manySiblings, value: many, limit: few)
    }

    /// From the first controller to the end of the reclaim that writes what all of them have.
    private func seconds(_ count: Int) throws -> Double {
        let manager = try BenchManager.make(directory: directory)
        // Of its own: small values lie between controllers, which stay, and return no page.
        let log = ReclaimLog()
        return try BenchTiming.seconds {
            for number in 0..<count {
                let controller = PressureController("\(number)")
                _ = try controller.cache("value", initialValue: [UInt8](repeating: UInt8(number & 0xFF), count: 1024))
                try manager.root.addChild(controller)
            }
            _ = try log.reclaim(manager)
        }
    }
}
