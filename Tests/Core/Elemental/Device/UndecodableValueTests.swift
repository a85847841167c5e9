import Elemental
import Foundation
import TestSupport
import Testing

/// JSON texts that do not have the form of the Swift type.
struct UndecodableValueTests {
    private struct Pose: Codable, Sendable, Equatable {
        let x: Double
    }

    private static let pose = Element<JSON<Pose>>(1, "Pose")
    private static let text = Element<Data>(1, "Pose")
    private static let mark = Element<UInt8>(2, "Mark")

    /// The ways in which a service takes values. Each adds those that can be decoded to the transcript.
    enum Way: CaseIterable {
        case handler, deviceHandler, stream, relay, waitingRelay

        fileprivate func take(_ service: ElementalService, _ device: ElementalDevice, _ received: Transcript<Double>) {
            let pose = UndecodableValueTests.pose
            switch self {
            case .handler: service.onValue(of: pose) { received.add($0.x) }
            case .deviceHandler: device.onValue(of: pose) { value in received.add(value.x) }
            case .stream:
                let values = device.values(of: pose)
                Task { for await value in values { received.add(value.value.x) } }
            case .relay:
                service.relay(pose) { value, _ in
                    received.add(value.value.x)
                    return value
                }
            case .waitingRelay:
                service.relay(pose) { value, _ in
                    await Task.yield()
                    received.add(value.value.x)
                    return value
                }
            }
        }
    }

    @Test(arguments: Way.allCases)
    func aServiceRefusesAndCountsThem(_ way: Way) async throws {
        try await withPair([Self.pose, Self.mark], client: [Self.text, Self.mark]) { service, device in
            try service.send(Pose(x: 1), to: Self.pose)
            try await eventually { device.value(of: Self.text) != nil }
            let client = try #require(service.devices.first)
            let received = Transcript<Double>()
            way.take(service, client, received)
            let refusals = Transcript<ValueRefusal>()
            device.onRefusal { element, refusal, _ in if element.id == 1 { refusals.add(refusal) } }
            for text in ["{", #"{"y":2}"#] { try device.send(Data(text.utf8), to: Self.text) }
            try device.send(Data(#"{"x":3}"#.utf8), to: Self.text)
            try await received.wait(for: 1)
            try await refusals.wait(for: 2)
            #expect(received.all == [3])
            #expect(refusals.all.allSatisfy { $0.reason == .refused && $0.message.contains("cannot be decoded") })
            #expect(client.statistics.messagesMalformed == 2)
            #expect(client.isConnected)
        }
    }

    @Test
    func aClientCountsThem() async throws {
        try await withPair([Self.text, Self.mark], client: [Self.pose, Self.mark]) { service, device in
            let received = Transcript<Double>()
            device.onValue(of: Self.pose) { value in received.add(value.x) }
            for text in ["[", #"{"x":3}"#] { try service.send(Data(text.utf8), to: Self.text) }
            try await received.wait(for: 1)
            #expect(received.all == [3])
            #expect(device.statistics.messagesMalformed == 1)
        }
    }
}
