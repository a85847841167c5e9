import NIOCore
import NIOFoundationEssentialsCompat

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server's answer to a negotiation, of version 0 or 1.
struct Negotiation: Decodable, Sendable {
    struct OfferedTransport: Decodable, Sendable {
        let transport: String
        let transferFormats: [String]
    }

    private let error: String?
    /// The address to negotiate with instead, with this token if there is one. Azure SignalR Service redirects this
    /// way.
    let url: String?
    let accessToken: String?
    private let negotiateVersion: Int?
    let connectionId: String?
    private let connectionToken: String?
    private let availableTransports: [OfferedTransport]?
    private let useStatefulReconnect: Bool?
    /// Present in answers of ASP.NET SignalR, the incompatible predecessor.
    private let ProtocolVersion: String?

    private var version: Int { negotiateVersion ?? 0 }
    /// The secret token that identifies the connection in requests; empty only if the server redirects.
    var token: String { (version == 0 ? connectionId : connectionToken) ?? "" }
    var isStateful: Bool { useStatefulReconnect ?? false }

    static func read(_ body: ByteBuffer) throws(SignalRError) -> Negotiation {
        func failed(_ what: String, cause: (any Error)? = nil) -> SignalRError {
            SignalRError(.negotiationFailed, what, cause: cause)
        }
        let answer: Negotiation
        do {
            answer = try JSONDecoder().decode(Negotiation.self, from: body)
        } catch {
            throw failed("the server's answer is not a negotiation: \(body.excerpt)", cause: error)
        }
        if let error = answer.error { throw failed("the server refused the connection: \(error)") }
        if answer.ProtocolVersion != nil {
            throw failed("the server speaks ASP.NET SignalR; this client speaks ASP.NET Core SignalR")
        }
        guard answer.url == nil else { return answer }
        guard (0...1).contains(answer.version) else {
            throw failed("the server uses negotiation version \(answer.version); this client supports 0 and 1")
        }
        guard !answer.token.isEmpty else {
            throw failed("the server's answer contains no connection token: \(body.excerpt)")
        }
        return answer
    }

    func offers(_ kind: TransportKind, isBinary: Bool) -> Bool {
        availableTransports?.contains {
            $0.transport == kind.rawValue && $0.transferFormats.contains(isBinary ? "Binary" : "Text")
        } ?? false
    }
}
