#if Redis
import PressureKitTestSupport
import Testing

@testable import SpillStore

/// What keys and records are called, and that others' are not taken for them.
@Suite struct RedisStateTests {
    private let keys = RedisStateKeys(prefix: "pk", name: "app")

    @Test func keysAreReadAsTheyAreWritten() {
        for (key, part) in [
            (keys.record, RedisStateKeys.Part.record), (keys.lock, .lock),
            (keys.segment(12, of: "1abc"), .segment(generation: "1abc")),
        ] {
            let found = RedisStateKeys.parse(key, prefix: "pk")
            #expect(found?.keys == keys && found?.part == part, "\(key)")
            // Neither is the other's.
            #expect(RedisKeys.parse(key, prefix: "pk") == nil)
        }
        #expect(RedisStateKeys.parse(RedisKeys(prefix: "pk", generation: "g").segment(3), prefix: "pk") == nil)
    }

    @Test(arguments: [
        "", "pk:state:", "pk:state:{}", "pk:state:{a", "pk:state:{a}x", "pk:state:{a}:g", "pk:state:{a}:g:x",
        "pk:state:{a}::1", "pk:state:{a}:g:1:2", "qk:state:{a}", "pk:{a}:1", "pk:state:{a}:g:-1",
    ]) func otherKeysAreNot(_ key: String) { #expect(RedisStateKeys.parse(key, prefix: "pk") == nil) }

    @Test func aRecordIsReadAsItIsWritten() {
        let record = RedisStateRecord(generation: "g", bytes: 3_000_000, saved: 17, host: "h", pid: 4)
        let values = record.words.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        #expect(RedisStateRecord(values) == record)
        #expect(record.segments == 3 && record.length(ofSegment: 0) == RedisStateRecord.segmentLength)
        #expect((0..<3).reduce(0) { $0 + record.length(ofSegment: $1) } == 3_000_000)
        #expect(record.length(ofSegment: 3) == 0)
        #expect(RedisStateRecord(["", "", "", "", ""]) == nil && RedisStateRecord(["g"]) == nil)
        for bytes in ["", "x", "-1", "\(Int.max)"] {
            #expect(RedisStateRecord(["g", bytes, "", "", ""])?.bytes == 0)
        }
    }

    @Test func anOwnerIsReadAsItIsWritten() {
        let owner = RedisStateOwner()
        #expect(RedisStateOwner(owner.text) == owner && RedisStateOwner() != owner)
        #expect(RedisStateOwner.name(owner.text) == "process \(owner.pid) on \(owner.host)")
        for text in ["", "a b c", "a 1", "a 1 b c"] { #expect(RedisStateOwner(text) == nil) }
        #expect(RedisStateOwner.name("whoever it is") == "\"whoever it is\"")
    }
}
#endif
