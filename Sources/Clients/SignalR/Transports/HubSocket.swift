import ClientTransport
import NIOCore
import NIOHTTP1

/// A bare WebSocket to a hub with binary messages, for callers that implement the hub protocol themselves: no
/// negotiation, no handshake, no pings. Used on its event loop only.
package final class HubSocket {
    private static var timeout: TimeAmount { .seconds(15) }
    private static var maximumFrame: Int { 1 << 20 }

    private let closed: (SignalRError?) -> Void
    private var transport: WebSocketTransport?
    /// Whether the end was reported or must not be reported.
    private var isOver = false

    /// Opens a WebSocket. `received` is called with the bytes as they arrive, split arbitrarily. `closed` is called
    /// once, when the WebSocket has ended or could not be opened, without an error if the server closed it in an
    /// orderly way. It is not called after ``close()``.
    ///
    /// - Throws: ``SignalRError/Code/invalidURL``.
    package init(
        _ url: String, on eventLoop: any EventLoop, opened: @escaping () -> Void,
        received: @escaping (ByteBuffer) -> Void, closed: @escaping (SignalRError?) -> Void
    ) throws(SignalRError) {
        let address = try HubAddress(url)
        self.closed = closed
        let transport = WebSocketTransport(
            eventLoop: eventLoop, isBinary: true,
            events: TransportEvents(
                received: { [weak self] in if self?.isOver == false { received($0) } },
                closed: { [weak self] in self?.end($0) }, becameWritable: {}))
        self.transport = transport
        let dialer = Dialer(eventLoop: eventLoop, timeout: Self.timeout, tls: nil)
        let headers = HTTPHeaders([("User-Agent", "SignalR-Swift")])
        WebSocketUpgrade.open(dialer, address, headers: headers, transport: transport, maximumFrame: Self.maximumFrame)
            .assumeIsolated().whenComplete { [weak self] result in
                switch result {
                case .success(let channel):
                    if self?.isOver == false { opened() } else { channel.close(promise: nil) }
                case .failure(let error): self?.end(Dialer.explain(error, address))
                }
            }
    }

    private func end(_ error: SignalRError?) {
        guard !isOver else { return }
        isOver = true
        closed(error)
    }

    package var isWritable: Bool { transport?.isWritable ?? false }

    package func send(_ bytes: ByteBuffer) { transport?.send(bytes) }

    /// Closes the WebSocket without calling `closed`.
    package func close() {
        isOver = true
        _ = transport?.close()
    }
}
