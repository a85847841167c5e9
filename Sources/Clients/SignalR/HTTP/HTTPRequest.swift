import NIOCore
import NIOHTTP1
import Support

struct HTTPRequest: Sendable {
    let method: HTTPMethod
    let address: HubAddress
    var headers: HTTPHeaders
    var body: ByteBuffer?

    var head: HTTPRequestHead {
        var headers = headers
        headers.replaceOrAdd(name: "Host", value: address.endpoint.authority)
        if method == .POST || body != nil {
            headers.replaceOrAdd(name: "Content-Length", value: String(body?.readableBytes ?? 0))
        }
        return HTTPRequestHead(version: .http1_1, method: method, uri: address.target, headers: headers)
    }
}

/// Makes the requests of one connection, each with its headers and a fresh access token.
struct RequestMaker: Sendable {
    var address: HubAddress
    var headers: HTTPHeaders
    var token: (@Sendable () async throws -> String?)?
    let eventLoop: any EventLoop
    let timeout: TimeAmount

    func request(
        _ method: HTTPMethod, body: ByteBuffer? = nil, headers added: HTTPHeaders = [:]
    ) async throws -> HTTPRequest {
        var headers = try await authorizedHeaders()
        for (name, value) in added { headers.replaceOrAdd(name: name, value: value) }
        return HTTPRequest(method: method, address: address, headers: headers, body: body)
    }

    /// Returns the headers with a token. Waiting for the token ends after `timeout` or when the task is cancelled.
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

struct HTTPReply: Sendable {
    let status: HTTPResponseStatus
    /// Empty if the body was delivered as it arrived.
    var body = ByteBuffer()

    var isSuccess: Bool { (200..<300).contains(status.code) }

    func refusal(of what: String) -> SignalRError {
        SignalRError(
            .refused, "the server answered \(what) with \(status.code) \(status.reasonPhrase)",
            httpStatus: Int(status.code))
    }
}

/// The characters allowed in an HTTP header (RFC 9110, 5.1 and 5.5). Others could start another header or end the
/// headers.
extension String {
    package var isHeaderName: Bool {
        !isEmpty && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || "!#$%&'*+-.^_`|~".contains($0) }
    }

    package var isHeaderValue: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }
}
