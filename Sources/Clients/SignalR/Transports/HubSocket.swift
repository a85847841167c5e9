import ClientTransport
import NIOCore
import NIOHTTP1

/// A bare WebSocket to a hub with binary messages, for callers that implement the hub protocol themselves: no
/// negotiation, no handshake, no pings. On its event loop only.
package final class HubSocket {
    /// The longest that each step of opening may take.
    private static var timeout: TimeAmount { .seconds(15) }
    /// Bytes of the largest frame that the server may send.
    private static var maximumFrame: Int { 1 << 20 }

    private let transport: WebSocketTransport
    private let state: State

    private init(_ transport: WebSocketTransport, _ state: State) {
        self.transport = transport
        self.state = state
    }

    /// Opens a WebSocket.
    ///
    /// - Parameters:
    ///   - url: an address that begins with `http`, `https`, `ws` or `wss`.
    ///   - opened: called when the server has accepted the WebSocket.
    ///   - received: called with received bytes, split arbitrarily.
    ///   - closed: called once when it has ended or could not be opened, unless ``close()`` was called; without an
    ///     error if the server closed it in an orderly way.
    /// - Throws: ``SignalRError/Code/invalidURL``.
    package static func open(
        _ url: String, on eventLoop: any EventLoop, opened: @escaping () -> Void,
        received: @escaping (ByteBuffer) -> Void, closed: @escaping (SignalRError?) -> Void
    ) throws(SignalRError) -> HubSocket {
        let address = try HubAddress(url)
        let state = State(closed)
        let transport = WebSocketTransport(
            eventLoop: eventLoop, isBinary: true,
            events: TransportEvents(
                received: { if !state.isOver { received($0) } }, closed: { state.end($0) }, becameWritable: {}))
        let dialer = Dialer(eventLoop: eventLoop, timeout: timeout, tls: TLSContext(nil))
        let headers = HTTPHeaders([("User-Agent", "SignalR-Swift")])
        WebSocketUpgrade.open(dialer, address, headers: headers, transport: transport, maximumFrame: maximumFrame)
            .assumeIsolated().whenComplete { result in
                switch result {
                case .success(let channel):
                    if state.isOver { channel.close(promise: nil) } else { opened() }
                case .failure(let error): state.end(Dialer.explain(error, address))
                }
            }
        return HubSocket(transport, state)
    }

    /// Whether the end was reported, or is not to be reported.
    private final class State {
        private let closed: (SignalRError?) -> Void
        private(set) var isOver = false

        init(_ closed: @escaping (SignalRError?) -> Void) { self.closed = closed }

        func end(_ error: SignalRError?) {
            guard !isOver else { return }
            isOver = true
            closed(error)
        }

        func forget() { isOver = true }
    }

    /// Whether little is queued for sending. More can be sent all the same and is queued.
    package var isWritable: Bool { transport.isWritable }

    /// Sends bytes as one message.
    package func send(_ bytes: ByteBuffer) { transport.send(bytes) }

    /// Closes the WebSocket without calling `closed`.
    package func close() {
        state.forget()
        _ = transport.close()
    }
}
