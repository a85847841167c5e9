internal import NIOCore
internal import Support
internal import WebServer

/// An OSCQuery program's WebSocket. It belongs to the bridge's event loop; the socket belongs to the web server's.
final class QueryListener {
    let id: UInt64
    let host: IPAddress
    var addresses: Set<String> = []
    /// The newest messages that the program still lacks, by their addresses, because it is too slow or its host moves
    /// the element.
    var missed: [String: ByteBuffer] = [:]
    /// Called when there is room again.
    var onWritable: () -> Void = {}

    private let socket: NIOLoopBound<WebSocketConnection>
    private let loop: any EventLoop
    /// The frames of this turn of the event loop.
    private var frames: [EncodedFrame] = []
    /// The bytes on their way to the server's loop, and not passed to the socket yet.
    private var pendingByteCount = 0
    private var hasRoom = true

    /// The maximum of ``pendingByteCount``.
    private static let maximumPendingByteCount = 256 << 10

    init(_ id: UInt64, _ host: IPAddress, _ socket: NIOLoopBound<WebSocketConnection>, on loop: any EventLoop) {
        self.id = id
        self.host = host
        self.socket = socket
        self.loop = loop
    }

    var isWritable: Bool { hasRoom && pendingByteCount < Self.maximumPendingByteCount }

    func send(_ frame: EncodedFrame) {
        pendingByteCount += frame.byteCount
        frames.append(frame)
        if frames.count == 1 { loop.assumeIsolated().execute { self.pass() } }
    }

    private func pass() {
        let passed = frames
        frames = []
        let bound = NIOLoopBound(self, eventLoop: loop)
        socket.eventLoop.execute { [socket, loop] in
            for frame in passed { socket.value.send(frame) }
            let isWritable = socket.value.isWritable
            loop.execute { bound.value.passed(passed.reduce(0) { $0 + $1.byteCount }, isWritable) }
        }
    }

    private func passed(_ byteCount: Int, _ isWritable: Bool) {
        pendingByteCount -= byteCount
        note(isWritable: isWritable)
    }

    func note(isWritable: Bool) {
        hasRoom = isWritable
        if self.isWritable { onWritable() }
    }
}
