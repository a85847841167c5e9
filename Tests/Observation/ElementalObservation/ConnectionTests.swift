import Elemental
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalObservation

/// The connection of a model: made, lost, restored, ended.
@MainActor
@Suite(.backstop)
struct ConnectionTests {
    /// Runs the command line's service at a port during the body.
    private static func publish<Result>(
        port: Int, level: String, _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        let arguments = [
            "publish", "lamp", "--unlisted", "--stay", "--address", "127.0.0.1", "--port", "\(port)", "--security",
            "open", "--element", "1:Brightness:float=\(level)", "--element", "4:Title:string=first", "--json",
        ]
        return try await ChildProcess.with(ElementalProcess.path, arguments) { service in
            try await service.nextEvent("listening")
            return try await body(service)
        }
    }

    private static func model(
        port: Int, _ policy: any ReconnectionPolicy = .forever(every: .milliseconds(50))
    ) -> ObservedDevice {
        Lamp.model(at: port, elements: [Lamp.brightness, Lamp.title]) { $0.reconnection = policy }
    }

    @Test
    func aServiceIsKilledAndComesBack() async throws {
        let port = try PortLease.port()
        let model = Self.model(port: port)
        let watch = Watch { _ = model.state }
        let title = Watch { _ = model[Lamp.title] }
        if case .connecting = model.state {} else { Issue.record("\(model.state)") }
        try await Self.publish(port: port, level: "0.5") { service in
            // The first attempt came too early, or not.
            try await eventually {
                if case .failed = model.state { model.connect() }
                return model[Lamp.brightness] == 0.5 && model[Lamp.title] == "first" && !model.isRoundUnderWay
            }
            #expect(model.state.isConnected && model.name == "127.0.0.1:\(port)")
            let before = (watch.count, title.count)
            service.send(signal: SIGKILL)
            try await eventually {
                // An attempt may have met the process while it was ending.
                guard case .reconnecting(let attempt, _) = model.state else { return false }
                return attempt.number >= 2 && attempt.lastError?.message.hasPrefix("cannot connect") == true
            }
            guard case .reconnecting(let attempt, _) = model.state else { throw TestSupportError("\(model.state)") }
            #expect(attempt.reason.kind == .closedByPeer || attempt.reason.code == "networkError")
            #expect(model.state.description.hasPrefix("reconnecting, attempt \(attempt.number): cannot connect"))
            // What was known is still shown, and what is written now is kept.
            #expect(model[Lamp.title] == "first" && title.count == before.1 && watch.count > before.0)
            for step in 1...50 { model[Lamp.brightness] = Float(step) / 100 }
            model[Lamp.brightness] = 0.75
            #expect(model[Lamp.brightness] == 0.75 && model.failure(of: Lamp.brightness) == nil)
        }
        try await Self.publish(port: port, level: "0.1") { service in
            // The newest of them alone, and before that the service's own has arrived.
            let value = try await service.nextEvent("value")
            #expect(value["element"] == "Brightness" && value.number("value") == 0.75)
            try await eventually { model.state.isConnected && !model.isRoundUnderWay }
            #expect(model[Lamp.brightness] == 0.75 && title.count <= 2)
            // Ended by the service, for good or not: the model goes on.
            let device = model.device
            try await ElementalProcess.expectSet("127.0.0.1:\(port)", "Title=second")
            try await eventually { model[Lamp.title] == "second" }
            #expect(model.device == device)
        }
    }

    @Test
    func aConnectionThatCannotBeMadeFailsAndCanBeTriedAgain() async throws {
        let port = try PortLease.port()
        let model = Self.model(port: port)
        model[Lamp.brightness] = 0.5
        try await eventually { if case .failed = model.state { true } else { false } }
        guard case .failed(let error) = model.state else { throw TestSupportError("\(model.state)") }
        #expect(error.code == .connectionFailed && model.state.description.contains("127.0.0.1:\(port)"))
        // What was written is put back.
        #expect(model[Lamp.brightness] == nil)
        #expect(model.code(Lamp.brightness) == .notConnected)
        model[Lamp.brightness] = 0.6
        #expect(model[Lamp.brightness] == nil && model.failure(of: Lamp.brightness) != nil)
        try await Lamp.with(port: port) { service in
            model.connect()
            #expect(!model.state.isConnected)
            try await eventually { model.state.isConnected }
            model[Lamp.brightness] = 0.7
            #expect(model.failure(of: Lamp.brightness) == nil)
        }
    }

    @Test
    func aModelIsDisconnectedAndConnectedAgain() async throws {
        try await Lamp.with { service in
            try service.send(0.5, to: Lamp.brightness)
            let model = try await Lamp.connectedModel(of: service)
            try await eventually { model[Lamp.brightness] == 0.5 && service.devices.count == 1 }
            model.disconnect()
            try await eventually { if case .ended = model.state { true } else { false } }
            guard case .ended(let reason) = model.state else { throw TestSupportError("\(model.state)") }
            #expect(reason.kind == .closedHere)
            try await eventually { service.devices.isEmpty }
            // Neither coming back from the background nor reading connects it.
            model.resume()
            #expect(model[Lamp.brightness] == 0.5 && !model.state.isConnected)
            try service.send(0.6, to: Lamp.brightness)
            model.connect()
            try await eventually { model.state.isConnected && model[Lamp.brightness] == 0.6 }
            // A second time changes nothing.
            model.connect()
            #expect(model.state.isConnected)

            // While it connects.
            let other = try Lamp.model(of: service)
            other.connect()
            other.disconnect()
            guard case .ended = other.state else { throw TestSupportError("\(other.state)") }
            other.connect()
            try await eventually { other.state.isConnected }
        }
    }

    @Test
    func theLastOfManyRequestsCounts() async throws {
        try await Lamp.with { service in
            let model = try await Lamp.connectedModel(of: service)
            let watch = Watch { _ = model.state }
            for _ in 0..<10 {
                let count = watch.count
                model.disconnect()
                model.disconnect()
                model.connect()
                // Ended, connecting, connected.
                try await eventually { watch.count >= count + 3 && !model.isRoundUnderWay }
                #expect(model.state.isConnected && watch.count == count + 3)
                model.disconnect()
                model.connect()
                model.disconnect()
                try await eventually { if case .ended = model.state { true } else { false } }
                // While it connects again.
                model.connect()
                model.disconnect()
                guard case .ended = model.state else { throw TestSupportError("\(model.state)") }
                try await eventually { service.devices.isEmpty }
                model.connect()
                try await eventually { model.state.isConnected && !model.isRoundUnderWay }
            }
            model.disconnect()
            try await eventually { if case .ended = model.state { true } else { false } }
        }
    }

    /// The connection may be lost before the model knows that there was one.
    @Test
    func aConnectionThatIsLostAtOnceIsNotMissed() async throws {
        let (listener, port) = try RawSocket.listen()
        let accepting = Task { while !Task.isCancelled { _ = try await listener.accept() } }
        for _ in 0..<50 {
            let model = Self.model(port: port, ListedDelays([]))
            try await eventually {
                switch model.state {
                case .ended, .failed: true
                default: false
                }
            }
        }
        accepting.cancel()
        _ = try RawSocket.connect(to: port)
        _ = await accepting.result
    }

    @Test
    func theEventsOfAnAttemptThatWasGivenUpAreNotHeard() {
        var arrivals = DeviceArrivals()
        arrivals.begin(2)
        arrivals.note(.disconnected(DisconnectReason(.closedHere, isExpected: true)), of: 1)
        #expect(arrivals.event == nil)
        arrivals.note(.didReconnect, of: 2)
        let taken = arrivals.removeAll()
        #expect(taken.event != nil && arrivals.event == nil)
        arrivals.note(.didReconnect, of: 2)
        #expect(arrivals.event != nil)
    }

    @Test
    func withoutAPolicyTheModelEnds() async throws {
        let port = try PortLease.port()
        let model = Self.model(port: port, ListedDelays([]))
        try await Lamp.with(port: port) { _ in
            try await eventually { model.state.isConnected && !model.isRoundUnderWay }
        }
        try await eventually { if case .ended = model.state { true } else { false } }
        guard case .ended(let reason) = model.state else { throw TestSupportError("\(model.state)") }
        guard case .shutDown = reason.kind else { throw TestSupportError("\(reason)") }
        model[Lamp.brightness] = 0.5
        #expect(model[Lamp.brightness] == nil)
        #expect(model.failure(of: Lamp.brightness)?.description.contains("shut down") == true)
    }

    /// The service's host sleeps, or the network forgets the connection: nothing says so.
    @Test
    func whoComesBackAndGetsNoAnswerConnectsAnew() async throws {
        let port = try PortLease.port()
        try await Self.publish(port: port, level: "0.5") { service in
            // Without a policy, so that the heartbeat's finding it out would be the end.
            let model = Self.model(port: port, ListedDelays([]))
            try await eventually {
                if case .failed = model.state { model.connect() }
                return model[Lamp.brightness] == 0.5 && !model.isRoundUnderWay
            }
            // Nothing happens while the service answers.
            model.answerTime = Patience.wait
            let watch = Watch { _ = model.state }
            let count = model.device?.statistics.messagesReceived
            model.resume()
            try await eventually { model.device?.statistics.roundTripTime != nil }
            #expect(watch.count == 0 && model.device?.statistics.messagesReceived == count)
            service.send(signal: SIGSTOP)
            // One of its threads may still answer.
            try await eventually { try ProcessFigures(of: service).isStopped }
            model.answerTime = .milliseconds(100)
            model.resume()
            // The system takes the new connection for the service, so that it may be there already.
            try await eventually { watch.count > 0 }
            service.send(signal: SIGCONT)
            try await eventually {
                if case .failed = model.state { model.connect() }
                return model.state.isConnected
            }
            try await ElementalProcess.expectSet("127.0.0.1:\(port)", "Brightness=0.75")
            try await eventually { model[Lamp.brightness] == 0.75 }
        }
    }

    @Test
    func elementsCanBeThoseThatTheServiceAnnounces() async throws {
        try await Lamp.with { service in
            let model = Lamp.model(at: try #require(service.port), elements: nil) { $0.expectsHello = true }
            let watch = Watch { _ = model.elements }
            #expect(model.elements.isEmpty)
            try await eventually { model.elements == Lamp.all }
            #expect(watch.count == 1)
            let element = try #require(model.elements["Title"])
            model[element] = .string("by name")
            #expect(model[element] == .string("by name"))
            try service.send(0.25, to: Lamp.brightness)
            let brightness = try #require(model.elements["Brightness"])
            try await eventually { model[brightness] == .float(0.25) }
        }
    }

    @Test
    func aServiceThatComesBackWithOtherElementsIsBelieved() async throws {
        let port = try PortLease.port()
        let model = Lamp.model(at: port, elements: nil) { $0.expectsHello = true }
        let (level, mode) = (Element<Float>(1, "Level"), Element<String>(1, "Mode"))
        let watch = Watch { _ = model[level] }
        try await Lamp.with(port: port, elements: [level]) { service in
            try service.send(0.5, to: level)
            try await eventually {
                if case .failed = model.state { model.connect() }
                return model[level] == 0.5
            }
            #expect(watch.count == 1)
            // What is known of an element does not depend on what a program takes it for.
            model[mode] = "none"
            #expect(model[level] == 0.5 && model[mode] == nil)
            #expect(model.code(mode) == .wrongType)
        }
        try await Lamp.with(port: port, elements: [mode]) { service in
            try service.send("warm", to: mode)
            try await eventually { model.elements["Mode"] != nil && model[mode] == "warm" }
            #expect(model[level] == nil && model.failure(of: mode) == nil)
            #expect(watch.count >= 2)
            model[mode] = "cold"
            try await eventually { !model.isRoundUnderWay }
            #expect(model[mode] == "cold" && model.failure(of: mode) == nil)
        }
    }
}

extension ElementalProcess {
    /// Sets an element by the command line.
    static func expectSet(_ target: String, _ assignment: String) async throws {
        let result = try await run("set", target, assignment, "--timeout", Patience.seconds)
        #expect(result.status == .exited(0), "\(result)")
    }
}
