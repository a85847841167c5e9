import NIOCore
import NIOHTTP1
import Support

/// Makes the requests of one connection, each with its headers and a fresh access token.
struct RequestMaker: Sendable {
    var address: HubAddress
    var headers: HTTPHeaders
    /// `nil` if no token is wanted.
    var token: (@Sendable () async throws -> String?)?
    let eventLoop: any EventLoop
    /// The longest that getting a token may take.
    let timeout: TimeAmount

    func request(_ method: HTTPMethod, body: ByteBuffer? = nil, accept: String? = nil) async throws -> HTTPRequest {
        var headers = try await authorizedHeaders()
        if let accept { headers.replaceOrAdd(name: "Accept", value: accept) }
        return HTTPRequest(method: method, address: address, headers: headers, body: body)
    }

    /// The headers with a token. Waiting for the token ends when the time is over or the task is cancelled.
    func authorizedHeaders(isolation: isolated (any Actor)? = #isolation) async throws(SignalRError) -> HTTPHeaders {
        guard let token else { return headers }
        let outcome = Outcome<Result<String?, SignalRError>>()
        let task = Task {
            do {
                outcome.resolve(.success(try await token()))
            } catch {
                outcome.resolve(
                    .failure(SignalRError(.negotiationFailed, "the access token provider failed", cause: error)))
            }
        }
        defer { task.cancel() }
        let result = await outcome.value(within: timeout, on: eventLoop) { [timeout] in
            let seconds = timeout.nanoseconds / 1_000_000_000
            return .failure(SignalRError(.timedOut, "the access token provider returned nothing within \(seconds) s"))
        }
        guard let result else { throw SignalRError(.cancelled, "the task was cancelled") }
        guard let text = try result.get(), !text.isEmpty else { return headers }
        // The token may also come from a server that redirects the client.
        guard text.isHeaderValue else {
            throw SignalRError(
                .invalidOptions,
                "the access token contains characters that are not allowed in headers, such as a line end")
        }
        var headers = headers
        headers.replaceOrAdd(name: "Authorization", value: "Bearer \(text)")
        return headers
    }
}
