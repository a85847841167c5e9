import NIOCore
import Support
import TestSupport
import Testing

@testable import MQTT

/// How a first connection fails, and when it is tried again.
@Suite(.backstop)
struct ConnectingTests {
    /// The error with which a client ends whose broker does this.
    private func failure(
        _ options: MQTTOptions, _ script: @escaping @Sendable (ScriptedBroker) async throws -> Void
    ) async throws -> MQTTError? {
        let broker = try ScriptedBroker()
        async let played: Void = script(broker)
        let client = MQTTClient(try MQTTAddress(broker.url), options: options)
        let error = await mqttError { try await client.run() }
        try await played
        #expect(!client.isConnected)
        return error
    }

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
            try await broker.session(answer).readToEnd()
        }
        #expect(error?.code == code)
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }

    /// Before CONNECT is read, after it, and in the middle of CONNACK.
    @Test(arguments: [nil, [], [0x20, 2, 0]] as [[UInt8]?])
    func hangingUp(_ answer: [UInt8]?) async throws {
        let error = try await failure(once()) { broker in
            let peer = if let answer { try await broker.session(answer) } else { try await broker.accept() }
            peer.close()
            try await peer.readToEnd()
        }
        #expect(error?.code == .closedByBroker)
        #expect(error?.description.contains("mqtts://") == true, "\(String(describing: error))")
    }

    @Test
    func nobodyThere() async throws {
        let port = try PortLease.port()
        let error = try await errorOfRun("mqtt://127.0.0.1:\(port)", once())
        #expect(error?.code == .connectionFailed)
        #expect(error?.description == "cannot connect to mqtt://127.0.0.1:\(port): nothing listens there")
        let other = try await errorOfRun("mqtt://nobody.invalid", once())
        #expect(other?.code == .connectionFailed)
        #expect(other?.description.contains("the host is unknown") == true, "\(String(describing: other))")
    }

    /// A first connection is tried again, but not when the broker does not let the client in.
    @Test
    func theFirstConnection() async throws {
        let broker = try ScriptedBroker()
        try await withClient(broker.url, waits: false) { client, record in
            try await broker.accept().close()
            let unavailable = try await broker.session([0x20, 2, 0, 3])
            let peer = try await broker.session()
            try await eventually("connected") { client.isConnected }
            #expect(record.retries.map(\.attempt) == [1, 2])
            #expect(record.retries.map(\.error.code) == [.closedByBroker, .serverUnavailable])
            // Once it was there, nothing is final.
            peer.close()
            let refusing = try await broker.session([0x20, 2, 0, 5])
            let last = try await broker.session()
            try await eventually("connected") { record.connections == 2 && client.isConnected }
            #expect(record.retries.map(\.error.code).suffix(2) == [.connectionLost, .notAuthorised])
            last.close()
            withExtendedLifetime((unavailable, refusing)) {}
        }
        let error = try await failure(testOptions()) { try await $0.session([0x20, 2, 0, 5]).readToEnd() }
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
                asked.withLock { $0 += 1 }
                return "secret\(asked.withLock { $0 })"
            }
        }
        try await withClient(broker.url, options, waits: false) { _, _ in
            for number in 1...2 {
                let peer = try await broker.accept()
                let body = try await peer.packet().body
                let end: [UInt8] =
                    [0, 1, UInt8(ascii: "c"), 0, 3] + Array("rob".utf8) + [0, 7] + Array("secret\(number)".utf8)
                #expect(body.suffix(end.count) == end[...], "it is asked before each connection")
                peer.close()
            }
        }
        let failing = once {
            $0.userName = "rob"
            $0.password = { throw Missing() }
        }
        let error = try await errorOfRun(broker.url, failing)
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
        let late = try await errorOfRun(broker.url, slow)
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
            #expect(try await errorOfRun(broker.url, once(change))?.code == .invalidOptions, "\(index)")
        }
        var options = MQTTOptions()
        let error = refusal { try options.trustCertificates(pem: Array("no".utf8)) }
        #expect(error?.code == .invalidOptions)
        #expect(Set((0..<100).map { _ in MQTTOptions.randomClientID() }).count == 100)
        #expect(MQTTOptions.randomClientID().wholeMatch(of: #/[0-9a-z]{22}/#) != nil)
    }
}
