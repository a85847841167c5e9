import ClientTransport
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import TestSupport
import Testing

@testable import SignalR

/// A host with two addresses, of which the second is tried while the first has not answered.
struct AddressesTests {
    private final class TwoAddresses: Resolver, Sendable {
        private let eventLoop: any EventLoop
        private let addresses: [SocketAddress]

        init(_ port: Int, _ eventLoop: any EventLoop) throws {
            self.eventLoop = eventLoop
            addresses = try ["127.0.0.1", "127.0.0.2"].map { try SocketAddress(ipAddress: $0, port: port) }
        }

        func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
            eventLoop.makeSucceededFuture(addresses)
        }

        func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
            eventLoop.makeSucceededFuture([])
        }

        func cancelQueries() {}
    }

    /// Begins something that connects, and gives the body the first address's connection, which comes about after the
    /// second was tried too.
    private func withFirst<Result: Sendable>(
        _ begin: @escaping @Sendable (Dialer, HubAddress) throws -> EventLoopFuture<Result>,
        _ serve: (ScriptedPeer) async throws -> Void
    ) async throws -> Result {
        let (first, port) = try RawSocket.listen(backlog: 0)
        let (second, _) = try RawSocket.listen(port: port, address: "127.0.0.2", backlog: 0)
        // One connection fills the queue of each.
        let fillers = [try RawSocket.connect(to: port), try RawSocket.connect(to: port, at: "127.0.0.2")]
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let dialer = Dialer(
            eventLoop: eventLoop, timeout: TimeAmount(Patience.wait), tls: nil,
            resolver: try TwoAddresses(port, eventLoop))
        let address = try HubAddress("http://two.example:\(port)/hub")
        async let result = eventLoop.flatSubmit {
            do { return try begin(dialer, address) } catch { return eventLoop.makeFailedFuture(error) }
        }.get()
        let unanswered = String(format: ":%04X 02 ", port)
        try await eventually("both addresses are tried") {
            // String's own reading takes 4 KiB of such a file.
            let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/net/tcp"))
            let sockets = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            return sockets.split(separator: "\n").count { $0.contains(unanswered) } == 2
        }
        _ = try await first.accept()
        let peer = ScriptedPeer(try await first.accept())
        try await serve(peer)
        let reached = try await result
        withExtendedLifetime((peer, second, fillers)) {}
        return reached
    }

    @Test
    func aRequestGoesToTheOneThatAnswers() async throws {
        let reply = try await withFirst { dialer, address in
            HTTPRequester(dialer, maximumIdle: .zero).perform(
                HTTPRequest(method: .GET, address: address, headers: HTTPHeaders()), timeout: TimeAmount(Patience.wait))
        } _: { peer in
            _ = try await peer.request()
            try peer.respond("200 OK", [], "here")
        }
        #expect(String(buffer: reply.body) == "here")
    }

    @Test
    func aWebSocketIsOpenedToTheOneThatAnswers() async throws {
        let reached = try await withFirst { dialer, address in
            let transport = WebSocketTransport(
                eventLoop: dialer.eventLoop, isBinary: true,
                events: TransportEvents(received: { _ in }, closed: { _ in }, becameWritable: {}))
            return WebSocketUpgrade.open(
                dialer, address, headers: HTTPHeaders(), transport: transport, maximumFrame: 1000
            ).map { channel in
                defer { channel.close(promise: nil) }
                return channel.remoteAddress?.ipAddress
            }
        } _: { peer in
            try await peer.upgrade()
        }
        #expect(reached == "127.0.0.1")
    }
}
