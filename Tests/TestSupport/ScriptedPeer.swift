import Foundation

/// One connection of a scripted server, in HTTP and WebSocket frames. Use it from one task.
public final class ScriptedPeer: @unchecked Sendable {
    // Unchecked: a test may pass the peer on, but never uses it in two tasks at once.
    public struct Request {
        public let method: String
        public let target: String
        public let headers: [String: String]
        public let body: [UInt8]

        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    public struct Frame: Equatable, Sendable {
        public let opcode: UInt8
        public let isLast: Bool
        public let bytes: [UInt8]

        public init(opcode: UInt8, isLast: Bool, bytes: [UInt8]) {
            self.opcode = opcode
            self.isLast = isLast
            self.bytes = bytes
        }

        public var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private let socket: RawSocket
    private var buffer: [UInt8] = []
    private var records: [String] = []

    public init(_ socket: RawSocket) { self.socket = socket }

    public func closeOutput() { socket.closeOutput() }

    /// Accepts a SignalR client over server-sent events, up to and including its handshake request. `headers` are further
    /// lines of the event stream's response, each ending in CR LF.
    public static func acceptServerSentEvents(
        on listener: RawSocket, headers: String = ""
    ) async throws -> (hub: ScriptedPeer, posts: ScriptedPeer) {
        let negotiation = ScriptedPeer(try await listener.accept())
        _ = try await negotiation.request()
        try negotiation.respond(
            "200 OK", ["Connection: close"],
            #"{"negotiateVersion":1,"connectionId":"i","connectionToken":"t","availableTransports":[{"transport":"#
                + #""ServerSentEvents","transferFormats":["Text"]}]}"#)
        negotiation.closeOutput()
        let hub = ScriptedPeer(try await listener.accept())
        _ = try await hub.request()
        try hub.write("HTTP/1.1 200 OK\r\n\(headers)\r\n")
        let posts = ScriptedPeer(try await listener.accept())
        _ = try await posts.request()
        try posts.respond()
        return (hub, posts)
    }

    private func fill() async throws {
        let bytes = try await socket.readSome()
        guard !bytes.isEmpty else { throw RawSocket.Failure(text: "end of stream after \(buffer)") }
        buffer += bytes
    }

    private func take(_ count: Int) async throws -> [UInt8] {
        while buffer.count < count { try await fill() }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    /// Whether the client closes its side of the connection, whatever it sends before.
    public func readToEnd() async throws { _ = try await socket.readToEnd() }

    // MARK: - HTTP

    public func request() async throws -> Request {
        var end: Int?
        while end == nil {
            end = buffer.indices.first { buffer[$0...].starts(with: [13, 10, 13, 10]) }
            if end == nil { try await fill() }
        }
        let lines = String(decoding: try await take(end! + 4), as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        var headers: [String: String] = [:]
        for line in lines.dropFirst() where line.contains(":") {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            headers[parts[0].lowercased()] = parts.count > 1 ? parts[1] : ""
        }
        let body = try await take(Int(headers["content-length"] ?? "0") ?? 0)
        return Request(method: words[0], target: words[1], headers: headers, body: body)
    }

    public func respond(_ status: String = "200 OK", _ headers: [String] = [], _ body: String = "") throws {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
        try write(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    public func write(_ text: String) throws { try socket.write(Array(text.utf8)) }
    public func write(_ bytes: [UInt8]) throws { try socket.write(bytes) }

    // MARK: - WebSocket

    @discardableResult
    public func upgrade() async throws -> Request {
        let request = try await request()
        try upgrade(request)
        return request
    }

    public func upgrade(_ request: Request) throws {
        guard let key = request.headers["sec-websocket-key"] else { throw TestSupportError("no key in \(request)") }
        let accept = Data(SHA1.hash(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")).base64EncodedString()
        try write(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(accept)\r\n\r\n")
    }

    /// The next frame, which must be masked.
    public func frame() async throws -> Frame {
        let head = try await take(2)
        guard head[1] & 0x80 != 0 else { throw TestSupportError("a client masks its frames") }
        var length = Int(head[1] & 0x7F)
        if length >= 126 {
            length = try await take(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
        }
        let mask = try await take(4)
        let bytes = try await take(length).enumerated().map { $1 ^ mask[$0 % 4] }
        return Frame(opcode: head[0] & 0xF, isLast: head[0] & 0x80 != 0, bytes: bytes)
    }

    /// The next message in text frames, without its separator. Pings of the hub protocol are left out.
    public func message() async throws -> String {
        while true {
            while records.isEmpty {
                let frame = try await frame()
                guard frame.opcode == 1 else {
                    throw TestSupportError("a frame with opcode \(frame.opcode): \(frame.text)")
                }
                records = frame.text.split(separator: "\u{1e}").map(String.init)
            }
            let record = records.removeFirst()
            if record != "{\"type\":6}" { return record }
        }
    }

    public static func frame(_ bytes: [UInt8], opcode: UInt8 = 1, isLast: Bool = true, mask: [UInt8]? = nil) -> [UInt8]
    {
        var frame = [(isLast ? 0x80 : 0) | opcode]
        let flag: UInt8 = mask == nil ? 0 : 0x80
        switch bytes.count {
        case ..<126: frame.append(flag | UInt8(bytes.count))
        case ..<65536: frame += [flag | 126, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
        default: frame += [flag | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
        }
        guard let mask else { return frame + bytes }
        return frame + mask + bytes.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    /// Sends messages of the hub protocol in one text frame.
    public func say(_ messages: String...) throws {
        try write(Self.frame(Array(messages.map { $0 + "\u{1e}" }.joined().utf8)))
    }
}
