import NIOCore
import NIOHTTP1

/// A request to a hub's server.
struct HTTPRequest: Sendable {
    let method: HTTPMethod
    let address: HubAddress
    var headers: HTTPHeaders
    var body: ByteBuffer?

    var head: HTTPRequestHead {
        var headers = headers
        headers.replaceOrAdd(name: "Host", value: address.hostHeader)
        if method == .POST || body != nil {
            headers.replaceOrAdd(name: "Content-Length", value: String(body?.readableBytes ?? 0))
        }
        return HTTPRequestHead(version: .http1_1, method: method, uri: address.target, headers: headers)
    }
}

/// The answer to a request.
struct HTTPReply: Sendable {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    /// Empty if the body was delivered as it arrived.
    var body: ByteBuffer

    var isSuccess: Bool { (200..<300).contains(status.code) }

    /// The error for a request that the server refused.
    func refusal(of what: String) -> SignalRError {
        SignalRError(
            .refused, "the server answered \(what) with \(status.code) \(status.reasonPhrase)",
            httpStatus: Int(status.code))
    }
}

/// What an HTTP header may contain (RFC 9110, 5.1 and 5.5). Anything else could start another header or end them.
extension String {
    package var isHeaderName: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    package var isHeaderValue: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }
}
