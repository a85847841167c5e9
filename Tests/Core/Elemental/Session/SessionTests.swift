import Elemental
import TestSupport
import Testing

/// A service and a client of ours, over real sockets.
struct SessionTests {
    @Test(arguments: ConnectionKind.allCases)
    func valuesTravelBothWaysOverTCPInOrder(over kind: ConnectionKind) async throws {
        try await withPair(over: kind) { service, device in
            let received = Transcript<Float>()
            service.onValue(of: Lamp.brightness) { value, device in
                received.add(value)
                try? device.send("got \(value)", to: Lamp.label)
            }
            let answers = Transcript<String>()
            device.onValue(of: Lamp.label) { answers.add($0) }
            let sent = (0..<1000).map { Float($0) / 1000 }
            for value in sent { try device.send(value, to: Lamp.brightness) }
            try await answers.wait(for: 1000)
            #expect(received.all == sent)
            #expect(answers.all == sent.map { "got \($0)" })
            #expect(device.statistics.messagesSent == 1000)
            #expect(device.statistics.messagesUnsent == 0)
            #expect(device.value(of: Lamp.label) == "got 0.999")
        }
    }

    @Test
    func valuesTravelBothWaysOverUDP() async throws {
        try await withPair { service, device in
            service.onValue(of: Lamp.motion) { value, device in try? device.send(value * 2, to: Lamp.motion) }
            let answers = Transcript<Vector3>()
            device.onValue(of: Lamp.motion) { answers.add($0) }
            #expect(device.udpIdentifier == 1)
            // Loopback loses datagrams only when a buffer is full; one at a time none is.
            for index in 1...50 {
                try device.send([Float(index), 2, 3], to: Lamp.motion)
                try await answers.wait(for: index)
            }
            #expect(answers.all.last == [100, 4, 6])
            #expect(device.statistics.datagramsDropped == 0)
        }
    }

    @Test
    func severalMessagesSentTogetherShareADatagram() async throws {
        // A bare UDP socket in the service's place counts datagrams.
        let (listener, port) = try RawSocket.listen(port: PortLease.port())
        let udp = try RawSocket.datagram(port: port)
        async let connecting = ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all, options: .patient)
        let peer = try await listener.accept()
        try peer.write([0xff, 1, 0, 0, 0, 9])
        let device = try await connecting
        try await device.eventLoop.submit {
            // On the loop nothing is sent before the iteration ends, so these are sent together.
            for index in 0..<10 { try device.send(UInt64(index), to: Lamp.count) }
        }.get()
        let datagram = try await udp.readDatagram()
        #expect(datagram.count == 10 * 14)
        #expect(Array(datagram[..<14]) == [8, 8, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0])
        await device.close()
    }

    @Test(arguments: [1, 1_394, 1_395, 2_043, 9_000, 65_501])
    func aDatagramOfAnySizeArrivesWhole(_ size: Int) async throws {
        let picture = Element<Data>(9, "Picture", transport: .udp)
        try await withPair([picture], client: [picture]) { service, device in
            service.onValue(of: picture) { value, device in try? device.send(value, to: picture) }
            let answers = Transcript<Data>()
            device.onValue(of: picture) { answers.add($0) }
            let sent = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 * 7) })
            try device.send(sent, to: picture)
            try await answers.wait(for: 1)
            #expect(answers.all == [sent])
        }
    }

    @Test("one socket for both families: TCP and UDP both ways", arguments: ["127.0.0.1", "::1"])
    func bothFamilies(_ host: String) async throws {
        try await withService(Lamp.all, { $0.address = nil }) { service, port in
            service.onValue(of: Lamp.motion) { value, device in try? device.send(value, to: Lamp.motion) }
            var options = ConnectOptions.patient
            options.expectsHello = true
            let device = try await ElementalDevice.connect(
                host: host, port: port, as: "tester", elements: Lamp.all, options: options)
            try device.send([1, 2, 3], to: Lamp.motion)
            try await eventually { device.value(of: Lamp.motion) == [1, 2, 3] }
            #expect(service.devices.first?.description.contains(host) == true)
            await device.close()
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func emptyValuesTravelBetweenOurOwn(over kind: ConnectionKind) async throws {
        try await withPair(over: kind) { service, device in
            let labels = Transcript<String>()
            service.onValue(of: Lamp.label) { value, _ in labels.add(value) }
            let blobs = Transcript<Data>()
            service.onValue(of: Lamp.blob) { value, _ in blobs.add(value) }
            try device.send("", to: Lamp.label)
            try device.send(Data(), to: Lamp.blob)
            try await blobs.wait(for: 1)
            #expect(labels.all == [""])
            #expect(blobs.all == [Data()])
        }
    }

    @Test
    func aLateJoinerGetsEveryValueTheServiceHasSet() async throws {
        try await withService { service, port in
            try service.send(0.25, to: Lamp.brightness)
            try service.send(0.5, to: Lamp.brightness)
            try service.send(21.5, to: Lamp.reading)
            try service.send([1, 2, 3], to: Lamp.motion)
            let values = Transcript<Float>()
            let device = try await connect(port) { device in
                device.onValue(of: Lamp.brightness) { values.add($0) }
            }
            // The last: they come in the order of their identifiers.
            try await eventually { device.value(of: Lamp.reading) != nil }
            #expect(values.all == [0.5])
            // Also where nothing else says of which type it is.
            let reading = device.value(of: Lamp.reading)
            #expect(reading == 21.5)
            #expect(device.value(of: Lamp.motion) == [1, 2, 3])
            // A handler that is added later gets the newest value at once.
            let late = Transcript<Double>()
            device.onValue(of: Lamp.reading) { late.add($0) }
            try await late.wait(for: 1)
            #expect(late.all == [21.5])
            await device.close()
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func aValueGoesToAllDevices(over kind: ConnectionKind) async throws {
        try await withService(over: kind) { service, port in
            var devices: [ElementalDevice] = []
            for index in 0..<5 { devices.append(try await connect(port, as: "client \(index)", over: kind)) }
            try await eventually { service.devices.count == 5 }
            #expect(Set(service.devices.map(\.name)) == Set((0..<5).map { "client \($0)" }))
            #expect(try service.send(0.75, to: Lamp.brightness).isEmpty)
            for device in devices {
                try await eventually { device.value(of: Lamp.brightness) == 0.75 }
                await device.close()
            }
            try await eventually { service.devices.isEmpty }
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func asyncStreamsBringValuesInOrderAndEndWithTheConnection(over kind: ConnectionKind) async throws {
        try await withPair(over: kind) { service, device in
            let values = device.values(of: Lamp.blob)
            let sender = try #require(service.devices.first)
            // Far more than a stream buffers: back-pressure reaches the service through the network.
            let count = 3000
            let sending = Task {
                for index in 0..<count {
                    try await sender.sendWhenReady(Data(repeating: UInt8(index % 251), count: 2000), to: Lamp.blob)
                }
            }
            var seen = 0
            for await value in values {
                #expect(value.first == UInt8(seen % 251))
                seen += 1
                if seen == count { break }
            }
            #expect(seen == count)
            try await sending.value
            let rest = Task { () -> Int in
                var count = 0
                for await _ in device.values(of: Lamp.label) { count += 1 }
                return count
            }
            await device.close()
            #expect(await rest.value == 0)
        }
    }

    /// With such a small buffer, the stream pauses and resumes at every value.
    @Test(.backstop)
    func aStreamThatIsFullAndEmptyByTurnsGoesOn() async throws {
        try await withService { service, port in
            let device = try await connect(port, with: { $0.limits.streamBufferCount = 2 })
            try await eventually { service.devices.count == 1 }
            let sender = try #require(service.devices.first)
            let values = device.values(of: Lamp.label)
            let count = 50_000
            let sending = Task {
                for index in 0..<count { try await sender.sendWhenReady("\(index)", to: Lamp.label) }
            }
            var seen = 0
            for await value in values {
                if value != "\(seen)" { Issue.record("\(value) instead of \(seen)") }
                seen += 1
                if seen == count { break }
            }
            try await sending.value
            await device.close()
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func aStreamWithoutConsumerMakesTheSenderWait(over kind: ConnectionKind) async throws {
        try await withPair(over: kind) { service, device in
            let values = device.values(of: Lamp.blob)
            let sender = try #require(service.devices.first)
            var sent = 0
            do {
                while true {
                    try sender.send(Data(repeating: 1, count: 100_000), to: Lamp.blob)
                    sent += 1
                    try #require(sent < 10_000, "the sender's queue never filled")
                }
            } catch let error as ElementalError {
                #expect(error.code == .queueFull)
            }
            var seen = 0
            for await _ in values {
                seen += 1
                if seen == sent { break }
            }
            #expect(seen == sent)
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func pausedReadingBringsNothingUntilItIsResumed(over kind: ConnectionKind) async throws {
        try await withPair(over: kind) { service, device in
            let sender = try #require(service.devices.first)
            /// Lets both event loops do what is due, again and again: they would read, if reading were not paused.
            func turnLoops() async throws {
                for _ in 0..<500 {
                    try await sender.eventLoop.submit {}.get()
                    try await device.eventLoop.submit {}.get()
                }
            }
            device.pause()
            for _ in 0..<200 { try sender.send(Data(repeating: 1, count: 20_000), to: Lamp.blob) }
            try await eventually { sender.statistics.messagesUnsent < 200 }
            // A read that was requested before the pause may still bring some of the 4 MB; nothing follows it.
            try await turnLoops()
            let received = device.statistics.messagesReceived
            try await turnLoops()
            #expect(device.statistics.messagesReceived == received)
            #expect(received < 200)
            device.resume()
            try await eventually { device.statistics.messagesReceived == 200 }
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func latestKeepsTheNewestUnsentValue(over kind: ConnectionKind) async throws {
        try await withPair(over: kind) { service, device in
            let sender = try #require(service.devices.first)
            let levels = Transcript<UInt32>()
            device.onValue(of: Lamp.level) { levels.add($0) }
            try await sender.eventLoop.submit {
                for level in 1...100 as ClosedRange<UInt32> { try sender.send(level, to: Lamp.level) }
            }.get()
            try await levels.wait(for: 1)
            #expect(levels.all == [100])
            #expect(sender.statistics.messagesReplaced == 99)
        }
    }

    @Test
    func aPingComesBackOverBothTransports() async throws {
        try await withPair { service, device in
            #expect(try await device.ping() > .zero)
            #expect(try await device.ping(over: .udp, size: 1024) > .zero)
            let client = try #require(service.devices.first)
            #expect(try await client.ping() > .zero)
            #expect(try await client.ping(over: .udp) > .zero)
        }
    }

    @Test
    func aCancelledHandlerForTheEndIsNotCalled() async throws {
        try await withPair { _, device in
            let told = Transcript<String>()
            let cancelled = device.onDisconnect { _, _ in told.add("cancelled") }
            let late = device.onDisconnect { reason, _ in told.add("\(reason)") }
            cancelled.cancel()
            await device.close()
            // A waiting task may be ahead of a handler.
            try await told.wait(for: 1)
            late.cancel()
            device.onDisconnect { _, _ in told.add("at once") }
            #expect(told.all == ["closed here", "at once"])
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func otherElementsReachDevicesThatConnectAgain(over kind: ConnectionKind) async throws {
        try await withService(over: kind) { service, port in
            try service.send(0.5, to: Lamp.brightness)
            try service.send("old", to: Lamp.label)
            let old = try await connect(port, elements: nil, over: kind)
            let size = Element<UInt16>(3, "Size")
            service.update(elements: [Lamp.brightness, size], reason: "other elements")
            let reason = try await old.waitUntilDisconnected()
            #expect(reason.kind == .shutDown("other elements"))
            #expect(service.elements.map(\.name) == ["Brightness", "Size"])
            let device = try await connect(port, elements: nil, over: kind)
            #expect(device.knownElements.map(\.name) == ["Brightness", "Size"])
            try service.send(7, to: size)
            try await eventually { device.value(of: size) == 7 && device.value(of: Lamp.brightness) == 0.5 }
            #expect(throws: ElementalError.self) { try service.send("new", to: Lamp.label) }
            await device.close()
        }
    }
}
