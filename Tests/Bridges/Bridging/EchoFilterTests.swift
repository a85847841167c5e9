import Bridging
import Elemental
import Testing

/// Values that only come back.
struct EchoFilterTests {
    private static let speed = Element<Float>(1, "Speed").definition
    private static let level = Element<UInt32>(2, "Level", latest: true).definition

    @Test
    func onlyTheNewestValueOfALatestElementIsAnEcho() {
        let echoes = EchoFilter()
        #expect(echoes.newest(of: Self.level) == nil)
        #expect(echoes.isNews(.uint32(1), of: Self.level))
        #expect(!echoes.isNews(.uint32(1), of: Self.level))
        #expect(echoes.newest(of: Self.level) == .uint32(1))
        #expect(echoes.isNews(.uint32(2), of: Self.level))
        #expect(echoes.isNews(.uint32(1), of: Self.level))
        // Each value of another element counts.
        #expect(echoes.isNews(.float(1), of: Self.speed))
        #expect(echoes.isNews(.float(1), of: Self.speed))
        #expect(echoes.newest(of: Self.speed) == nil)
    }

    @Test
    func whatWasNotAcceptedIsNoEcho() {
        let echoes = EchoFilter()
        #expect(echoes.isNews(.uint32(1), of: Self.level))
        echoes.forget(Self.level)
        #expect(echoes.newest(of: Self.level) == nil)
        #expect(echoes.isNews(.uint32(1), of: Self.level))
    }
}
