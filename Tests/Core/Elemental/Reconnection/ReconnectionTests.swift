import Elemental
import TestSupport
import Testing

/// Connections that are lost and restored: what survives, and what the policy is asked.
@Suite(.backstop)
struct ReconnectionTests {
    private typealias Rover = Reconnecting.Rover

    @Test
    func handlersStreamsNewestValuesAndCountsSurviveAReconnection() async throws {
        try await Reconnecting.withPair(Reconnecting.soon) { service, port, device in
            let handled = Transcript<UInt64>()
            device.onValue(of: Rover.number) { handled.add($0) }
            let streamed = Transcript<UInt64>()
            let values = device.values(of: Rover.number)
            let reading = Task { for await value in values { streamed.add(value) } }
            let events = device.events()
            let told = Transcript<DeviceEvent>()
            let handledEvents = Transcript<DeviceEvent>()
            device.onEvent { event in handledEvents.add(event) }
            let listening = Task { for await event in events { told.add(event) } }
            let endings = Transcript<DisconnectReason>()
            device.onDisconnect { reason, _ in endings.add(reason) }

            try service.send(1, to: Rover.number)
            try await streamed.wait(for: 1)
            try device.send(7, to: Rover.number)
            await service.stop(reason: "for a moment")
            try await eventually { device.isReconnecting }
            #expect(!device.isConnected)
            #expect(device.disconnectReason == nil)
            #expect(device.value(of: Rover.number) == 1)

            let arrived = Transcript<UInt64>()
            let second = try await Reconnecting.service(
                at: port, handlers: { $0.onValue(of: Rover.number) { value, _ in arrived.add(value) } })
            try second.send(2, to: Rover.number)
            try await eventually { device.isConnected }
            #expect(!device.isReconnecting)
            try await streamed.wait(for: 2)
            try device.send(8, to: Rover.number)
            try await arrived.wait(for: 1)
            #expect(arrived.all == [8])
            #expect(handled.all == [1, 2])
            #expect(streamed.all == [1, 2])
            #expect(device.statistics.messagesSent == 2)
            #expect(device.statistics.messagesReceived == 2)
            #expect(try await device.ping(over: .udp) > .zero)
            #expect(endings.all.isEmpty)

            await device.close()
            await reading.value
            await listening.value
            #expect(endings.all.map(\.kind) == [.closedHere])
            let words = Reconnecting.words(told.all)
            #expect(words == Reconnecting.words(handledEvents.all))
            #expect(words.first == "will 1 0.0 seconds")
            #expect(Array(words.suffix(2)) == ["did", "over: closed here"])
            #expect(words.filter { $0 == "did" }.count == 1)
            await second.stop()
        }
    }

    @Test(arguments: [nil, Reconnecting.Noting([])])
    func withoutAnAttemptTheDeviceEndsWithItsConnection(_ policy: Reconnecting.Noting?) async throws {
        try await Reconnecting.withPair(policy) { service, _, device in
            let events = device.events()
            await service.stop(reason: "the end")
            let reason = try await device.waitUntilDisconnected()
            #expect(reason.kind == .shutDown("the end"))
            var told: [DeviceEvent] = []
            for await event in events { told.append(event) }
            #expect(Reconnecting.words(told) == ["over: shut down: the end"])
            #expect(!device.isReconnecting)
            if let policy { #expect(policy.asked.count == 1) }
        }
    }

    @Test
    func aServicesDeviceTellsItsEnd() async throws {
        try await Reconnecting.withPair(nil) { service, _, device in
            try await eventually { service.devices.count == 1 }
            let client = try #require(service.devices.first)
            let events = client.events()
            await device.close()
            var told: [DeviceEvent] = []
            for await event in events { told.append(event) }
            #expect(Reconnecting.words(told) == ["over: closed by the peer"])
            #expect(await errorCode { try await client.reconnect() } == .invalidState)
        }
    }

    @Test
    func aKilledServiceThatIsStartedAgainIsReconnectedTo() async throws {
        let path = try BuiltProduct.path(of: "elemental")
        let port = try PortLease.port()
        func publish(_ value: String) -> [String] {
            [
                "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--port", "\(port)", "--stay", "--json",
                "--element", "2:Level:uint32:latest=\(value)",
            ]
        }
        let level = Transcript<UInt32>()
        let device = try await ChildProcess.with(path, publish("1")) { child in
            try await child.nextEvent("listening")
            let device = try await connect(port, elements: Rover.all, with: { $0.reconnection = Reconnecting.soon })
            device.onValue(of: Rover.level) { level.add($0) }
            try await level.wait(for: 1)
            child.send(signal: 9)
            try await child.waitForExit()
            return device
        }
        try await eventually { device.isReconnecting }
        try await ChildProcess.with(path, publish("2")) { _ in
            try await level.wait(for: 2)
            #expect(level.all == [1, 2])
            try device.send(3, to: Rover.level)
            // The command sends every value back to all.
            try await level.wait(for: 3)
            #expect(level.all.last == 3)
            await device.close()
        }
    }

    @Test
    func whereTheServiceTellsTheElementsTheReturningOnesCount() async throws {
        try await Reconnecting.withPair(Reconnecting.soon, elements: nil) { service, port, device in
            #expect(device.knownElements == Rover.all)
            await service.stop()
            let more: ElementCatalogue = [Rover.number, Element<Bool>(9, "New")]
            let second = try await Reconnecting.service(at: port, more)
            try await eventually { device.isConnected }
            #expect(device.knownElements == more)
            #expect(device.catalogue == more)
            await second.stop()
        }
    }

    @Test
    func aPausedDeviceReconnectsAndGoesOnWhenItIsResumed() async throws {
        try await Reconnecting.withPair(Reconnecting.soon) { service, port, device in
            let numbers = Transcript<UInt64>()
            device.onValue(of: Rover.number) { numbers.add($0) }
            device.pause()
            await service.stop()
            let second = try await Reconnecting.service(at: port)
            try await eventually { device.isConnected }
            try second.send(5, to: Rover.number)
            device.resume()
            try await numbers.wait(for: 1)
            #expect(numbers.all == [5])
            await second.stop()
        }
    }

    @Test
    func thePolicyIsToldWhatHappenedAndTheDeviceEndsWithTheOriginalReason() async throws {
        let policy = Reconnecting.Noting([.zero, .milliseconds(10), .milliseconds(20)])
        try await Reconnecting.withPair(policy) { service, _, device in
            let values = device.values(of: Rover.number)
            await service.stop(reason: "power cut")
            let reason = try await device.waitUntilDisconnected()
            #expect(reason.kind == .shutDown("power cut"))
            #expect(device.disconnectReason?.kind == .shutDown("power cut"))
            for await _ in values { Issue.record("a value came from nowhere") }
            let asked = policy.asked.all
            #expect(asked.map(\.number) == [1, 2, 3, 4])
            #expect(asked.map(\.reason.kind) == Array(repeating: .shutDown("power cut"), count: 4))
            #expect(asked.map(\.lastError?.code) == [nil, .connectionFailed, .connectionFailed, .connectionFailed])
            #expect(asked[1].lastError?.message.contains("nothing listens there") == true)
            #expect(zip(asked, asked.dropFirst()).allSatisfy { $0.elapsed <= $1.elapsed })
            let error = #expect(throws: ElementalError.self) { try device.send(1, to: Rover.number) }
            #expect(error?.message.contains("power cut") == true)
        }
    }

    @Test
    func aServiceThatRefusesIsAFailedAttempt() async throws {
        let policy = Reconnecting.Noting(Array(repeating: .milliseconds(10), count: 10_000))
        try await Reconnecting.withPair(policy) { service, port, device in
            await service.stop(reason: "restarting")
            let full = try await Reconnecting.service(at: port) { $0.maximumDeviceCount = 0 }
            try await policy.asked.next("a failed attempt") { $0.lastError?.code == .unauthenticated }
            #expect(device.isReconnecting)
            await full.stop()
        }
    }

    @Test
    func aServiceWithOtherElementsIsNoReturn() async throws {
        try await Reconnecting.withPair(Reconnecting.soon) { service, port, device in
            await service.stop()
            let other = try await Reconnecting.service(at: port, [Element<String>(1, "Number")])
            #expect(try await device.waitUntilDisconnected().code == "catalogueMismatch")
            await other.stop()
        }
    }
}
