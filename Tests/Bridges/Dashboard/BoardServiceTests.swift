import ElementalFollowing
import Testing

@testable import Dashboard
@testable import Elemental

/// What is kept of a service for pages.
struct BoardServiceTests {
    private static let speed = Element<Float>(1, "Speed")
    private static let reset = Element<Bool>(2, "Reset", access: .write)
    private let service = BoardService(ServiceKey(service: "robot", name: "Rover"), number: 1)

    private func text(_ id: Int8) -> String? {
        if case .text(let text) = service.content(of: id) { String(buffer: text) } else { nil }
    }

    @Test
    func theNewestValueIsTold() {
        for number in 1...100 { service.take(.float(Float(number)), of: 1) }
        #expect(service.changed == [1])
        // The second time as it was written the first time.
        #expect([text(1), text(1)] == ["100.0", "100.0"])
    }

    @Test
    func whatIsRefusedIsNotTheValue() {
        service.note(.float(0.7), of: Self.speed, by: 5, 3)
        #expect(text(1) == "0.7")
        #expect(service.refuse(1) == [5: 3])
        #expect(text(1) == "null" && service.ids.isEmpty)
        // What the service says itself stays.
        service.note(.float(0.8), of: Self.speed, by: 5, 4)
        service.take(.float(0.5), of: 1)
        #expect(service.refuse(1) == [5: 4])
        #expect(text(1) == "0.5")
        #expect(service.refuse(1) == nil)
    }

    @Test
    func whatCannotBeReadIsNotShown() {
        service.note(.bool(true), of: Self.reset, by: 5, 3)
        #expect(service.changed.isEmpty && service.ids.isEmpty)
        #expect(service.refuse(2) == [5: 3])
    }

    @Test
    func ratesComeFromTwoLooks() {
        var meter = QualityMeter()
        var statistics = DeviceStatistics()
        let start = ContinuousClock.now
        #expect(meter.look(at: statistics, start) == Quality())
        statistics.messagesReceived = 40
        statistics.messagesSent = 10
        statistics.messagesReplaced = 2
        statistics.datagramsDropped = 1
        statistics.messagesOutdated = 4
        statistics.roundTripTime = .milliseconds(3)
        let quality = meter.look(at: statistics, start + .seconds(2))
        #expect(quality == Quality(roundTrip: .milliseconds(3), received: 20, sent: 5, lost: 7))
        // Another connection, which counts anew.
        #expect(meter.look(at: DeviceStatistics(), start + .seconds(3)).received == 0)
    }
}
