import NIOCore
import NIOFoundationEssentialsCompat

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server's answer to a negotiation.
struct Negotiation: Sendable, Equatable {
    enum Answer: Sendable, Equatable {
        case connection(Negotiation)
        /// Negotiate there instead, with this token if there is one; Azure SignalR Service does this.
        case redirect(url: String, accessToken: String?)
    }

    let connectionID: String?
    /// The secret token that identifies the connection in requests.
    let token: String
    let transports: [OfferedTransport]
    let isStateful: Bool

    struct OfferedTransport: Decodable, Sendable, Equatable {
        let transport: String
        let transferFormats: [String]
    }

    private struct Response: Decodable {
        let error: String?
        let url: String?
        let accessToken: String?
        let negotiateVersion: Int?
        let connectionId: String?
        let connectionToken: String?
        let availableTransports: [OfferedTransport]?
        let useStatefulReconnect: Bool?
        /// Present in answers of ASP.NET SignalR, the incompatible predecessor.
        let ProtocolVersion: String?
    }

    /// Parses an answer of version 0 or 1.
    static func read(_ body: ByteBuffer) throws(SignalRError) -> Answer {
        func failed(_ what: String, cause: (any Error)? = nil) -> SignalRError {
            SignalRError(.negotiationFailed, what, cause: cause)
        }
        let response: Response
        do {
            response = try JSONDecoder().decode(Response.self, from: body)
        } catch {
            throw failed("the server's answer is not a negotiation: \(body.excerpt)", cause: error)
        }
        if let error = response.error { throw failed("the server refused the connection: \(error)") }
        if response.ProtocolVersion != nil {
            throw failed("the server speaks ASP.NET SignalR; this client speaks ASP.NET Core SignalR")
        }
        if let url = response.url { return .redirect(url: url, accessToken: response.accessToken) }
        let version = response.negotiateVersion ?? 0
        guard (0...1).contains(version) else {
            throw failed("the server uses negotiation version \(version); this client supports 0 and 1")
        }
        guard let token = version == 0 ? response.connectionId : response.connectionToken, !token.isEmpty else {
            throw failed("the server's answer contains no connection token: \(body.excerpt)")
        }
        return .connection(
            Negotiation(
                connectionID: response.connectionId, token: token, transports: response.availableTransports ?? [],
                isStateful: response.useStatefulReconnect ?? false))
    }

    func offers(_ kind: TransportKind, isBinary: Bool) -> Bool {
        transports.contains {
            $0.transport == kind.rawValue && $0.transferFormats.contains(isBinary ? "Binary" : "Text")
        }
    }
}
