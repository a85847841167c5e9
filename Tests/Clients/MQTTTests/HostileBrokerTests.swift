import Foundation
import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing

@testable import MQTT

/// What a broker, or what listens in its place, can do wrong.
@Suite(.timeLimit(.minutes(2)))
struct HostileBrokerTests {
    private let topic = MQTTTopic(valid: "t")

    private func once(_ change: (inout MQTTOptions) -> Void = { _ in }) -> MQTTOptions {
        testOptions {
            $0.reconnection = nil
            change(&$0)
        }
    }

    /// The error with which a client ends whose broker does this.
    private func failure(
        _ options: MQTTOptions, _ script: @escaping @Sendable (ScriptedBroker) async throws -> Void
    ) async throws -> MQTTError? {
        let broker = try ScriptedBroker()
        async let played: Void = script(broker)
        let client = MQTTClient(try MQTTAddress(broker.url), options: options)
        let error = await mqttError { () throws(MQTTError) in try await client.run() }
        try await played
        #expect(!client.isConnected)
        return error
    }

    // MARK: - Connecting

    @Test(
        arguments: [
            ([0x20, 2, 0, 1], MQTTError.Code.unacceptableVersion, "3.1.1"),
            ([0x20, 2, 0, 2], .identifierRejected, "23"),
            ([0x20, 2, 0, 3], .serverUnavailable, "CONNACK 3"), ([0x20, 2, 0, 4], .badCredentials, "password"),
            ([0x20, 2, 0, 5], .notAuthorised, "allow_anonymous"), ([0x20, 2, 0, 9], .refused, "code 9"),
            ([0x20, 2, 1, 0], .protocolViolation, "clean"),
            ([0x30, 3, 0, 1, 0x61], .protocolViolation, "before CONNACK"),
            (Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), .protocolViolation, "PUBACK"),
            ([0x30, 0xFF, 0xFF, 0xFF, 0x7F], .messageTooLarge, "268435455"),
            ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .protocolViolation, "reserved kind 15"),
        ] as [([UInt8], MQTTError.Code, String)])
    func answersToConnect(_ answer: [UInt8], _ code: MQTTError.Code, _ words: String) async throws {
        let error = try await failure(once()) { broker in
            let peer = try await broker.accept()
            _ = try await peer.packet()
            try peer.write(answer)
            try await peer.readToEnd()
        }
        #expect(error?.code == code)
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }

    /// Before CONNECT is read, after it, and in the middle of CONNACK.
    @Test(arguments: [nil, [], [0x20, 2, 0]] as [[UInt8]?])
    func hangingUp(_ answer: [UInt8]?) async throws {
        let error = try await failure(once()) { broker in
            let peer = try await broker.accept()
            if let answer {
                _ = try await peer.packet()
                try peer.write(answer)
            }
            peer.close()
            try await peer.readToEnd()
        }
        #expect(error?.code == .closedByBroker)
        #expect(error?.description.contains("mqtts://") == true, "\(String(describing: error))")
    }

    @Test
    func silence() async throws {
        let options = once { $0.connectTimeout = .seconds(2) }
        let error = try await failure(options) { broker in
            let peer = try await broker.accept()
            try await peer.readToEnd()
        }
        #expect(error?.code == .timedOut)
        #expect(error?.description.contains("does it speak MQTT") == true, "\(String(describing: error))")
    }

    @Test
    func nobodyThere() async throws {
        let port = try LastingPort.next()
        let client = MQTTClient(try MQTTAddress("mqtt://127.0.0.1:\(port)"), options: once())
        let error = await mqttError { () throws(MQTTError) in try await client.run() }
        #expect(error?.code == .connectionFailed)
        #expect(error?.description == "cannot connect to mqtt://127.0.0.1:\(port): nothing listens there")
        let unknown = MQTTClient(try MQTTAddress("mqtt://nobody.invalid"), options: once())
        let other = await mqttError { () throws(MQTTError) in try await unknown.run() }
        #expect(other?.code == .connectionFailed)
        #expect(other?.description.contains("the host is not known") == true, "\(String(describing: other))")
    }

    /// A first connection is tried again, but not when the broker does not let the client in.
    @Test
    func theFirstConnection() async throws {
        let broker = try ScriptedBroker()
        try await withClient(broker.url, waits: false) { client, record in
            try await broker.accept().close()
            let unavailable = try await broker.accept()
            _ = try await unavailable.packet()
            try unavailable.write([0x20, 2, 0, 3])
            let peer = try await broker.session()
            try await eventually("connected", within: .seconds(20)) { client.isConnected }
            #expect(record.retries.map(\.attempt) == [1, 2])
            #expect(record.retries.map(\.error.code) == [.closedByBroker, .serverUnavailable])
            // Once it was there, nothing is final.
            peer.close()
            let refusing = try await broker.accept()
            _ = try await refusing.packet()
            try refusing.write([0x20, 2, 0, 5])
            let last = try await broker.session()
            try await eventually("connected", within: .seconds(20)) { record.connections == 2 && client.isConnected }
            #expect(record.retries.map(\.error.code).suffix(2) == [.connectionLost, .notAuthorised])
            last.close()
        }
        let error = try await failure(testOptions()) { broker in
            let peer = try await broker.accept()
            _ = try await peer.packet()
            try peer.write([0x20, 2, 0, 5])
            try await peer.readToEnd()
        }
        #expect(error?.code == .notAuthorised)
    }

    @Test
    func passwords() async throws {
        struct Missing: Error, CustomStringConvertible { let description = "the file is gone" }
        let asked = Locked(0)
        let broker = try ScriptedBroker()
        let options = testOptions {
            $0.clientID = "c"
            $0.userName = "rob"
            $0.password = {
                let number = asked.withLock { asked -> Int in
                    asked += 1
                    return asked
                }
                return "secret\(number)"
            }
        }
        try await withClient(broker.url, options, waits: false) { _, _ in
            for number in 1...2 {
                let peer = try await broker.accept()
                let body = try await peer.packet().body
                let end =
                    [0, 1] + Array("c".utf8) + [0, 3] + Array("rob".utf8) + [0, 7] + Array("secret\(number)".utf8)
                #expect(body.suffix(end.count) == end[...], "it is asked before each connection")
                peer.close()
            }
        }
        let failing = once {
            $0.userName = "rob"
            $0.password = { throw Missing() }
        }
        let client = MQTTClient(try MQTTAddress(broker.url), options: failing)
        let error = await mqttError { () throws(MQTTError) in try await client.run() }
        #expect(error?.code == .passwordUnavailable)
        #expect(error?.description.contains("the file is gone") == true)
        let slow = once {
            $0.userName = "rob"
            $0.connectTimeout = .milliseconds(50)
            $0.password = {
                await Delay.wait(.seconds(60))
                return nil
            }
        }
        let waiting = MQTTClient(try MQTTAddress(broker.url), options: slow)
        let late = await mqttError { () throws(MQTTError) in try await waiting.run() }
        #expect(late?.code == .timedOut)
        #expect(late?.description.contains("password") == true)
    }

    @Test
    func wrongOptions() async throws {
        let broker = try ScriptedBroker()
        let changes: [@Sendable (inout MQTTOptions) -> Void] = [
            { $0.password = { "x" } }, { $0.keepAlive = .zero }, { $0.keepAlive = .seconds(65536) },
            { $0.clientID = "" }, { $0.clientID = "a\0b" }, { $0.userName = String(repeating: "u", count: 65536) },
            { $0.connectTimeout = .zero }, { $0.maximumInFlight = 0 }, { $0.maximumInFlight = 60001 },
            { $0.maximumPacketSize = 0 }, { $0.maximumWaitingBytes = -1 },
            {
                let payload = ByteBuffer(repeating: 0, count: 65536)
                $0.lastWill = MQTTLastWill(topic: MQTTTopic(valid: "t"), payload: payload)
            },
        ]
        for (index, change) in changes.enumerated() {
            let client = MQTTClient(try MQTTAddress(broker.url), options: once(change))
            let error = await mqttError { () throws(MQTTError) in try await client.run() }
            #expect(error?.code == .invalidOptions, "\(index)")
        }
        var options = MQTTOptions()
        let error = refusal { () throws(MQTTError) in try options.trustCertificates(pem: Array("no".utf8)) }
        #expect(error?.code == .invalidOptions)
        #expect(Set((0..<100).map { _ in MQTTOptions.randomClientID() }).count == 100)
        #expect(MQTTOptions.randomClientID().wholeMatch(of: #/[0-9a-z]{22}/#) != nil)
    }

    // MARK: - In a session

    /// Each ends the connection, and the client makes another.
    @Test(
        arguments: [
            BrokerPeer.accepted, [0x34, 3, 0, 1, 0x61], [0x30, 0xFF, 0xFF, 0xFF, 0x7F], [0x30, 3, 0, 0, 0], [0xC0, 0],
            [0x62, 2, 0, 1],
        ] as [[UInt8]])
    func violations(_ bytes: [UInt8]) async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, record, peer in
            try peer.write(bytes)
            try await peer.readToEnd()
            let next = try await broker.session()
            try await eventually("another connection", within: .seconds(20)) { record.connections == 2 }
            let code = record.retries.first?.error.code
            #expect(code == .protocolViolation || code == .messageTooLarge)
            #expect(record.allMessages.isEmpty)
            next.close()
        }
    }

    @Test
    func bytesOneByOne() async throws {
        let broker = try ScriptedBroker()
        try await withClient(broker.url, waits: false) { client, record in
            let peer = try await broker.accept()
            _ = try await peer.packet()
            for byte in BrokerPeer.accepted + BrokerPeer.publish("a/b", Array("x".utf8), identifier: 7) {
                try peer.write([byte])
                try await Task.sleep(for: .milliseconds(1), clock: .suspending)
            }
            #expect(try await peer.message() == BrokerPeer.Packet(first: 0x40, body: [0, 7]))
            #expect(record.texts == ["a/b=x"])
            peer.close()
        }
    }

    @Test
    func duplicatesAreToldAndCounted() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, record, peer in
            let packet = BrokerPeer.publish("a", [0x31], identifier: 5)
            try peer.write(packet + [packet[0] | 8] + packet.dropFirst())
            #expect(try await peer.message().body == [0, 5])
            #expect(try await peer.message().body == [0, 5])
            #expect(record.allMessages.map(\.isDuplicate) == [false, true])
            #expect(client.statistics.duplicatesReceived == 1)
        }
    }

    @Test
    func silenceEndsTheConnection() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions { $0.keepAlive = .milliseconds(200) }
        try await broker.withSession(options) { _, record, peer in
            #expect(try await peer.packet() == BrokerPeer.Packet(first: 0xC0, body: []))
            // It is not answered.
            try await peer.readToEnd()
            try await eventually("the loss", within: .seconds(20)) { !record.retries.isEmpty }
            #expect(record.retries.first?.error.code == .timedOut)
        }
    }

    /// One that sends all the time notices it too: what it sends is no sign of the broker.
    @Test
    func silenceWhileSending() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions { $0.keepAlive = .milliseconds(300) }
        try await broker.withSession(options) { client, record, peer in
            try await eventually("the loss", within: .seconds(20)) {
                try? client.publishNewest(ByteBuffer(string: "x"), to: topic, qos: .atMostOnce)
                return !record.retries.isEmpty
            }
            #expect(record.retries.first?.error.code == .timedOut)
            peer.close()
        }
    }

    /// An event loop that did not run for a while looks at what has arrived before it gives a broker up.
    @Test
    func anEventLoopThatIsHeldUp() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let broker = try ScriptedBroker()
        let options = testOptions {
            $0.keepAlive = .milliseconds(400) * Sanitizer.patience
            $0.eventLoopGroup = group
        }
        try await broker.withSession(options) { client, record, peer in
            for _ in 0..<2 {
                #expect(try await peer.packet() == BrokerPeer.Packet(first: 0xC0, body: []))
                let isAnswered = DispatchSemaphore(value: 0)
                client.eventLoop.execute {
                    usleep(600_000 * UInt32(Sanitizer.patience))
                    isAnswered.wait()
                }
                try await Task.sleep(for: .milliseconds(20), clock: .suspending)
                try peer.write([0xD0, 0])
                isAnswered.signal()
            }
            #expect(try await peer.packet() == BrokerPeer.Packet(first: 0xC0, body: []))
            #expect(record.names == ["connected"])
        }
        try await group.shutdownGracefully()
    }

    /// A message that takes several keep-alives to be read is no dead broker. One that nobody reads any more is.
    @Test
    func aLargeMessageToASlowBroker() async throws {
        let broker = try ScriptedBroker(receiveBuffer: 128 << 10)
        let options = testOptions { $0.keepAlive = .seconds(3) * Sanitizer.patience }
        try await withClient(broker.url, options, waits: false) { client, record in
            let socket = try await broker.accept()
            _ = try await socket.packet()
            try socket.write(BrokerPeer.accepted)
            try await eventually("connected", within: .seconds(20)) { client.isConnected }
            let times = 90 * Sanitizer.patience
            let payload = ByteBuffer(repeating: 7, count: times * 32 << 10 + 4 << 20)
            async let sent: Void = client.publish(payload, to: topic, qos: .atMostOnce)
            // That takes seven seconds, more than twice the keep-alive, and nothing is sent to the client meanwhile.
            try await socket.readSlowly(32 << 10, times: times, pause: 80)
            try await sent
            #expect(record.retries.isEmpty, "\(record.names)")
            #expect(client.isConnected)
            // Now nothing more is read.
            try await eventually("the loss", within: .seconds(20)) { !record.retries.isEmpty }
            #expect(record.retries.first?.error.code == .timedOut)
            socket.close()
        }
    }

    @Test
    func aBrokerThatAcknowledgesNothing() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions { $0.keepAlive = .milliseconds(600) * Sanitizer.patience }
        try await broker.withSession(options) { client, record, peer in
            async let error = mqttError { () throws(MQTTError) in try await client.publish("x", to: topic) }
            // PINGREQs are answered.
            let answering = Task { while true { _ = try await peer.message() } }
            #expect(await error?.code == .connectionLost)
            try await eventually("the loss", within: .seconds(20)) { !record.retries.isEmpty }
            #expect(record.retries.first?.error.code == .timedOut)
            #expect(record.retries.first?.error.message.contains("acknowledged none of 1") == true)
            _ = await answering.result
        }
    }

    // MARK: - Floods

    @Test
    func messagesThatWereNeverSubscribedTo() async throws {
        let broker = try ScriptedBroker()
        let count = Locked(0)
        let client = MQTTClient(try MQTTAddress(broker.url), options: testOptions())
        client.onMessage { _ in count.withLock { $0 += 1 } }
        let running = Task { try await client.run() }
        let peer = try await broker.session()
        let batch = Array(Array(repeating: BrokerPeer.publish("x", [1, 2, 3]), count: 1000).joined())
        for _ in 0..<20 { try peer.write(batch) }
        try await eventually("all of them") { count.withLock { $0 } == 20_000 }
        async let published: Void = client.publish("still here", to: topic)
        try peer.write([0x40, 2] + (try await peer.message().identifier))
        try await published
        #expect(client.statistics.messagesReceived == 20_000)
        client.stop()
        try await peer.readToEnd()
        try await running.value
    }

    @Test
    func acknowledgementsOfNothing() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, _, peer in
            let storm = (1...20_000).flatMap { number -> [UInt8] in
                [0x40, 2, UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
            }
            try peer.write(storm)
            try await eventually("all are counted") { client.statistics.unexpectedAcknowledgements == 20_000 }
            async let published: Void = client.publish("still here", to: topic)
            try peer.write([0x40, 2] + (try await peer.message().identifier))
            try await published
            #expect(client.statistics.inFlight == 0)
        }
    }

    /// A broker that sends without reading the acknowledgements is read no more until it does.
    @Test
    func acknowledgementsThatNobodyReads() async throws {
        let broker = try ScriptedBroker(receiveBuffer: 4096)
        try await broker.withSession { client, record, peer in
            let total = 400_000
            let message = BrokerPeer.publish("t", [], identifier: 1)
            let batch = Array(Array(repeating: message, count: 1000).joined())
            let sent = Locked(0)
            // A thread of its own, because it is kept waiting.
            Thread.detachNewThread {
                for _ in 0..<total / 1000 {
                    guard (try? peer.write(batch)) != nil else { return }
                    sent.withLock { $0 += 1000 }
                }
            }
            var (last, same) = (0, 0)
            try await eventually("the client reads no more") {
                let received = client.statistics.messagesReceived
                same = received == last && received > 0 ? same + 1 : 0
                last = received
                return same > 150
            }
            #expect(last < total, "it has read everything")
            #expect(client.statistics.messagesReceived == last)
            for _ in 0..<last { _ = try await peer.message() }
            try await eventually("it goes on") { client.statistics.messagesReceived > last }
        }
    }

    /// Bursts whose acknowledgements come one by one: reading is held back, and nothing stalls.
    @Test
    func burstsWithManyAcknowledgements() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, record, peer in
            let topics = (0..<1000).map { MQTTTopic(valid: "element/\($0)") }
            let answering = Task {
                while true {
                    let packet = try await peer.packet()
                    if packet.first & 0xF0 == 0x30 { try peer.write([0x40, 2] + packet.identifier) }
                }
            }
            for round in 0..<5 {
                try await client.eventLoop.submit {
                    for topic in topics { try client.publishNewest(ByteBuffer(string: "\(round)"), to: topic) }
                }.get()
                #expect(client.statistics.inFlight <= 1000)
                // A message in between waits for no longer than the rest.
                try peer.write(BrokerPeer.publish("between", Array("\(round)".utf8)))
                try await eventually("all are acknowledged", within: .seconds(20)) {
                    client.statistics.inFlight == 0 && client.statistics.waitingMessages == 0
                }
            }
            try await eventually("the messages in between", within: .seconds(20)) { record.texts.count == 5 }
            #expect(client.statistics.messagesSent == 5000)
            #expect(record.retries.isEmpty)
            peer.close()
            _ = await answering.result
        }
    }

    // MARK: - Bounds of what waits

    @Test
    func whatWaitsIsBounded() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions {
            $0.maximumInFlight = 2
            $0.maximumWaitingTopics = 3
            $0.maximumWaitingBytes = 2000
        }
        try await broker.withSession(options) { client, record, peer in
            let topics = (0..<6).map { MQTTTopic(valid: "\($0)") }
            try await client.eventLoop.submit {
                for topic in topics.prefix(5) { try client.publishNewest(ByteBuffer(string: "old"), to: topic) }
            }.get()
            try await eventually("two are in flight", within: .seconds(20)) {
                client.statistics.inFlight == 2 && client.statistics.waitingMessages == 3
            }
            let error = refusal { () throws(MQTTError) in
                try client.publishNewest(ByteBuffer(string: "x"), to: topics[5])
            }
            #expect(error?.code == .queueFull)
            try client.publishNewest(ByteBuffer(string: "new"), to: topics[3])
            let large = ByteBuffer(repeating: 0, count: 2000)
            #expect(
                await mqttError { () throws(MQTTError) in try await client.publish(large, to: topic) }?.code
                    == .queueFull)
            #expect(client.statistics.waitingBytes < 2000)
            async let queued: Void = client.publish("queued", to: topic)
            try await eventually("it waits", within: .seconds(20)) { client.statistics.waitingMessages == 4 }
            var payloads: [String] = []
            for _ in 0..<6 {
                let packet = try await peer.message()
                payloads.append(
                    "\(packet.topic)="
                        + String(decoding: packet.body.dropFirst(4 + packet.topic.utf8.count), as: UTF8.self))
                try peer.write([0x40, 2] + packet.identifier)
            }
            try await queued
            #expect(payloads == ["0=old", "1=old", "2=old", "3=new", "4=old", "t=queued"])
            #expect(client.statistics.replacedMessages == 1)
        }
    }

    /// Values that wait only because the network takes nothing: no acknowledgement sets them going.
    @Test
    func theNetworkTakesMoreAgain() async throws {
        let broker = try ScriptedBroker(receiveBuffer: 4096)
        try await broker.withSession { client, _, peer in
            // Far more than the network and the channel take.
            let payload = ByteBuffer(repeating: 1, count: 100_000)
            let count = 60
            for number in 1...count {
                try client.publishNewest(payload, to: MQTTTopic(valid: "v/\(number)"), qos: .atMostOnce)
            }
            var (last, same) = (0, 0)
            try await eventually("nothing more is taken", within: .seconds(20)) {
                let sent = client.statistics.messagesSent
                same = sent == last && sent > 0 ? same + 1 : 0
                last = sent
                return same > 50
            }
            #expect(client.statistics.waitingMessages == count - last && last < count)
            var topics: [String] = []
            for _ in 0..<count { topics.append(try await peer.message().topic) }
            #expect(topics == (1...count).map { "v/\($0)" })
            #expect(client.statistics.waitingBytes == 0)
        }
    }

    /// A value from the event loop does not overtake one that another thread has left there just before.
    @Test
    func valuesOfTwoThreads() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, _, peer in
            try await client.eventLoop.submit {
                let isAdded = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    try? client.publishNewest(ByteBuffer(string: "1"), to: topic)
                    isAdded.signal()
                }
                isAdded.wait()
                try client.publishNewest(ByteBuffer(string: "2"), to: topic)
                try client.publishNewest(ByteBuffer(string: "3"), to: MQTTTopic(valid: "end"))
            }.get()
            #expect(try await peer.message().body.last == UInt8(ascii: "2"))
            #expect(try await peer.message().body.last == UInt8(ascii: "3"))
        }
    }

    /// What is not acknowledged is gone with the connection, and whoever waits is told.
    @Test
    func theConnectionIsLostWhileSomethingWaits() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions { $0.maximumInFlight = 1 }
        try await broker.withSession(options) { client, record, peer in
            async let first = mqttError { () throws(MQTTError) in try await client.publish("1", to: topic) }
            _ = try await peer.message()
            async let second = mqttError { () throws(MQTTError) in try await client.publish("2", to: topic) }
            async let subscription = mqttError { () throws(MQTTError) in
                try await client.subscribe(to: "a")
            }
            try await eventually("it waits", within: .seconds(20)) { client.statistics.waitingMessages == 1 }
            try client.publishNewest(ByteBuffer(string: "3"), to: MQTTTopic(valid: "n"))
            #expect(try await peer.message().first == 0x82)
            peer.close()
            #expect(await first?.code == .connectionLost)
            #expect(await second?.code == .connectionLost)
            #expect(await subscription?.code == .connectionLost)
            try await eventually("the loss", within: .seconds(20)) { !record.retries.isEmpty }
            let next = try await broker.session()
            try await eventually("connected again", within: .seconds(20)) { client.isConnected }
            #expect(client.statistics.waitingMessages == 0 && client.statistics.inFlight == 0)
            try client.publishNewest(ByteBuffer(string: "4"), to: MQTTTopic(valid: "n"))
            #expect(try await next.message().body.last == UInt8(ascii: "4"), "nothing older comes")
            next.close()
        }
    }

    @Test
    func withoutAConnection() async throws {
        let client = MQTTClient(try MQTTAddress("mqtt://127.0.0.1"))
        #expect(
            refusal { () throws(MQTTError) in try client.publishNewest(ByteBuffer(), to: topic) }?.code
                == .notConnected)
        #expect(
            await mqttError { () throws(MQTTError) in try await client.publish("x", to: topic) }?.code == .notConnected)
        #expect(
            await mqttError { () throws(MQTTError) in try await client.subscribe(to: "x") }?.code == .notConnected)
        #expect(
            await mqttError { () throws(MQTTError) in try await client.unsubscribe(from: ["x"]) }?.code
                == .notConnected)
        #expect(
            await mqttError { () throws(MQTTError) in try await client.subscribe(to: "a#") }?.code == .invalidTopic)
    }

    @Test
    func aCancelledTaskWaitsNoLonger() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, _, peer in
            for call in 0..<2 {
                let task = Task {
                    if call == 0 {
                        try await client.publish("x", to: topic)
                    } else {
                        _ = try await client.subscribe(to: "x")
                    }
                }
                _ = try await peer.message()
                task.cancel()
                guard case .failure(let error as MQTTError) = await task.result else {
                    Issue.record("it was not cancelled")
                    continue
                }
                #expect(error.code == .cancelled)
            }
        }
    }

    // MARK: - Stopping

    @Test
    func stoppingSendsWhatWaitsAndTakesLeave() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions { $0.maximumInFlight = 1 }
        let client = MQTTClient(try MQTTAddress(broker.url), options: options)
        let record = Record(client)
        let running = Task { try await client.run() }
        let peer = try await broker.session()
        try await eventually("connected", within: .seconds(20)) { client.isConnected }
        for text in ["1", "2"] { try client.publishNewest(ByteBuffer(string: text), to: MQTTTopic(valid: text)) }
        let first = try await peer.message()
        client.stop()
        try await eventually("it takes no more", within: .seconds(20)) { !client.isConnected }
        try peer.write([0x40, 2] + first.identifier)
        let second = try await peer.message()
        #expect(second.topic == "2")
        try peer.write([0x40, 2] + second.identifier)
        let start = ContinuousClock.now
        #expect(try await peer.message() == BrokerPeer.Packet(first: 0xE0, body: []))
        #expect(ContinuousClock.now - start < .seconds(1), "it does not wait for nothing")
        peer.close()
        try await running.value
        #expect(record.names == ["connected", "ended: -"])
        let again = await mqttError { () throws(MQTTError) in try await client.run() }
        #expect(again?.code == .alreadyStarted)
    }

    /// A broker that neither acknowledges nor closes costs 2 s.
    @Test
    func stoppingIsBoundedInTime() async throws {
        let broker = try ScriptedBroker()
        let client = MQTTClient(try MQTTAddress(broker.url), options: testOptions())
        let running = Task { try await client.run() }
        let peer = try await broker.session()
        try await eventually("connected", within: .seconds(20)) { client.isConnected }
        async let unanswered = mqttError { () throws(MQTTError) in try await client.publish("1", to: topic) }
        _ = try await peer.message()
        let start = ContinuousClock.now
        running.cancel()
        try await running.value
        let time = ContinuousClock.now - start
        #expect(time > .seconds(1) && time < .seconds(5) * Sanitizer.patience, "\(time)")
        #expect(await unanswered?.code == .stopped)
        #expect(try await peer.message().first == 0xE0)
    }

    @Test(arguments: [0, 1, 2, 3])
    func stoppingWhileNotConnected(_ step: Int) async throws {
        let broker = try ScriptedBroker()
        let options = testOptions {
            $0.reconnection = EndlessDelays(every: .seconds(600))
            if step == 1 {
                $0.userName = "rob"
                $0.password = {
                    await Delay.wait(.seconds(600))
                    return nil
                }
            }
        }
        let client = MQTTClient(try MQTTAddress(broker.url), options: options)
        let record = Record(client)
        if step == 0 { client.stop() }
        let running = Task { try await client.run() }
        switch step {
        case 2: _ = try await broker.accept().packet()
        case 3:
            // The attempt after the first loss comes at once, the next one in ten minutes.
            for _ in 0..<2 { try await broker.accept().close() }
            try await eventually("it waits", within: .seconds(20)) { record.retries.count == 2 }
        default: break
        }
        client.stop()
        try await running.value
        #expect(record.names.last == "ended: -")
    }
}
