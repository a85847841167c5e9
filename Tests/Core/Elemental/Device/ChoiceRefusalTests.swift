import TestSupport
import Testing

@testable import Elemental

/// Values that are none of an element's choices, at both ends.
struct ChoiceRefusalTests {
    private enum Heater {
        static let mode = Element<UInt8>(1, "Mode", choices: [0: "off", 1: "heat", 2: "cool"])
        static let fan = Element<String>(2, "Fan", choices: ["slow", "fast"])
        static let all: ElementCatalogue = [mode, fan]
    }

    @Test
    func aValueThatIsNoChoiceIsNotSentAndTheErrorTellsTheChoices() async throws {
        try await withPair(Heater.all, client: Heater.all) { service, device in
            let mode = #expect(throws: ElementalError.self) { try device.send(3, to: Heater.mode) }
            #expect(mode?.code == .outOfRange)
            #expect(mode?.message == "element 'Mode' takes one of 'off' (0), 'heat' (1), 'cool' (2), not 3")
            let fan = #expect(throws: ElementalError.self) {
                try device.send(.string("medium"), to: Heater.fan.definition)
            }
            #expect(fan?.code == .outOfRange && fan?.message.contains("'slow', 'fast', not medium") == true)
            #expect(throws: ElementalError.self) { try service.send("", to: Heater.fan) }
            try device.send(2, to: Heater.mode)
            try await eventually { service.devices.first?.value(of: Heater.mode) == 2 }
        }
    }

    /// A client that knows the elements without their choices.
    @Test
    func aValueThatIsNoChoiceIsRefusedAndFollowedByTheCurrentOne() async throws {
        let mode = Element<UInt8>(1, "Mode")
        let fan = Element<String>(2, "Fan")
        try await withPair(Heater.all, client: [mode, fan]) { service, device in
            service.relayAll()
            try service.send(1, to: Heater.mode)
            try await eventually { device.value(of: mode) == 1 }
            let values = Transcript<UInt8>()
            let refusals = device.gatherRefusals()
            device.onValue(of: mode) { values.add($0) }
            try device.send(3, to: mode)
            try device.send("medium", to: fan)
            try device.send(2, to: mode)
            try device.send("fast", to: fan)
            try await device.ping()
            #expect(refusals.all.map(\.refusal.reason) == [.notAChoice, .notAChoice])
            #expect(values.all == [1, 1, 2], "the newest, the current behind the refusal, and the one taken")
            #expect(service.value(of: Heater.mode) == 2 && service.value(of: Heater.fan) == "fast")
            #expect(service.devices.first?.statistics.messagesRejected == 2)
        }
    }

    @Test
    func anEnumIsSentAndReceivedByItsCases() async throws {
        enum Mode: UInt8, CaseIterable, ElementRepresentable { case off, heat, cool }
        let mode = Element<Mode>(1, "Mode")
        try await withPair([mode], client: nil) { service, device in
            service.relay(mode)
            let (values, refusals) = (Transcript<Mode>(), device.gatherRefusals())
            device.onValue(of: mode) { values.add($0) }
            try device.send(.cool, to: mode)
            try device.send(.uint8(3), to: ElementDefinition(id: 1, name: "Mode", type: .uint8))
            try await device.ping()
            #expect(values.all == [.cool, .cool], "the one taken, and the current one again")
            #expect(service.value(of: mode) == .cool)
            #expect(refusals.all.map(\.refusal.reason) == [.notAChoice])
            #expect(device.knownElements["Mode"]?.choices == Heater.mode.choices)
        }
    }

    @Test
    func aClientWithoutElementsLearnsTheChoices() async throws {
        try await withPair(Heater.all, client: nil) { _, device in
            #expect(device.knownElements["Mode"]?.choices == Heater.mode.choices)
            #expect(device.knownElements["Fan"]?.choices == Heater.fan.choices)
        }
    }
}
