internal import NIOCore
import NIOHTTP1
internal import Support

/// Decides on requests. Every request passes the same rules here before any work is done for it.
struct Router {
    enum Decision {
        case answer(WebResponse)
        case generate(@Sendable () async -> WebResponse)
        case upgrade
    }

    private let routes: WebRoutes
    var rules: AccessRules
    var tokens: TokenGuard

    init(_ options: WebServerOptions, _ routes: WebRoutes) {
        self.routes = routes
        rules = AccessRules(options)
        tokens = TokenGuard(options)
    }

    mutating func decide(_ asked: HTTPRequestHead, from host: IPAddress, at now: NIODeadline) -> Decision {
        let head = asked.inOriginForm
        let path = String(head.uri.prefix { $0 != "?" })
        let other = routes.others.map { route in
            let query = head.uri.utf8.count > path.utf8.count ? String(head.uri.dropFirst(path.count + 1)) : nil
            let request = WebRequest(path: path, query: query)
            return { @Sendable in await route(request) }
        }
        let generated = routes.generated[path] ?? (routes.files[path] == nil ? other : nil)
        // A path may have both, a WebSocket and an answer.
        let isSocket =
            path == routes.socketPath && routes.onSocket != nil
            && (generated == nil || head.has("websocket", in: "upgrade"))
        if let refusal = rules.refusal(of: head, isForPage: isSocket || generated != nil, at: now) {
            return .answer(refusal)
        }
        guard head.method == .GET || (head.method == .HEAD && !isSocket) else {
            let allowed = isSocket ? "GET" : "GET, HEAD"
            return .answer(WebResponse(status: 405, "Only \(allowed).", headers: [("Allow", allowed)]))
        }
        guard !head.hasBody else { return .answer(WebResponse(status: 413, "No content is accepted.")) }
        guard head.uri.utf8.first == UInt8(ascii: "/") else {
            return .answer(WebResponse(status: 400, "The request has no valid path."))
        }
        if isSocket { return upgrade(head) }
        if let generated { return generate(generated, head, from: host, at: now) }
        if let file = routes.files[path] { return .answer(Self.answer(file, head)) }
        return .answer(WebResponse(status: 404, "There is nothing here."))
    }

    private static func answer(_ file: WebFile, _ head: HTTPRequestHead) -> WebResponse {
        let isKnown = head.headers[canonicalForm: "if-none-match"].contains { tag in
            tag == "*" || (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag) == file.tag
        }
        var response = WebResponse(
            status: isKnown ? 304 : 200, contentType: file.contentType, body: isKnown ? ByteBuffer() : file.bytes)
        response.headers = [("Cache-Control", "no-cache"), ("ETag", file.tag)]
        return response
    }

    private mutating func generate(
        _ route: @escaping @Sendable () async -> WebResponse, _ head: HTTPRequestHead, from host: IPAddress,
        at now: NIODeadline
    ) -> Decision {
        switch tokens.check(head.bearer, from: host, at: now) {
        case .accepted: return .generate(route)
        case .wrong:
            return .answer(
                WebResponse(
                    status: 401, "A token is required: send it in the header Authorization: Bearer TOKEN.",
                    headers: [("WWW-Authenticate", "Bearer")]))
        case .tooMany:
            return .answer(WebResponse(status: 429, "Too many wrong tokens.", headers: [("Retry-After", "60")]))
        }
    }

    private func upgrade(_ head: HTTPRequestHead) -> Decision {
        guard head.version == .http1_1, head.has("websocket", in: "upgrade"), head.has("upgrade", in: "connection")
        else {
            return .answer(
                WebResponse(status: 426, "This path accepts only WebSockets.", headers: [("Upgrade", "websocket")]))
        }
        guard head.headers["sec-websocket-version"] == ["13"] else {
            return .answer(
                WebResponse(
                    status: 426, "Only WebSocket version 13 is supported.", headers: [("Sec-WebSocket-Version", "13")]))
        }
        let keys = head.headers["sec-websocket-key"]
        guard keys.count == 1, Self.isKey(keys[0]) else {
            return .answer(WebResponse(status: 400, "The request has no valid key."))
        }
        return .upgrade
    }

    /// Returns whether a text is 16 bytes in base64.
    private static func isKey(_ text: String) -> Bool {
        text.utf8.count == 24 && text.hasSuffix("==")
            && text.dropLast(2).allSatisfy { $0 == "+" || $0 == "/" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}

extension HTTPRequestHead {
    /// The request with only a path, if its first line has an absolute address. The host of that address replaces the
    /// Host header (RFC 9112, 3.2.2).
    fileprivate var inOriginForm: HTTPRequestHead {
        guard uri.utf8.first != UInt8(ascii: "/"), headers["host"].count == 1,
            let scheme = ["http://", "https://"].first(where: { uri.prefix($0.count).lowercased() == $0 })
        else { return self }
        let rest = uri.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        var head = self
        head.headers.replaceOrAdd(name: "Host", value: String(authority))
        head.uri = (rest.dropFirst(authority.count).first == "/" ? "" : "/") + rest.dropFirst(authority.count)
        return head
    }

    /// Whether a body follows. It is never read.
    var hasBody: Bool {
        headers.contains(name: "transfer-encoding") || headers["content-length"].contains { $0 != "0" }
    }

    /// Whether another request may follow on the connection. The parser stops at one that would change the protocol.
    var isLasting: Bool { isKeepAlive && !hasBody && !headers.contains(name: "upgrade") && method != .CONNECT }

    func has(_ word: String, in header: String) -> Bool {
        headers[canonicalForm: header].contains { $0.lowercased() == word }
    }

    /// The approximate size of the received head in bytes.
    var byteCount: Int {
        headers.reduce(uri.utf8.count + 16) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }

    fileprivate var bearer: String? {
        let values = headers["authorization"]
        guard values.count == 1, values[0].prefix(7).lowercased() == "bearer " else { return nil }
        return String(values[0].dropFirst(7).drop { $0 == " " })
    }
}

package struct WebRoutes: Sendable {
    /// Files by path, such as "/" and "/page.js".
    package var files: [String: WebFile] = [:]
    /// Creates the answer to each request, by path. If the server has a token, the request needs it as a bearer token.
    package var generated: [String: @Sendable () async -> WebResponse] = [:]
    /// Creates the answer for any other path, with the same rule for tokens; `nil` for status 404.
    package var others: (@Sendable (WebRequest) async -> WebResponse)?
    /// The path of the WebSocket; ignored without ``onSocket``.
    package var socketPath = "/live"
    /// Called on the server's event loop with each new WebSocket. It sets the connection's handlers.
    package var onSocket: (@Sendable (WebSocketConnection) -> Void)?

    package init() {}
}
