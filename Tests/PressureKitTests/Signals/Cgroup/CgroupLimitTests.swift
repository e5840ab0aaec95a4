import PressureKit
import Testing

@Suite struct CgroupLimitTests {
    @Test func theLeastOfAllAboveIsTheLimit() throws {
        let root = try FakeRoot()
        try root.enterUnified("/slice/app")
        try root.makeUnified("/slice/app", current: 700, max: "max")
        try root.makeUnified("/slice", current: 900, max: "2000", high: "1500")
        #expect(CgroupLimit.least(root.context) == .bytes(1500))
    }

    @Test func versionOneHasItInTheStatisticsToo() throws {
        let root = try FakeRoot()
        try root.enterLegacy("/job")
        try root.makeLegacy("/job", usage: 10, limit: "9223372036854771712", above: 4096)
        #expect(CgroupLimit.least(root.context) == .bytes(4096))
    }

    @Test func withoutALimitOrACgroupThereIsNone() throws {
        let root = try FakeRoot()
        #expect(CgroupLimit.least(root.context) == nil)
        try root.enterUnified("/app")
        try root.makeUnified("/app", current: 700, max: "max")
        #expect(CgroupLimit.least(root.context) == nil)
    }
}
