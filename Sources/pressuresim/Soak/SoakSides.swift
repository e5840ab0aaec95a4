import Foundation
import PressureKit

/// What goes on beside the reading: stays in the background, saved states, and the news of it.
final class SoakSides: Sendable {
    private let plan: SoakPlan
    private let load: SoakLoad
    private let start: MonotonicInstant
    private let end: MonotonicInstant
    private let counts = Lock((scenes: 0, saves: 0))

    init(plan: SoakPlan, load: SoakLoad, start: MonotonicInstant, end: MonotonicInstant) {
        self.plan = plan
        self.load = load
        self.start = start
        self.end = end
    }

    /// What is known now.
    func news(at now: MonotonicInstant) -> SoakNews {
        let counts = counts.withLock { $0 }
        var news = SoakNews(seconds: (now - start).seconds, tally: load.tally)
        news.scenes = counts.scenes
        news.saves = counts.saves
        return news
    }

    /// Tells of each window when it is over.
    func tellWindows() async {
        let clock = SystemClock()
        var next = start + .seconds(plan.windowSeconds)
        while next <= end {
            await Self.sleep(until: next)
            var news = news(at: clock.now())
            news.restores = SoakNews.Restores(load.takeRestores())
            Self.tell(news)
            next = next + .seconds(plan.windowSeconds)
        }
    }

    /// Puts the app into the background and back, and saves its state, each when it is due.
    func play(_ manager: PressureManager, _ controller: PressureController) async throws {
        let states = try SoakStates(controller, plan)
        var (nextScene, nextSave) = (start + .seconds(plan.sceneInterval), start + .seconds(plan.saveInterval))
        while true {
            let next = min(nextScene, nextSave)
            guard next < end else { return }
            await Self.sleep(until: next)
            if next == nextScene {
                _ = await manager.enterBackground(within: .seconds(5))
                _ = await manager.enterForeground()
                counts.withLock { $0.scenes += 1 }
                nextScene = next + .seconds(plan.sceneInterval)
            } else {
                if let complaint = await states.saveAndCompare(manager) { load.lose(complaint) }
                counts.withLock { $0.saves += 1 }
                nextSave = next + .seconds(plan.saveInterval)
            }
        }
    }

    private static func sleep(until instant: MonotonicInstant) async {
        let left = instant - SystemClock().now()
        if left > .zero { try? await Task.sleep(for: left) }
    }

    /// Says it on standard output.
    static func tell(_ news: SoakNews) {
        guard let line = try? JSONEncoder().encode(news) else { return }
        do {
            try FileHandle.standardOutput.write(contentsOf: line + Data("\n".utf8))
        } catch {
            // Nobody listens any more: then nobody wants to know either.
            exit(ExitStatus.environmentRefused.rawValue)
        }
    }
}
