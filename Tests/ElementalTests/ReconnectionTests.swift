import Elemental
import TestSupport
import Testing

/// Connections that are lost and made anew, over real sockets on loopback.
@Suite(.timeLimit(.minutes(2)))
struct ReconnectionTests {
    /// Elements of which two are kept while the connection is away.
    enum Rover {
        static let number = Element<UInt64>(1, "Number")
        static let level = Element<UInt32>(2, "Level", latest: true)
        static let aim = Element<Vector3>(3, "Aim", transport: .udp, latest: true)
        static let label = Element<String>(4, "Label")
        static let picture = Element<Data>(5, "Picture")
        static let all: ElementCatalogue = [number, level, aim, label, picture]
    }

    /// Attempts in short order, for ever.
    static let soon: any ReconnectionPolicy = .forever(every: .milliseconds(20))
    /// Would not try again before the test is long over.
    static let late: any ReconnectionPolicy = ListedDelays([.seconds(3600)])

    /// Delays from a list, noting what it was asked.
    final class Noting: ReconnectionPolicy {
        let asked = Gathered<ReconnectionAttempt>()
        private let delays: [Duration]

        init(_ delays: [Duration]) { self.delays = delays }

        func delay(before attempt: ReconnectionAttempt) -> Duration? {
            asked.add(attempt)
            return attempt.number <= delays.count ? delays[attempt.number - 1] : nil
        }
    }

    /// Goes on until a service has refused the connection.
    struct UntilRefused: ReconnectionPolicy {
        let asked = Gathered<ReconnectionAttempt>()

        func delay(before attempt: ReconnectionAttempt) -> Duration? {
            asked.add(attempt)
            return attempt.lastError?.code == .refused ? nil : .milliseconds(10)
        }
    }

    private static func service(
        at port: Int = 0, _ elements: ElementCatalogue = Rover.all,
        _ change: (inout ServiceConfiguration) -> Void = { _ in },
        handlers: (ElementalService) -> Void = { _ in }
    ) async throws -> ElementalService {
        var configuration = ServiceConfiguration()
        configuration.address = "127.0.0.1"
        configuration.isPublished = false
        configuration.port = port
        change(&configuration)
        let service = ElementalService("test", displayName: "Test", elements: elements, configuration: configuration)
        // Before it starts: clients that reconnect are there at once.
        handlers(service)
        try await service.start()
        return service
    }

    private static func connect(
        _ service: ElementalService, _ policy: (any ReconnectionPolicy)?, elements: ElementCatalogue? = Rover.all,
        _ change: (inout ConnectOptions) -> Void = { _ in }
    ) async throws -> ElementalDevice {
        var options = ConnectOptions()
        options.expectsHello = true
        options.reconnection = policy
        change(&options)
        return try await ElementalDevice.connect(
            host: "127.0.0.1", port: try #require(service.port), as: "tester", elements: elements, options: options)
    }

    /// Runs a service and a client of it that reconnects, and ends both.
    private func withPair(
        _ policy: (any ReconnectionPolicy)?, elements: ElementCatalogue? = Rover.all,
        _ change: (inout ConnectOptions) -> Void = { _ in },
        _ body: (_ service: ElementalService, _ port: Int, _ device: ElementalDevice) async throws -> Void
    ) async throws {
        let service = try await Self.service()
        do {
            let port = try #require(service.port)
            let device = try await Self.connect(service, policy, elements: elements, change)
            do {
                try await body(service, port, device)
            } catch {
                await device.close()
                throw error
            }
            await device.close()
        } catch {
            await service.stop()
            throw error
        }
        await service.stop()
    }

    /// The events as words.
    private static func words(_ events: [DeviceEvent]) -> [String] {
        events.map { event in
            switch event {
            case .willReconnect(let attempt, let delay): "will \(attempt.number) \(delay)"
            case .didReconnect: "did"
            case .disconnected(let reason): "over: \(reason)"
            }
        }
    }

    // MARK: What lives through it

    @Test
    func handlersStreamsNewestValuesAndCountsLiveThroughIt() async throws {
        try await withPair(Self.soon) { service, port, device in
            let handled = Gathered<UInt64>()
            device.onValue(of: Rover.number) { handled.add($0) }
            let streamed = Gathered<UInt64>()
            let values = device.values(of: Rover.number)
            let reading = Task { for await value in values { streamed.add(value) } }
            let events = device.events
            let told = Gathered<DeviceEvent>()
            let handledEvents = Gathered<DeviceEvent>()
            device.onEvent { event, _ in handledEvents.add(event) }
            let listening = Task { for await event in events { told.add(event) } }
            let endings = Gathered<DisconnectReason>()
            device.onDisconnect { reason, _ in endings.add(reason) }

            try service.send(1, to: Rover.number)
            try await streamed.wait(for: 1)
            try device.send(7, to: Rover.number)
            await service.stop(reason: "for a moment")
            try await eventually { device.isReconnecting }
            #expect(!device.isConnected)
            #expect(device.disconnectReason == nil)
            #expect(device.value(of: Rover.number) == 1)

            let arrived = Gathered<UInt64>()
            let second = try await Self.service(
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
            let words = Self.words(told.all)
            #expect(words == Self.words(handledEvents.all))
            #expect(words.first == "will 1 0.0 seconds")
            #expect(Array(words.suffix(2)) == ["did", "over: closed here"])
            #expect(words.filter { $0 == "did" }.count == 1)
            await second.stop()
        }
    }

    @Test
    func withoutAPolicyTheDeviceEndsWithItsConnection() async throws {
        try await withPair(nil) { service, _, device in
            let events = device.events
            await service.stop(reason: "the end")
            #expect(await device.waitUntilDisconnected().kind == .shutDown("the end"))
            var told: [DeviceEvent] = []
            for await event in events { told.append(event) }
            #expect(Self.words(told) == ["over: shut down: the end"])
            #expect(!device.isReconnecting)
        }
    }

    @Test
    func aServicesDeviceTellsItsEnd() async throws {
        try await withPair(nil) { service, _, device in
            try await eventually { service.devices.count == 1 }
            let client = try #require(service.devices.first)
            let events = client.events
            await device.close()
            var told: [DeviceEvent] = []
            for await event in events { told.append(event) }
            #expect(Self.words(told) == ["over: closed by the other end"])
            let error = await #expect(throws: ElementalError.self) { try await client.reconnect() }
            #expect(error?.code == .invalidState)
        }
    }

    @Test
    func aKilledServiceThatIsStartedAgainIsReconnectedTo() async throws {
        let path = try BuiltProduct.path(of: "elemental")
        func publish(_ port: Int, _ value: String) -> [String] {
            [
                "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--port", "\(port)", "--stay", "--json",
                "--element", "2:Level:uint32:latest=\(value)",
            ]
        }
        let level = Gathered<UInt32>()
        let device = try await ChildProcess.with(path, publish(0, "1")) { child in
            let line = try await child.nextLine { $0.contains("\"listening\"") }
            let port = try #require(line.split(separator: "\"port\":").last.flatMap { Int($0.prefix { $0.isNumber }) })
            var options = ConnectOptions()
            options.expectsHello = true
            options.reconnection = Self.soon
            let device = try await ElementalDevice.connect(
                host: "127.0.0.1", port: port, as: "tester", elements: Rover.all, options: options)
            device.onValue(of: Rover.level) { level.add($0) }
            try await level.wait(for: 1)
            child.send(signal: 9)
            try await child.waitForExit()
            return device
        }
        try await eventually { device.isReconnecting }
        let port = try #require(device.address?.port)
        try await ChildProcess.with(path, publish(port, "2")) { _ in
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
        try await withPair(Self.soon, elements: nil) { service, port, device in
            #expect(device.knownElements == Rover.all)
            await service.stop()
            let more: ElementCatalogue = [Rover.number, Element<Bool>(9, "New")]
            let second = try await Self.service(at: port, more)
            try await eventually { device.isConnected }
            #expect(device.knownElements == more)
            #expect(device.catalogue == more)
            await second.stop()
        }
    }

    @Test
    func aPausedDeviceReconnectsAndGoesOnWhenItIsResumed() async throws {
        try await withPair(Self.soon) { service, port, device in
            let numbers = Gathered<UInt64>()
            device.onValue(of: Rover.number) { numbers.add($0) }
            device.pause()
            await service.stop()
            let second = try await Self.service(at: port)
            try await eventually { device.isConnected }
            try second.send(5, to: Rover.number)
            device.resume()
            try await numbers.wait(for: 1)
            #expect(numbers.all == [5])
            await second.stop()
        }
    }

    // MARK: The policy

    @Test
    func thePolicyIsToldWhatHappenedAndTheDeviceEndsWithTheOriginalReason() async throws {
        let policy = Noting([.zero, .milliseconds(10), .milliseconds(20)])
        try await withPair(policy) { service, _, device in
            let values = device.values(of: Rover.number)
            await service.stop(reason: "power cut")
            let reason = await device.waitUntilDisconnected()
            #expect(reason.kind == .shutDown("power cut"))
            #expect(device.disconnectReason?.kind == .shutDown("power cut"))
            for await _ in values { Issue.record("a value came from nowhere") }
            let asked = policy.asked.all
            #expect(asked.map(\.number) == [1, 2, 3, 4])
            #expect(asked.map(\.reason.kind) == Array(repeating: .shutDown("power cut"), count: 4))
            #expect(asked.map(\.lastError?.code) == [nil, .connectionFailed, .connectionFailed, .connectionFailed])
            #expect(asked[1].lastError?.message.contains("nothing listens there") == true)
            #expect(zip(asked, asked.dropFirst()).allSatisfy { $0.elapsed <= $1.elapsed })
            #expect((asked.last?.elapsed ?? .zero) >= .milliseconds(30))
            let error = #expect(throws: ElementalError.self) { try device.send(1, to: Rover.number) }
            #expect(error?.message.contains("power cut") == true)
        }
    }

    @Test
    func aPolicyThatGivesUpAtOnceIsAskedOnce() async throws {
        let policy = Noting([])
        try await withPair(policy) { service, _, device in
            let events = device.events
            await service.stop(reason: "off")
            #expect(await device.waitUntilDisconnected().kind == .shutDown("off"))
            #expect(policy.asked.all.count == 1)
            var told: [DeviceEvent] = []
            for await event in events { told.append(event) }
            #expect(Self.words(told) == ["over: shut down: off"])
        }
    }

    @Test
    func aServiceThatRefusesIsAFailedAttempt() async throws {
        let policy = UntilRefused()
        try await withPair(policy) { service, port, device in
            await service.stop(reason: "restarting")
            let full = try await Self.service(at: port) { $0.maximumDeviceCount = 0 }
            #expect(await device.waitUntilDisconnected().kind == .shutDown("restarting"))
            #expect(policy.asked.all.last?.lastError?.code == .refused)
            await full.stop()
        }
    }

    @Test
    func aServiceWithOtherElementsIsNoReturn() async throws {
        try await withPair(Self.soon) { service, port, device in
            await service.stop()
            let other = try await Self.service(at: port, [Element<String>(1, "Number")])
            guard case .catalogueMismatch = await device.waitUntilDisconnected().kind else {
                Issue.record("\(String(describing: device.disconnectReason))")
                return
            }
            await other.stop()
        }
    }

    @Test
    func brokenRulesAreNoReasonToReconnect() async throws {
        let (listener, port) = try RawSocket.listen()
        var options = ConnectOptions()
        options.reconnection = Self.soon
        async let connecting = ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "tester", elements: Rover.all, options: options)
        let peer = try await listener.accept()
        try peer.write([0xff, 1, 0, 0, 0, 0])
        let device = try await connecting
        try peer.write([1, 0xff, 0xff, 0xff, 0xff])
        peer.closeOutput()
        guard case .protocolViolation = await device.waitUntilDisconnected().kind else {
            Issue.record("\(String(describing: device.disconnectReason))")
            return
        }
    }

    @Test("a service that takes connections and drops them at once is not called without end")
    func attemptsAreCountedOnAfterABriefReturn() async throws {
        let (listener, port) = try RawSocket.listen()
        let policy = Noting([.zero, .zero, .zero])
        var options = ConnectOptions()
        options.reconnection = policy
        let dropping = Task {
            var count = 0
            while count < 4 {
                let peer = try await listener.accept()
                try peer.write([0xff, 1, 0, 0, 0, 0])
                peer.closeOutput()
                _ = try await peer.readToEnd()
                count += 1
            }
            return count
        }
        let device = try await ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "tester", elements: Rover.all, options: options)
        #expect(await device.waitUntilDisconnected().kind == .closedByPeer)
        #expect(policy.asked.all.map(\.number) == [1, 2, 3, 4])
        #expect(try await dropping.value == 4)
    }

    // MARK: Sending meanwhile

    @Test
    func sendingThrowsMeanwhileAndTheNewestOfLatestElementsIsKept() async throws {
        try await withPair(Self.soon) { service, port, device in
            await service.stop()
            try await eventually { device.isReconnecting }
            let error = #expect(throws: ElementalError.self) { try device.send(1, to: Rover.number) }
            #expect(error?.code == .notConnected)
            #expect(error?.message.contains("reconnecting") == true)
            let late = await #expect(throws: ElementalError.self) {
                try await device.sendWhenReady(Data(count: 100_000), to: Rover.picture)
            }
            #expect(late?.code == .notConnected)
            for value in UInt32(1)...5 { try device.send(value, to: Rover.level) }
            try await device.sendWhenReady(6, to: Rover.level)
            try device.send([1, 1, 1], to: Rover.aim)
            try device.send([2, 2, 2], to: Rover.aim)
            #expect(device.statistics.messagesUnsent == 2)
            #expect(device.statistics.messagesReplaced == 6)

            let levels = Gathered<UInt32>()
            let aims = Gathered<Vector3>()
            let second = try await Self.service(
                at: port,
                handlers: { service in
                    service.onValue(of: Rover.level) { value, _ in levels.add(value) }
                    service.onValue(of: Rover.aim) { value, _ in aims.add(value) }
                })
            try await levels.wait(for: 1)
            try await aims.wait(for: 1)
            // A round trip later nothing more has come.
            _ = try await device.ping()
            #expect(levels.all == [6])
            #expect(aims.all == [[2, 2, 2]])
            #expect(device.statistics.messagesUnsent == 0)
            #expect(device.statistics.messagesSent == 8)
            await second.stop()
        }
    }

    @Test
    func aClientWithoutUDPKeepsNoDatagramValues() async throws {
        try await withPair(Self.soon, elements: Rover.all, { $0.allowsUDP = false }) { service, _, device in
            await service.stop()
            try await eventually { device.isReconnecting }
            let error = #expect(throws: ElementalError.self) { try device.send([1, 1, 1], to: Rover.aim) }
            #expect(error?.code == .udpUnavailable)
            try device.send(1, to: Rover.level)
            await device.close()
            #expect(device.statistics.messagesUnsent == 1)
        }
    }

    @Test
    func whatIsUnsentAtTheLossIsCountedAsLostExceptLatestValues() async throws {
        // A peer that reads nothing until it is gone: what the system does not take stays in the queue.
        let (listener, port) = try RawSocket.listen()
        var options = ConnectOptions()
        options.reconnection = Self.soon
        async let connecting = ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "tester", elements: Rover.all, options: options)
        let peer = try await listener.accept()
        try peer.write([0xff, 1, 0, 0, 0, 0])
        let device = try await connecting
        // An older peer's frames of name and hello.
        _ = try await (peer.readFrame(), peer.readFrame())
        var sent = 0
        do {
            while true {
                try device.send(Data(repeating: 7, count: 1 << 20), to: Rover.picture)
                sent += 1
            }
        } catch {
            #expect(error.code == .queueFull)
        }
        try device.send(41, to: Rover.level)
        try device.send(42, to: Rover.level)
        peer.closeOutput()
        try await eventually { device.isReconnecting }
        let again = try await listener.accept()
        try again.write([0xff, 1, 0, 0, 0, 0])
        #expect(try await again.readFrame().id == -2)
        #expect(try await again.readFrame().id == -4)
        let frame = try await again.readFrame()
        #expect(frame.id == 2)
        #expect(frame.value == [42, 0, 0, 0])
        let lost = device.statistics.messagesUnsent
        #expect(lost > 0 && lost <= sent)
        try device.send(9, to: Rover.number)
        #expect(try await again.readFrame().value == [9, 0, 0, 0, 0, 0, 0, 0])
        #expect(device.statistics.messagesUnsent == lost)
        await device.close()
    }

    @Test("numbers sent through losses arrive in order, none twice")
    func nothingIsSentTwice() async throws {
        let received = Gathered<UInt64>()
        try await withPair(Self.soon) { service, port, device in
            service.onValue(of: Rover.number) { value, _ in received.add(value) }
            var current = service
            var number: UInt64 = 0
            for _ in 0..<5 {
                let goal = received.all.count + 200
                let stop = number + 100_000
                while received.all.count < goal, number < stop {
                    number += 1
                    try device.send(number, to: Rover.number)
                    if number.isMultiple(of: 50) { _ = try await device.ping() }
                }
                await current.stop(reason: "for a moment")
                try await eventually { device.isReconnecting }
                #expect(throws: ElementalError.self) { try device.send(0, to: Rover.number) }
                current = try await Self.service(
                    at: port, handlers: { $0.onValue(of: Rover.number) { value, _ in received.add(value) } })
                try await eventually { device.isConnected }
            }
            await current.stop()
        }
        let all = received.all
        #expect(all.count >= 1000)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
    }

    // MARK: Ending and beginning by hand

    @Test
    func aDeviceThatIsClosedWhileItWaitsEndsAtOnce() async throws {
        try await withPair(Self.late) { service, _, device in
            await service.stop()
            try await eventually { device.isReconnecting }
            try device.send(3, to: Rover.level)
            await device.close()
            #expect(device.disconnectReason?.kind == .closedHere)
            #expect(!device.isReconnecting)
            #expect(device.statistics.messagesUnsent == 1)
            #expect(throws: ElementalError.self) { try device.send(3, to: Rover.level) }
        }
    }

    @Test
    func aDeviceThatIsClosedDuringAnAttemptEndsAtOnce() async throws {
        let (listener, port) = try RawSocket.listen()
        var options = ConnectOptions()
        options.reconnection = Self.soon
        async let connecting = ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "tester", elements: Rover.all, options: options)
        let peer = try await listener.accept()
        try peer.write([0xff, 1, 0, 0, 0, 0])
        let device = try await connecting
        peer.closeOutput()
        // The attempt gets a connection, but no handshake.
        let silent = try await listener.accept()
        #expect(try await silent.readFrame().id == -2)
        await device.close()
        #expect(device.disconnectReason?.kind == .closedHere)
        #expect(try await silent.readToEnd().isEmpty == false)
    }

    @Test
    func aClosedDeviceCanBeConnectedAgain() async throws {
        try await withPair(nil) { service, _, device in
            let numbers = Gathered<UInt64>()
            device.onValue(of: Rover.number) { numbers.add($0) }
            let told = Gathered<DeviceEvent>()
            device.onEvent { event, _ in told.add(event) }
            for round in UInt64(1)...3 {
                try await eventually { service.devices.count == 1 }
                try service.send(round, to: Rover.number)
                try await eventually { numbers.all.last == round }
                await device.close()
                #expect(device.disconnectReason?.kind == .closedHere)
                try await device.reconnect()
                #expect(device.isConnected)
                #expect(device.disconnectReason == nil)
            }
            // A connected device is left as it is.
            try await device.reconnect()
            let ending = Task { await device.waitUntilDisconnected() }
            await device.close()
            #expect(await ending.value.kind == .closedHere)
            // A newcomer is told the current value, so each of them comes once more.
            #expect(numbers.all == [1, 1, 2, 2, 3, 3])
            // The waiting task may be ahead of the last event's handler.
            try await told.wait(for: 7)
            #expect(
                Self.words(told.all) == ["over: closed here", "did", "over: closed here", "did"]
                    + ["over: closed here", "did", "over: closed here"])
        }
    }

    @Test
    func aDeviceThatCannotBeConnectedAgainStaysAsItWas() async throws {
        try await withPair(nil) { service, port, device in
            await service.stop(reason: "off")
            _ = await device.waitUntilDisconnected()
            let error = await #expect(throws: ElementalError.self) { try await device.reconnect() }
            #expect(error?.code == .connectionFailed)
            #expect(device.disconnectReason?.kind == .shutDown("off"))
            let second = try await Self.service(at: port)
            try await device.reconnect()
            #expect(device.isConnected)
            await second.stop()
        }
    }

    @Test
    func aWaitingDeviceIsConnectedAtOnceWhenTheProgramAsksForIt() async throws {
        try await withPair(Self.late) { service, port, device in
            await service.stop()
            try await eventually { device.isReconnecting }
            let second = try await Self.service(at: port)
            try await device.reconnect()
            #expect(device.isConnected)
            await second.stop()
        }
    }

    @Test
    func aCancelledWaitForAReconnectionLeavesItAlone() async throws {
        try await withPair(ListedDelays([.zero, .seconds(3600)])) { service, _, device in
            await service.stop()
            try await eventually { device.isReconnecting }
            let waiting = Task { try await device.reconnect() }
            waiting.cancel()
            let error = await #expect(throws: ElementalError.self) { try await waiting.value }
            #expect(error?.code == .cancelled)
            #expect(device.isReconnecting)
        }
    }

    @Test
    func aCancelledConnectionByHandIsLetGo() async throws {
        let (listener, port) = try RawSocket.listen()
        async let connecting = ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "tester", elements: Rover.all)
        let peer = try await listener.accept()
        try peer.write([0xff, 1, 0, 0, 0, 0])
        let device = try await connecting
        await device.close()
        let again = Task { try await device.reconnect() }
        let silent = try await listener.accept()
        again.cancel()
        let error = await #expect(throws: ElementalError.self) { try await again.value }
        #expect(error?.code == .cancelled)
        _ = try await silent.readToEnd()
        #expect(device.disconnectReason?.kind == .closedHere)
    }

    @Test
    func aDeviceThatIsOverIsLetGo() async throws {
        weak var observed: ElementalDevice?
        try await withPair(Self.soon) { service, port, _ in
            let device = try await Self.connect(service, ListedDelays([.zero]))
            observed = device
            device.onEvent { _, _ in }
            await service.stop()
            _ = await device.waitUntilDisconnected()
        }
        try await eventually { observed == nil }
    }
}
