import NIOCore
import Support
import TestSupport
import Testing

@testable import WebServer

/// Starting and stopping.
struct LifecycleTests {
    @Test func aTakenPortIsNamed() async throws {
        try await WebServerFixture.with { fixture in
            for own in [false, true] {
                let error = await WebServerFixture.failure {
                    $0.port = fixture.port
                    $0.acceptsOwnAddresses = own
                }
                #expect(error?.code == .portTaken)
                #expect(error?.message == "port \(fixture.port) is in use; choose another with --port")
            }
        }
    }

    @Test func foreignAddressesCannotBeHad() async {
        #expect(await WebServerFixture.failure { $0.host = "192.0.2.1" }?.code == .addressUnavailable)
        #expect(await WebServerFixture.failure { $0.host = "nobody.invalid" }?.code == .addressUnavailable)
    }

    @Test(arguments: [false, true]) func whatIsNoPortIsNamed(_ own: Bool) async {
        let error = await WebServerFixture.failure {
            $0.port = 65_536
            $0.acceptsOwnAddresses = own
        }
        #expect(error?.message.contains("65536 is not a port") == true)
    }

    @Test func aListenerThatTheSystemClosesIsOpenedAgain() async throws {
        let events = Transcript<String>()
        try await WebServerFixture.with {
            // One address, and so one socket.
            $0.host = "127.0.0.2"
            $0.onListening = { event, port in events.add("\(port): \(event.reason ?? "restored")") }
        } _: { fixture in
            func get(over socket: RawSocket) async throws {
                try socket.write(Array("GET / HTTP/1.1\r\nHost: 127.0.0.2:\(fixture.port)\r\n\r\n".utf8))
                var answer = ""
                while !answer.contains("<p>page") {
                    let bytes = try await socket.readSome()
                    try #require(!bytes.isEmpty, "\(answer)")
                    answer += String(decoding: bytes, as: UTF8.self)
                }
                #expect(answer.hasPrefix("HTTP/1.1 200 OK"))
            }
            let socket = try RawSocket.connect(to: fixture.port, at: "127.0.0.2")
            try await get(over: socket)
            RawSocket.shutDownListener(at: fixture.port)
            try await events.next { $0 == "\(fixture.port): the system has closed the socket" }
            try await events.next { $0 == "\(fixture.port): restored" }
            // The connection has lasted, and there are new ones.
            try await get(over: socket)
            try await get(over: try RawSocket.connect(to: fixture.port, at: "127.0.0.2"))
        }
    }

    @Test func serversStartOnce() async throws {
        // Leased, so that no other test serves there once this server has stopped.
        let port = try PortLease.port()
        try await WebServerFixture.with({ $0.port = port }) { (fixture) async throws in
            await #expect(throws: WebServerError.self) { try await fixture.server.start() }
            #expect(try await fixture.status() == 200)
            await fixture.server.stop()
            await fixture.server.stop()
            #expect(throws: RawSocket.Failure.self) { try fixture.client() }
        }
        let server = WebServer(WebServerOptions(), routes: WebRoutes())
        await server.stop()
        let error = await #expect(throws: WebServerError.self) { try await server.start() }
        #expect(error?.code == .stopped)
    }

    @Test func bothLoopbackAddressesAreListenedOn() async throws {
        try await WebServerFixture.with { fixture in
            let taken = await WebServerFixture.failure {
                $0.host = "::1"
                $0.port = fixture.port
            }
            // Without IPv6 there is nothing to take.
            #expect(taken?.code == .portTaken || taken?.code == .addressUnavailable)
        }
        // One of them is enough.
        let (blocker, port) = try RawSocket.listen()
        var options = WebServerOptions()
        options.host = "::1"
        options.port = port
        let server = WebServer(options, routes: WebRoutes())
        do { #expect(try await server.start().port == port) } catch let error as WebServerError {
            #expect(error.code == .addressUnavailable)
        }
        await server.stop()
        withExtendedLifetime(blocker) {}
    }

    @Test func aServerForTheNetworkAnswersToThisMachinesNames() async throws {
        try await WebServerFixture.with {
            $0.acceptsOwnAddresses = true
        } _: { fixture in
            let name = try #require(HostName.known)
            for host in ["localhost", "127.0.0.1", "[::1]", name, name.uppercased() + ".LOCAL."] {
                #expect(try await fixture.status(host: "\(host):\(fixture.port)") == 200)
            }
            let own = try System.enumerateDevices().compactMap { IPAddress(literal: $0.address?.ipAddress ?? "") }
            for address in own {
                guard let socket = try? SocketAddress(ipAddress: address.description, port: 0) else { continue }
                let literal = socket.ipAddress ?? ""
                let host = literal.contains(":") ? "[\(literal)]" : literal
                #expect(try await fixture.status(host: "\(host):\(fixture.port)") == 200)
            }
            for host in ["evil.test", "192.0.2.1", "\(name).evil.test"] {
                #expect(try await fixture.status(host: "\(host):\(fixture.port)") == 421)
            }
        }
    }

    @Test func stoppingTellsSockets() async throws {
        try await WebServerFixture.with {
            $0.limits.stopTimeout = Patience.wait
            $0.limits.closeTimeout = Patience.wait
        } _: { fixture in
            let clients = [try await fixture.open(), try await fixture.open(), try await fixture.open()]
            let idle = try fixture.client()
            _ = try await idle.get()
            async let stopped: Void = fixture.server.stop()
            for client in clients {
                #expect(try await client.closing().code == 1001)
                try client.send([3, 0xE9], opcode: 8)
                #expect(try await client.rest().isEmpty)
            }
            #expect(try await idle.rest().isEmpty)
            await stopped
            #expect(fixture.sockets.closed.withLock { $0.count } == 3)
        }
    }

    /// Clients that do not do their part hold nobody up.
    @Test func stoppingDoesNotWaitForHangingClients() async throws {
        try await WebServerFixture.with {
            $0.limits.stopTimeout = .milliseconds(100)
            $0.limits.closeTimeout = .seconds(60)
        } routes: {
            $0.generated["/never"] = {
                while !Task.isCancelled { await Delay.wait(.milliseconds(5)) }
                return WebResponse(status: 200, "")
            }
        } _: { fixture in
            let (socket, half, waiting, full) = try (
                fixture.client(), fixture.client(), fixture.client(), fixture.client(receiveBuffer: 4096)
            )
            try await socket.open()
            try half.send("GET / HT")
            try waiting.ask("/never")
            try await full.open()
            try await fixture.on(1) { $0.send(EncodedFrame(binary: ByteBuffer(repeating: 0, count: 20 << 20))) }
            try await eventually { await fixture.server.counts().connections == 4 }
            await fixture.server.stop()
            for client in [socket, half, waiting, full] { _ = try await client.rest() }
        }
    }

    /// An answer that is being made is still sent.
    @Test func stoppingLetsAnswersPass() async throws {
        let (making, gate) = (Latch(), Latch())
        try await WebServerFixture.with {
            $0.limits.stopTimeout = Patience.wait
            $0.limits.computingTimeout = Patience.wait
        } routes: {
            $0.generated["/slow"] = {
                making.open()
                await gate.wait()
                return WebResponse(status: 200, "slow")
            }
        } _: { fixture in
            let client = try fixture.client()
            try client.ask("/slow")
            await making.wait()
            async let stopped: Void = fixture.server.stop()
            try await eventually("nothing is accepted") { (try? fixture.client()) == nil }
            gate.open()
            let response = try await client.response()
            #expect(response.text == "slow\n")
            #expect(response.headers["connection"] == "close")
            await stopped
        }
    }
}
