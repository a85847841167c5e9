import Foundation
import Support

/// A browser's end of a WebSocket, byte by byte, for tests of what a page is told.
public final class PageSocket: Sendable {
    public enum Message: Sendable, Equatable {
        case text(String)
        case binary([UInt8])
        /// The end, with its code and why.
        case close(UInt16, String)
    }

    private let socket: RawSocket
    /// The messages that came while a later one was waited for.
    private let left = Locked<[(kind: String, message: JSONLine)]>([])

    private init(_ socket: RawSocket) { self.socket = socket }

    /// Connects, and makes a WebSocket of the connection; throws the server's answer if it does not want to.
    public static func open(
        port: Int, path: String = "/live", headers: [String: String] = [:], receiveBuffer: Int32? = nil
    ) async throws -> PageSocket {
        let socket = try RawSocket.connect(to: port, receiveBuffer: receiveBuffer)
        var lines = [
            "GET \(path) HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
        var headers = headers
        headers["Host"] = headers["Host"] ?? "127.0.0.1:\(port)"
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { lines.append("\(name): \(value)") }
        try socket.write(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        var answer: [UInt8] = []
        while !answer.suffix(4).elementsEqual("\r\n\r\n".utf8) { answer += try await socket.read(1) }
        let text = String(decoding: answer, as: UTF8.self)
        guard text.hasPrefix("HTTP/1.1 101") else { throw TestSupportError(text) }
        return PageSocket(socket)
    }

    /// Sends messages in one write.
    public func send(_ texts: String...) throws {
        try socket.write(texts.flatMap { ScriptedPeer.frame(Array($0.utf8), mask: [1, 2, 3, 4]) })
    }

    /// Ends the connection without a word.
    public func close() { socket.closeOutput() }

    /// The next message. Pings are skipped.
    public func next() async throws -> Message {
        while true {
            let head = try await socket.read(2)
            var length = Int(head[1] & 0x7F)
            if length >= 126 { length = try await socket.read(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
            let payload = length == 0 ? [] : try await socket.read(length)
            switch head[0] {
            case 0x81: return .text(String(decoding: payload, as: UTF8.self))
            case 0x82: return .binary(payload)
            case 0x88:
                return .close(
                    payload.prefix(2).reduce(0) { $0 << 8 | UInt16($1) },
                    String(decoding: payload.dropFirst(2), as: UTF8.self))
            case 0x89: continue
            default: throw TestSupportError("a frame that begins with \(head)")
            }
        }
    }

    /// The first message of that kind, the member `t`, that matches. Others are left for later waits.
    public func next(
        _ kind: String, where isWanted: (JSONLine) -> Bool = { _ in true }
    ) async throws -> JSONLine {
        let earlier: JSONLine? = left.withLock { left in
            left.firstIndex { $0.kind == kind && isWanted($0.message) }.map { left.remove(at: $0).message }
        }
        if let earlier { return earlier }
        // Others come all the time.
        let end = ContinuousClock.now + Patience.wait
        while true {
            guard ContinuousClock.now < end else {
                throw TestSupportError(
                    "no '\(kind)' came within \(Patience.wait); there were \(left.withLock { $0.map(\.message) })")
            }
            switch try await next() {
            case .text(let text):
                guard let json = JSONLine(text), let t: String = json["t"] else {
                    throw TestSupportError("no message of the page: \(text)")
                }
                if t == kind, isWanted(json) { return json }
                left.withLock { $0.append((t, json)) }
            case .binary: break
            case .close(let code, let reason):
                let kinds = left.withLock { $0.map(\.kind) }
                throw TestSupportError("closed with \(code) '\(reason)' before '\(kind)'; there were \(kinds)")
            }
        }
    }

    /// Forgets the messages that no wait took, where the next one has to come from now on.
    public func forget() { left.withLock { $0 = [] } }
}
