import Elemental
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalObservation

/// Elements of a model, with a service of this process.
@MainActor
@Suite(.backstop)
struct ElementTests {
    /// Writes the value, waits until the service has it, lets the service send another, and waits for that.
    private static func exchange<Value: ElementRepresentable & Equatable>(
        _ element: Element<Value>, _ written: Value, _ told: Value, _ service: ElementalService, _ model: ObservedDevice
    ) async throws {
        let received = Locked<Value?>(nil)
        let registration = service.onValue(of: element) { value, _ in received.withLock { $0 = value } }
        #expect(model[element] == nil)
        model[element] = written
        #expect(model[element] == written)
        try await eventually("\(element.name)") { received.withLock { $0 } == written }
        #expect(model.failure(of: element) == nil)
        // The hold is zero: as soon as the service has dealt with it.
        try await eventually { !model.isRoundUnderWay }
        try service.send(told, to: element)
        try await eventually("\(element.name)") { model[element] == told }
        registration.cancel()
    }

    @Test
    func everyTypePassesBothWays() async throws {
        try await Lamp.with { service in
            let model = try await Lamp.connectedModel(of: service, hold: .zero)
            try await Self.exchange(Lamp.brightness, 0.25, 0.5, service, model)
            try await Self.exchange(Lamp.motion, [1, 2, 3], [4, 5, 6], service, model)
            try await Self.exchange(Lamp.title, "Küche", "", service, model)
            try await Self.exchange(Lamp.isOn, true, false, service, model)
            try await Self.exchange(Lamp.mode, 2, 1, service, model)
            try await Self.exchange(Lamp.picture, Data(repeating: 7, count: 300_000), Data([1, 2, 3]), service, model)
            try await Self.exchange(Lamp.bytes, [1, 2], [3], service, model)
            try await Self.exchange(Lamp.int8, -3, .max, service, model)
            try await Self.exchange(Lamp.int16, -3, .max, service, model)
            try await Self.exchange(Lamp.uint16, 3, .max, service, model)
            try await Self.exchange(Lamp.int32, -3, .max, service, model)
            try await Self.exchange(Lamp.uint32, 3, .max, service, model)
            try await Self.exchange(Lamp.int64, -3, .max, service, model)
            try await Self.exchange(Lamp.uint64, 3, .max, service, model)
            try await Self.exchange(Lamp.plane, [1, 2], [3, 4], service, model)
            try await Self.exchange(Lamp.colour, [1, 2, 3, 4], [5, 6, 7, 8], service, model)
            try service.send(21.5, to: Lamp.temperature)
            try await eventually { model[Lamp.temperature] == 21.5 }

            let received = Locked<Scene?>(nil)
            service.onValue(of: Lamp.scene) { (scene: Scene, _) in received.withLock { $0 = scene } }
            let evening = Scene(name: "evening", levels: [0.1, 0.2])
            #expect(model[Lamp.scene] == nil)
            model[Lamp.scene] = evening
            #expect(model[Lamp.scene] == evening)
            try await eventually { received.withLock { $0 } == evening }
            try await eventually { !model.isRoundUnderWay }
            try service.send(Scene(name: "night", levels: []), to: Lamp.scene)
            try await eventually { model[Lamp.scene]?.name == "night" }
            // What a client of other software sends is not JSON at all.
            try service.send(.data(Data("no JSON".utf8)), to: Lamp.scene.definition)
            try await eventually { model[Lamp.scene] == nil }

            try await Self.exchange(Lamp.matrix, .identity, Matrix4x4((0..<16).map { Float($0) }), service, model)
            // The same elements by what is known at run time.
            #expect(model.elements == Lamp.all)
            #expect(model[Lamp.title.definition] == .string(""))
            model[Lamp.title.definition] = .string("untyped")
            #expect(model[Lamp.title] == "untyped")
        }
    }

    /// An element has its own type where nothing else says which, although it is an element definition, too.
    @Test
    func valuesAreOfTheElementsType() async throws {
        try await Lamp.with { service in
            let model = try await Lamp.connectedModel(of: service)
            model[Lamp.brightness] = 0.5
            model[Lamp.scene] = Scene(name: "evening", levels: [])
            let (brightness, scene, any) = (
                model[Lamp.brightness], model[Lamp.scene], model[Lamp.brightness.definition]
            )
            #expect(type(of: brightness) == Float?.self && brightness == 0.5)
            #expect(type(of: scene) == Scene?.self && scene?.name == "evening")
            #expect(type(of: any) == ElementValue?.self && any == .float(0.5))
            let bindable = Bindable(model: model)
            let binding = bindable[Lamp.brightness]
            #expect(type(of: binding.value) == Float?.self)
        }
    }

    @Test
    func controlsBindToElements() async throws {
        try await Lamp.with { service in
            service.relay(Lamp.brightness)
            let model = try await Lamp.connectedModel(of: service)
            let bindable = Bindable(model: model)
            let slider = bindable[Lamp.brightness, default: 0.1]
            #expect(slider.value == 0.1)
            slider.value = 0.75
            #expect(slider.value == 0.75 && model[Lamp.brightness] == 0.75)
            #expect(bindable[Lamp.brightness].value == 0.75)
            bindable[Lamp.brightness].value = nil
            #expect(model[Lamp.brightness] == 0.75)
        }
    }

    @Test
    func onlyWhatHasChangedIsInvalidated() async throws {
        try await Lamp.with { service in
            try service.send(0.5, to: Lamp.brightness)
            let model = try Lamp.model(of: service)
            let brightness = Watch { _ = model[Lamp.brightness] }
            let temperature = Watch { _ = model[Lamp.temperature] }
            let title = Watch { _ = model[Lamp.title] }
            let failure = Watch { _ = model.failure(of: Lamp.brightness) }
            let channels = Lamp.channels.map { channel in Watch { _ = model[channel] } }
            let state = Watch { _ = model.state }
            @MainActor func counts() -> [Int] {
                let counts = [brightness, temperature, title, failure, state].map { $0.count }
                return counts + [channels.reduce(0) { $0 + $1.count }]
            }
            #expect(counts() == [0, 0, 0, 0, 0, 0])
            try await eventually { model.state.isConnected && model[Lamp.brightness] == 0.5 && !model.isRoundUnderWay }
            // The first value, and the connection.
            #expect(counts() == [1, 0, 0, 0, 1, 0])

            // The same value again, and another element's, which comes after it.
            try service.send(0.5, to: Lamp.brightness)
            try service.send(20, to: Lamp.temperature)
            try await eventually { model[Lamp.temperature] == 20 }
            #expect(counts() == [1, 1, 0, 0, 1, 0])

            // A value of one's own is seen at once; its being accepted is not seen.
            model[Lamp.title] = "Kitchen"
            #expect(counts() == [1, 1, 1, 0, 1, 0])
            try await eventually { !model.isRoundUnderWay }
            try service.send(7, to: Lamp.channels[3])
            try await eventually { model[Lamp.channels[3]] == 7 }
            #expect(counts() == [1, 1, 1, 0, 1, 1] && channels[3].count == 1)

            // A refusal: the value, the failure, and the value that is put back.
            model[Lamp.brightness] = 2
            #expect(model[Lamp.brightness] == 0.5)
            #expect(counts() == [2, 1, 1, 1, 1, 1])
            model[Lamp.brightness] = 0.75
            #expect(counts() == [3, 1, 1, 2, 1, 1])
            #expect(model.failure(of: Lamp.brightness) == nil)
        }
    }

    @Test
    func rangesChoicesAndAccessAreKept() async throws {
        try await Lamp.with { service in
            let received = Locked(0)
            service.onAnyValue { _, _, _ in received.withLock { $0 += 1 } }
            try service.send(21.5, to: Lamp.temperature)
            let model = try await Lamp.connectedModel(of: service)
            try await eventually { model[Lamp.temperature] == 21.5 }
            model[Lamp.brightness] = 1.5
            #expect(model[Lamp.brightness] == nil && model.code(Lamp.brightness) == .outOfRange)
            model[Lamp.mode] = 7
            #expect(model[Lamp.mode] == nil && model.code(Lamp.mode) == .outOfRange)
            model[Lamp.temperature] = 30
            #expect(model[Lamp.temperature] == 21.5 && model.code(Lamp.temperature) == .notAllowed)
            model[Lamp.title.definition] = .int8(1)
            #expect(model[Lamp.title] == nil && model.code(Lamp.title) == .wrongType)
            #expect(model.failure(of: Lamp.brightness)?.description.contains("takes 0 to 1, not 1.5") == true)
            model[Lamp.scene] = Scene(name: "infinite", levels: [.infinity])
            #expect(model.code(Lamp.scene) == .invalidValue)
            // Nothing of it was sent.
            model[Lamp.isOn] = true
            try await eventually { received.withLock { $0 } == 1 }
        }
    }

    @Test
    func whatTheServiceRefusesIsPutBack() async throws {
        try await Lamp.with { service in
            try service.send(0.5, to: Lamp.brightness)
            service.relay(Lamp.brightness) { value, _ in
                guard value <= 0.8 else { throw ValueRefusal("too bright") }
                return value
            }
            let model = try await Lamp.connectedModel(of: service)
            try await eventually { model[Lamp.brightness] == 0.5 }
            let watch = Watch { _ = model[Lamp.brightness] }
            model[Lamp.brightness] = 0.9
            #expect(model[Lamp.brightness] == 0.9 && watch.count == 1)
            try await eventually { model.failure(of: Lamp.brightness) != nil }
            #expect(model[Lamp.brightness] == 0.5 && watch.count == 2)
            #expect(model.failure(of: Lamp.brightness)?.description == "too bright")
            try await eventually { !model.isRoundUnderWay }

            // One that is refused while another is on its way does not take that one back.
            model[Lamp.brightness] = 0.95
            model[Lamp.brightness] = 0.7
            #expect(model.failure(of: Lamp.brightness) == nil)
            try await eventually { !model.isRoundUnderWay }
            #expect(model[Lamp.brightness] == 0.7 && model.failure(of: Lamp.brightness) == nil)
            // The other way round it is the last one that is put back, to the one before.
            model[Lamp.brightness] = 0.6
            model[Lamp.brightness] = 0.99
            try await eventually { !model.isRoundUnderWay }
            #expect(model[Lamp.brightness] == 0.6 && model.failure(of: Lamp.brightness)?.description == "too bright")
        }
    }

    @Test
    func ofValuesThatAreWrittenFasterOnlyTheNewestIsSent() async throws {
        try await Lamp.with { service in
            let received = Locked<[Float]>([])
            service.onValue(of: Lamp.brightness) { value, _ in received.withLock { $0.append(value) } }
            let model = try await Lamp.connectedModel(of: service)
            for step in 1...100 { model[Lamp.brightness] = Float(step) / 100 }
            try await eventually { !model.isRoundUnderWay }
            // The first at once, and when the service has dealt with it, the last.
            #expect(received.withLock { $0 } == [0.01, 1])
        }
    }

    @Test
    func valuesAreSentInTheOrderInWhichTheyWereWritten() async throws {
        try await Lamp.with { service in
            let received = Locked<[Int8]>([])
            service.onAnyValue { element, _, _ in received.withLock { $0.append(element.id) } }
            let model = try Lamp.model(of: service)
            // Before there is a connection.
            let order = [5, 0, 9, 3, 7, 1, 8, 2, 6, 4]
            for index in order { model[Lamp.channels[index]] = Double(index) }
            #expect(model[Lamp.channels[9]] == 9)
            try await eventually { received.withLock { $0.count } == 10 }
            #expect(received.withLock { $0 } == order.map { Int8(100 + $0) })
        }
    }

    @Test
    func anEchoDoesNotMoveAControlThatIsBeingMoved() async throws {
        try await Lamp.with { service in
            let model = try await Lamp.connectedModel(of: service)
            let watch = Watch { _ = model[Lamp.brightness] }
            for step in 1...5 {
                model[Lamp.brightness] = Float(step) / 10
                try await eventually { !model.isRoundUnderWay }
            }
            #expect(watch.count == 5)
            // Echoes that come late; the control is still being moved, for a minute.
            for step in 1...3 { try service.send(Float(step) / 10, to: Lamp.brightness) }
            try service.send(1, to: Lamp.channels[0])
            try await eventually { model[Lamp.channels[0]] == 1 }
            #expect(model.device?.value(of: Lamp.brightness) == 0.3)
            #expect(model[Lamp.brightness] == 0.5 && watch.count == 5)
        }
    }

    @Test
    func aControlThatRestsShowsWhatTheServiceSays() async throws {
        try await Lamp.with { service in
            // Takes another value than the one that is written, and says so at once.
            service.relay(Lamp.brightness) { value, _ in min(value, 0.5) }
            let model = try await Lamp.connectedModel(of: service, hold: .milliseconds(50))
            model[Lamp.brightness] = 0.9
            #expect(model[Lamp.brightness] == 0.9)
            try await eventually { model[Lamp.brightness] == 0.5 }
            #expect(model.failure(of: Lamp.brightness) == nil)
            // A service that says nothing has taken it.
            model[Lamp.title] = "kept"
            try await eventually { !model.isRoundUnderWay && model.settling == nil }
            #expect(model[Lamp.title] == "kept")
            try service.send("changed", to: Lamp.title)
            try await eventually { model[Lamp.title] == "changed" }
        }
    }

    @Test
    func aControlRestsWhileAnotherIsMoved() async throws {
        try await Lamp.with { service in
            service.relay(Lamp.brightness) { value, _ in min(value, 0.5) }
            let model = try await Lamp.connectedModel(of: service, hold: .milliseconds(50))
            model[Lamp.brightness] = 0.9
            // There is always a newer value of the other one to send.
            var step = 0.0
            while model[Lamp.brightness] == 0.9, !Task.isCancelled {
                step += 1
                model[Lamp.channels[0]] = step
                await Task.yield()
            }
            #expect(model[Lamp.brightness] == 0.5 && model[Lamp.channels[0]] == step)
        }
    }

    @Test
    func aValueWrittenBeforeTheConnectionIsSentAndStays() async throws {
        try await Lamp.with { service in
            try service.send(0.5, to: Lamp.brightness)
            let received = Locked<[Float]>([])
            service.onValue(of: Lamp.brightness) { value, _ in received.withLock { $0.append(value) } }
            let model = try Lamp.model(of: service, hold: .zero)
            model[Lamp.brightness] = 0.9
            try await eventually { received.withLock { $0 } == [0.9] && !model.isRoundUnderWay }
            // The service's own, which came with the connection, is older.
            #expect(model[Lamp.brightness] == 0.9)
        }
    }
}
