import ElementalWire
import NIOCore
import TestSupport
import Testing

@testable import Elemental

/// Peers that become silent.
struct HeartbeatTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func heartbeat() -> Heartbeat {
        Heartbeat(interval: .seconds(20), patience: .seconds(90), now: Self.start)
    }

    private func time(_ seconds: Int64) -> NIODeadline { Self.start + .seconds(seconds) }

    @Test
    func silenceCausesPingsAndThenATimeOut() {
        var heartbeat = heartbeat()
        #expect(heartbeat.step(at: time(0), listens: true, sentByteCount: 0) == .wait(time(20)))
        #expect(heartbeat.step(at: time(20), listens: true, sentByteCount: 0) == .ping(time(40)))
        #expect(heartbeat.step(at: time(40), listens: true, sentByteCount: 13) == .ping(time(60)))
        #expect(heartbeat.step(at: time(60), listens: true, sentByteCount: 26) == .ping(time(80)))
        #expect(heartbeat.step(at: time(80), listens: true, sentByteCount: 39) == .ping(time(90)))
        #expect(heartbeat.step(at: time(90), listens: true, sentByteCount: 52) == .dead)
    }

    @Test
    func aPeerThatSendsAndReceivesNeedsNoPings() {
        var heartbeat = heartbeat()
        for second in stride(from: 10, through: 100, by: 10) as StrideThrough<Int64> {
            heartbeat.lastHeard = time(second)
            let step = heartbeat.step(at: time(second), listens: true, sentByteCount: Int(second))
            #expect(step == .wait(time(max(20, second + 20))))
        }
    }

    @Test
    func aPeerThatOnlyReceivesSendsPings() {
        var heartbeat = heartbeat()
        heartbeat.lastHeard = time(19)
        #expect(heartbeat.step(at: time(20), listens: true, sentByteCount: 0) == .ping(time(40)))
    }

    @Test
    func aPausedReaderDoesNotTimeOutItsPeer() {
        var heartbeat = heartbeat()
        #expect(heartbeat.step(at: time(100), listens: false, sentByteCount: 0) == .ping(time(120)))
        #expect(heartbeat.step(at: time(120), listens: true, sentByteCount: 13) == .ping(time(140)))
        #expect(heartbeat.step(at: time(189), listens: true, sentByteCount: 26) == .ping(time(190)))
        #expect(heartbeat.step(at: time(190), listens: true, sentByteCount: 39) == .dead)
    }

    @Test(
        arguments: [
            (Duration.seconds(20), 4.5, Duration.seconds(90)), (.seconds(20), 1, .seconds(20)),
            (.seconds(20), 0, .seconds(20)), (.seconds(20), -3, .seconds(20)), (.milliseconds(10), 1000, .seconds(10)),
            (nil, 4.5, nil),
        ] as [(Duration?, Double, Duration?)])
    func aPeerIsDeadAfterSoManyIntervals(_ interval: Duration?, _ patience: Double, _ silence: Duration?) {
        var limits = DeviceLimits()
        #expect(limits.maximumSilence == .seconds(90))
        limits.heartbeatInterval = interval
        limits.heartbeatPatience = patience
        #expect(limits.maximumSilence == silence)
    }

    // MARK: Over sockets

    /// Frequent pings, and no timeout for a peer on a slow machine.
    private static func patient(_ configuration: inout ServiceConfiguration) {
        configuration.limits.heartbeatInterval = .milliseconds(50)
        configuration.limits.heartbeatPatience = 1_000_000
    }

    @Test
    func aQuietConnectionIsPingedAndLives() async throws {
        try await withPair(Lamp.all, Self.patient) { service, device in
            let other = try #require(service.devices.first)
            try await eventually { other.statistics.roundTripTime != nil }
            let first = other.statistics.bytesReceived
            try await eventually { other.statistics.bytesReceived > first }
            #expect(device.isConnected)
        }
    }
}
