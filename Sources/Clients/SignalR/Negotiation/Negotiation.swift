import NIOCore
import NIOFoundationEssentialsCompat

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server's answer to the question how to connect.
struct Negotiation: Sendable, Equatable {
    enum Answer: Sendable, Equatable {
        case connection(Negotiation)
        /// Ask there instead, with that token if there is one, as Azure SignalR Service has it.
        case redirect(url: String, accessToken: String?)
    }

    /// By which others know the connection.
    let connectionID: String?
    /// By which requests name the connection; secret.
    let token: String
    let transports: [OfferedTransport]
    /// Whether a broken connection can be taken up again.
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
        /// What ASP.NET SignalR, which came before and is another protocol, says.
        let ProtocolVersion: String?
    }

    /// Reads an answer, of versions 0 and 1.
    static func read(_ body: ByteBuffer) throws(SignalRError) -> Answer {
        let response: Response
        do {
            response = try JSONDecoder().decode(Response.self, from: body)
        } catch {
            throw SignalRError(
                .negotiationFailed, "the server's answer is no negotiation: \(body.excerpt)", cause: error)
        }
        if let error = response.error {
            throw SignalRError(.negotiationFailed, "the server refused the connection: \(error)")
        }
        if response.ProtocolVersion != nil {
            throw SignalRError(
                .negotiationFailed, "the server speaks ASP.NET SignalR; this client speaks ASP.NET Core SignalR")
        }
        if let url = response.url { return .redirect(url: url, accessToken: response.accessToken) }
        let version = response.negotiateVersion ?? 0
        guard (0...1).contains(version) else {
            throw SignalRError(
                .negotiationFailed, "the server negotiates in version \(version), this client in 0 and 1")
        }
        guard let token = version == 0 ? response.connectionId : response.connectionToken, !token.isEmpty else {
            throw SignalRError(.negotiationFailed, "the server's answer has no connection's token: \(body.excerpt)")
        }
        return .connection(
            Negotiation(
                connectionID: response.connectionId, token: token, transports: response.availableTransports ?? [],
                isStateful: response.useStatefulReconnect ?? false))
    }

    /// Whether the server offers a transport for text or binary messages.
    func offers(_ kind: TransportKind, isBinary: Bool) -> Bool {
        transports.contains {
            $0.transport == kind.rawValue && $0.transferFormats.contains(isBinary ? "Binary" : "Text")
        }
    }
}
