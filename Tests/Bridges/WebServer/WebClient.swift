import TestSupport

/// A browser of which every byte is a test's. Use it from one task.
final class WebClient: @unchecked Sendable {
    // Unchecked: a test may pass it on, but never uses it in two tasks at once.
    struct Response {
        let status: Int
        /// By lower-case name.
        let headers: [String: String]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    struct Frame: Equatable {
        let opcode: UInt8
        let bytes: [UInt8]
        /// As they arrived.
        let raw: [UInt8]

        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// The code and the reason of a close frame.
    struct Closing: Equatable {
        let code: Int
        let reason: String
    }

    let socket: RawSocket
    let port: Int
    private var buffer: [UInt8] = []

    init(_ port: Int, receiveBuffer: Int32? = nil) throws {
        self.port = port
        socket = try RawSocket.connect(to: port, receiveBuffer: receiveBuffer)
    }

    func send(_ text: String) throws { try socket.write(Array(text.utf8)) }

    /// Sends a request with a Host, unless the headers have one.
    func ask(
        _ path: String = "/", method: String = "GET", version: String = "1.1", _ headers: [String] = [],
        host: String? = nil
    ) throws {
        try send(head(path, method, version, headers, host))
    }

    private func head(
        _ path: String, _ method: String, _ version: String, _ headers: [String], _ host: String?
    ) -> String {
        let lines = ["\(method) \(path) HTTP/\(version)", "Host: \(host ?? "127.0.0.1:\(port)")"] + headers
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// Asks and reads the answer.
    func get(
        _ path: String = "/", method: String = "GET", version: String = "1.1", _ headers: [String] = [],
        host: String? = nil
    ) async throws -> Response {
        try ask(path, method: method, version: version, headers, host: host)
        return try await response(hasBody: method != "HEAD")
    }

    func response(hasBody: Bool = true) async throws -> Response {
        var end: Int?
        while end == nil {
            end = buffer.indices.first { buffer[$0...].starts(with: [13, 10, 13, 10]) }
            if end == nil { try await fill() }
        }
        let lines = String(decoding: try await take((end ?? 0) + 4), as: UTF8.self)
            .replacing("\r\n", with: "\n").split(separator: "\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let count = hasBody && status != 304 ? Int(headers["content-length"] ?? "0") ?? 0 : 0
        return Response(status: status, headers: headers, body: try await take(count))
    }

    private func fill() async throws {
        let bytes = try await socket.readSome()
        guard !bytes.isEmpty else { throw RawSocket.Failure(text: "end of stream after \(buffer.count) bytes") }
        buffer += bytes
    }

    private func take(_ count: Int) async throws -> [UInt8] {
        while buffer.count < count { try await fill() }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    /// What arrives until the server closes the connection.
    func rest() async throws -> [UInt8] {
        defer { buffer = [] }
        return try await buffer + socket.readToEnd()
    }

    // MARK: - WebSockets

    static let upgrade = [
        "Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    /// Opens a WebSocket.
    @discardableResult
    func open(_ path: String = "/live", _ headers: [String] = []) async throws -> Response {
        let response = try await get(path, Self.upgrade + headers)
        guard response.status == 101 else { throw TestSupportError("\(response.status): \(response.text)") }
        return response
    }

    func frame() async throws -> Frame {
        let head = try await take(2)
        var raw = head
        var length = Int(head[1])
        if length >= 126 {
            let more = try await take(length == 126 ? 2 : 8)
            raw += more
            length = more.reduce(0) { $0 << 8 | Int($1) }
        }
        let bytes = try await take(length)
        return Frame(opcode: head[0] & 0xF, bytes: bytes, raw: raw + bytes)
    }

    /// The next close frame, whatever comes before.
    func closing() async throws -> Closing {
        while true {
            let frame = try await frame()
            guard frame.opcode == 8 else { continue }
            guard frame.bytes.count >= 2 else { return Closing(code: 1005, reason: "") }
            let code = Int(frame.bytes[0]) << 8 | Int(frame.bytes[1])
            return Closing(code: code, reason: String(decoding: frame.bytes[2...], as: UTF8.self))
        }
    }

    func send(_ bytes: [UInt8], opcode: UInt8, isLast: Bool = true) throws {
        try socket.write(Self.frame(bytes, opcode: opcode, isLast: isLast))
    }

    func say(_ text: String) throws { try send(Array(text.utf8), opcode: 1) }

    static func frame(_ bytes: [UInt8], opcode: UInt8, isLast: Bool = true) -> [UInt8] {
        ScriptedPeer.frame(bytes, opcode: opcode, isLast: isLast, mask: [1, 2, 3, 4])
    }
}
