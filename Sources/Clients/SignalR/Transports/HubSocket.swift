import NIOCore
import NIOHTTP1

/// A bare WebSocket to a hub, in binary messages, for who speaks the hub's protocol by himself: no negotiation, no
/// handshake, no pings. On its event loop only.
package final class HubSocket {
    /// What opening may take, each step.
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
    ///   - opened: called when the server has taken it.
    ///   - received: called with what comes, cut and joined as the network likes.
    ///   - closed: called once when it has ended or could not be opened, unless ``close()`` was called; with no error
    ///     if the server ended it in good order.
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

    /// Whether the end was told, or is not wanted.
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

    /// Whether what was sent lately has left; what is sent nevertheless is queued.
    package var isWritable: Bool { transport.isWritable }

    /// Sends bytes as one message.
    package func send(_ bytes: ByteBuffer) { transport.send(bytes) }

    /// Ends it, with a goodbye to the server and no word to the owner.
    package func close() {
        state.forget()
        _ = transport.close()
    }
}
