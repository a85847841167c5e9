import TestSupport
import Testing

@testable import Elemental

/// Vectors with a component outside the element's range, at both ends.
struct ComponentRangeRefusalTests {
    private enum Desk {
        static let faders = Element<Vector4>(1, "Faders", unit: "dB", range: -60...0)
        static let aim = Element<Vector2>(2, "Aim", transport: .udp, range: -1...1)
        static let all: ElementCatalogue = [faders, aim]
    }

    @Test
    func aVectorOutsideTheRangeIsNotSentAndTheErrorTellsTheRange() async throws {
        try await withPair(Desk.all, client: nil) { service, device in
            #expect(device.knownElements["Faders"] == Desk.faders && device.knownElements["Aim"] == Desk.aim)
            let error = #expect(throws: ElementalError.self) { try device.send([0, 0, 1, 0], to: Desk.faders) }
            #expect(error?.code == .outOfRange)
            #expect(
                error?.message == "element 'Faders' takes -60 to 0 dB in each component, not 0.0,0.0,1.0,0.0")
            #expect(throws: ElementalError.self) { try device.send(.float2([0, .nan]), to: Desk.aim.definition) }
            #expect(throws: ElementalError.self) { try service.send([2, 0], to: Desk.aim) }
            try device.send([-60, 0, -1, -2], to: Desk.faders)
            try await eventually { service.devices.first?.value(of: Desk.faders) == [-60, 0, -1, -2] }
        }
    }

    /// A client that knows the elements without their ranges, as one does that ignores them in a catalogue.
    @Test
    func aVectorOutsideTheRangeIsRefusedAndFollowedByTheCurrentOne() async throws {
        let faders = Element<Vector4>(1, "Faders")
        let aim = Element<Vector2>(2, "Aim", transport: .udp)
        try await withPair(Desk.all, client: [faders, aim]) { service, device in
            service.relayAll()
            try service.send([-1, -1, -1, -1], to: Desk.faders)
            try await eventually { device.value(of: faders) == [-1, -1, -1, -1] }
            let values = Transcript<Vector4>()
            let refusals = device.gatherRefusals()
            device.onValue(of: faders) { values.add($0) }
            for wrong in [[0, 0, 0, 0.5], [-61, 0, 0, 0], [0, .nan, 0, 0]] as [Vector4] {
                try device.send(wrong, to: faders)
            }
            try device.send([-2, 0, 0, -60], to: faders)
            try await device.ping()
            #expect(refusals.all.map(\.refusal.reason) == [.outOfRange, .outOfRange, .outOfRange])
            #expect(values.all.last == [-2, 0, 0, -60])
            #expect(values.all.dropLast().allSatisfy { $0 == [-1, -1, -1, -1] } && values.all.count == 5)
            #expect(service.value(of: Desk.faders) == [-2, 0, 0, -60])
            #expect(service.devices.first?.statistics.messagesRejected == 3)
            let error = await elementalError { try await device.set([0, 0, 0, 7], to: faders) }
            #expect(error?.code == .outOfRange)
        }
    }
}
