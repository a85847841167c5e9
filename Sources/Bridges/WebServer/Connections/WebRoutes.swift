/// What a web server has to offer.
package struct WebRoutes: Sendable {
    /// Files by path, such as "/" and "/page.js".
    package var files: [String: WebFile]
    /// Answers made for each request, by path. Where the server has a token they need it, as a Bearer's.
    package var generated: [String: @Sendable () async -> WebResponse]
    /// Makes the answer for any other path; `nil` for status 404. Where the server has a token it is needed, as above.
    package var others: (@Sendable (WebRequest) async -> WebResponse)?
    /// Where browsers open WebSockets; `nil` without ``onSocket``.
    package var socketPath: String
    /// Called on the server's event loop with each new WebSocket. It sets the connection's handlers.
    package var onSocket: (@Sendable (WebSocketConnection) -> Void)?

    package init(
        files: [String: WebFile] = [:], generated: [String: @Sendable () async -> WebResponse] = [:],
        socketPath: String = "/live", onSocket: (@Sendable (WebSocketConnection) -> Void)? = nil
    ) {
        self.files = files
        self.generated = generated
        self.socketPath = socketPath
        self.onSocket = onSocket
    }
}
