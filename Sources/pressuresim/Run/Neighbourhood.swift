import Foundation
import PressureKit
import ScenarioLanguage

/// The processes that play one scenario side by side below one limit, as one of them sees the others.
protocol Neighbourhood: Sendable {
    /// What each of the others holds in values; `nil` for one that has ended.
    var held: [ByteCount?] { get }

    /// Lets the others know what this process holds.
    func tell(_ held: ByteCount)

    /// Blocks until all have come so far or have ended, or the run is to end.
    func meet(_ place: MeetingPlace)
}

/// Where processes that play one scenario wait for each other.
enum MeetingPlace: String, Sendable, CaseIterable {
    /// The values are made, and nothing is played yet.
    case made
    /// The timeline is played, and nothing is verified yet.
    case played
}

/// What a process that is not the first has to say when it has played.
struct NeighbourResult: Codable, Hashable, Sendable {
    struct Loss: Codable, Hashable, Sendable {
        var path: String
        var reason: String
    }

    var losses: [Loss]
    var failures: Int
    var complaints: [String]

    init(_ record: RunRecord) {
        losses = record.tally.losses.map { Loss(path: $0.path, reason: $0.reason) }
        failures = record.tally.failures
        complaints = record.tally.complaints + record.reclaims.flatMap(\.failures)
    }
}

/// What one of these processes says to the first, a line each.
enum NeighbourWord: Equatable {
    case held(ByteCount)
    case at(MeetingPlace)
    case ended(NeighbourResult)

    var line: String {
        switch self {
        case .held(let bytes): "held \(bytes.bytes)\n"
        case .at(let place): "\(place.rawValue)\n"
        case .ended(let result):
            // Of strings and numbers there always is JSON, in one line.
            "ended \(String(decoding: (try? JSONEncoder().encode(result)) ?? Data(), as: UTF8.self))\n"
        }
    }

    /// `nil` for a line that says nothing.
    init?(_ line: some StringProtocol) {
        let words = line.split(separator: " ", maxSplits: 1)
        guard let first = words.first else { return nil }
        let rest = words.dropFirst().first
        if let place = MeetingPlace(rawValue: String(first)) {
            self = .at(place)
        } else if first == "held", let bytes = rest.flatMap({ Int($0) }), bytes >= 0 {
            self = .held(.bytes(bytes))
        } else if first == "ended", let rest,
            let result = try? JSONDecoder().decode(NeighbourResult.self, from: Data(rest.utf8))
        {
            self = .ended(result)
        } else {
            return nil
        }
    }
}

/// The others as one of them sees them that is not the first: it speaks through its output, and hears when all have come
/// as far as itself.
struct NeighbourMember: Neighbourhood {
    /// Nobody tells it: it has nothing to draw.
    var held: [ByteCount?] { [] }

    func tell(_ held: ByteCount) { say(.held(held)) }

    func meet(_ place: MeetingPlace) {
        say(.at(place))
        while let line = readLine(), line != place.rawValue {}
    }

    private func say(_ word: NeighbourWord) {
        // Who does not listen any more has ended, and ends us.
        try? FileDescriptorOutput.write(Data(word.line.utf8), to: STDOUT_FILENO)
    }

    /// Plays what such a process plays of a scenario, says nothing to the user, and tells the first how it went.
    static func play(_ scenario: Scenario, file: String) async throws {
        var stage = Stage.real(seed: scenario.seed)
        let member = NeighbourMember()
        stage.neighbourhood = member
        let record = try await Simulation(scenario.ofANeighbour, file: file, stage: stage).runAlone()
        member.say(.ended(NeighbourResult(record)))
    }
}
