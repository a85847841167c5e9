import Elemental
import Support
import TestSupport
import Testing

@testable import ElementalObservation

/// What is released, and when.
@MainActor
@Suite(.backstop)
struct LifetimeTests {
    @Test
    func aModelThatIsReleasedClosesItsConnection() async throws {
        try await Lamp.with { service in
            service.relay(Lamp.brightness)
            weak var device: ElementalDevice?
            weak var cell: ElementCell?
            weak var weakModel: ObservedDevice?
            do {
                let model = try await Lamp.connectedModel(of: service)
                // Everything that holds something: a value under way, a control at rest soon, statistics, an observer.
                model[Lamp.brightness] = 0.5
                _ = model.statistics
                model.resume()
                let watch = Watch { [unowned model] in _ = (model[Lamp.brightness], model.state) }
                (device, cell, weakModel) = (model.device, model.cells[1], model)
                try await eventually { service.devices.count == 1 && watch.count >= 0 }
                #expect(device != nil && cell != nil)
            }
            try await eventually("the model is gone") { weakModel == nil && cell == nil }
            try await eventually("the connection is closed") { service.devices.isEmpty }
            try await eventually("the device is gone") { device == nil }
        }
    }

    @Test
    func aModelIsReleasedWhileItConnects() async throws {
        // Accepts, and says nothing.
        let (listener, port) = try RawSocket.listen()
        weak var weakModel: ObservedDevice?
        do {
            let model = Lamp.model(at: port) { $0.expectsHello = true }
            _ = model.state
            weakModel = model
        }
        try await eventually { weakModel == nil }
        withExtendedLifetime(listener) {}
    }

    @Test
    func aModelIsReleasedWhileItReconnects() async throws {
        let port = try PortLease.port()
        weak var weakModel: ObservedDevice?
        weak var device: ElementalDevice?
        do {
            let model = Lamp.model(at: port)
            try await Lamp.with(port: port) { _ in try await eventually { model.state.isConnected } }
            try await eventually { if case .reconnecting = model.state { true } else { false } }
            model[Lamp.brightness] = 0.5
            (weakModel, device) = (model, model.device)
        }
        try await eventually { weakModel == nil }
        try await eventually { device == nil }
    }

    @Test
    func aModelThatIsNotReadDoesNothing() async throws {
        try await Lamp.with { service in
            weak var weakModel: ObservedDevice?
            do {
                let model = try Lamp.model(of: service)
                weakModel = model
                #expect(model.name == "127.0.0.1:\(service.port ?? 0)" && model.device == nil)
            }
            #expect(weakModel == nil && service.devices.isEmpty)
        }
    }

    @Test
    func aListAndAPairingAreReleased() async throws {
        weak var browser: ObservedBrowser?
        weak var pairing: ObservedPairing?
        do {
            let list = ObservedBrowser("obs_released")
            let other = ObservedPairing(host: "127.0.0.1", port: 9, as: "Test", options: .patient)
            let watch = Watch { [unowned list, unowned other] in _ = (list.services, other.state) }
            (browser, pairing) = (list, other)
            #expect(watch.count == 0)
        }
        try await eventually { browser == nil && pairing == nil }
    }
}
