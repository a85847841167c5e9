internal import NIOCore
internal import NIOSSL
internal import Support

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Why TLS failed, in words. The errors of the TLS library only name its source files and lines.
package struct TLSFailure: Error, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        case untrustedCertificate, expiredCertificate, futureCertificate, otherHost, noTLS, noCommonVersion
        case refused, wantsCertificate, closed, other
    }

    package let kind: Kind
    package let description: String

    private init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// The same failure with a hint that only the caller can give.
    package func adding(_ hint: String) -> TLSFailure { TLSFailure(kind, description + hint) }

    /// The meaning of an error, if it is a TLS error.
    package init?(_ error: any Error) { self.init(error, certificate: nil) }

    /// The meaning of an error, if it is a TLS error.
    ///
    /// - Parameter certificate: the server's certificate, if it is known.
    init?(_ error: any Error, certificate: NIOSSLCertificate?, now: Date = Date()) {
        switch error {
        case let failure as TLSFailure: self = failure
        case NIOSSLError.handshakeFailed(let error), NIOSSLError.shutdownFailed(let error):
            self.init(error, certificate, now)
        case NIOSSLError.uncleanShutdown:
            self.init(.closed, "the connection was closed without a TLS close notification")
        case NIOSSLError.noCertificateToValidate, NIOSSLError.unableToValidateCertificate:
            self = Self.rejected(certificate, now)
        case NIOSSLError.failedToLoadCertificate, NIOSSLError.failedToLoadPrivateKey,
            NIOSSLError.noSuchFilesystemObject:
            self.init(.other, "a certificate or key given in the options cannot be loaded")
        case is NIOSSLError: self.init(.other, "the connection was in the wrong state")
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            self.init(.otherHost, "the server's certificate is for another host")
        case is NIOSSLExtraError: self.init(.other, "the host name cannot be sent in TLS")
        case let error as BoringSSLError: self.init(error, certificate, now)
        default: return nil
        }
    }

    private init(_ error: BoringSSLError, _ certificate: NIOSSLCertificate?, _ now: Date) {
        switch error {
        case .sslError(let stack), .unknownError(let stack): self.init(stack, certificate, now)
        default: self.init(.closed, "the connection was closed")
        }
    }

    private init(_ stack: NIOBoringSSLErrorStack, _ certificate: NIOSSLCertificate?, _ now: Date) {
        let reasons = stack.map(Self.reason)
        func has(_ words: String...) -> Bool { reasons.contains { reason in words.contains { reason.contains($0) } } }
        if stack.contains(.eofDuringHandshake) || stack.contains(.eofDuringAdditionalCertficiateChainValidation) {
            self.init(.closed, "the server closed the connection during the handshake")
        } else if has("CERTIFICATE_VERIFY_FAILED") {
            self = Self.rejected(certificate, now)
        } else if has("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST") {
            self.init(.noTLS, "the server does not speak TLS on this port")
        } else if has("UNSUPPORTED_PROTOCOL", "PROTOCOL_VERSION") {
            self.init(.noCommonVersion, "the server supports no TLS version that this client supports")
        } else if has("HANDSHAKE_FAILURE", "NO_SHARED_CIPHER", "INSUFFICIENT_SECURITY", "WRONG_CIPHER") {
            self.init(
                .refused,
                "the server refused the handshake; it may require a client certificate, or have no cipher in common "
                    + "with it")
        } else if has("CERTIFICATE_REQUIRED", "UNKNOWN_CA", "BAD_CERTIFICATE", "ACCESS_DENIED") {
            self.init(.wantsCertificate, "the server requires a client certificate that it trusts")
        } else {
            let words = reasons.first { !$0.isEmpty }?.lowercased().replacing("_", with: " ")
            self.init(.other, words ?? "the handshake failed")
        }
    }

    private static func rejected(_ certificate: NIOSSLCertificate?, _ now: Date) -> TLSFailure {
        if let certificate {
            let (start, end) = (date(certificate.notValidBefore), date(certificate.notValidAfter))
            if end < now { return TLSFailure(.expiredCertificate, "the server's certificate expired on \(day(end))") }
            if start > now {
                return TLSFailure(.futureCertificate, "the server's certificate is not valid before \(day(start))")
            }
        }
        return TLSFailure(.untrustedCertificate, "the server's certificate is not signed by a trusted authority")
    }

    private static func date(_ time: some BinaryInteger) -> Date { Date(timeIntervalSince1970: TimeInterval(time)) }
    private static func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }

    /// The library's name for an error: the part after the last colon and before the position in its source.
    private static func reason(_ error: BoringSSLInternalError) -> String {
        let text = error.description
        let end = text.ranges(of: " at ").last?.lowerBound ?? text.endIndex
        return text[..<end].split(separator: ":").last.map(String.init) ?? ""
    }
}

/// Translates TLS errors while the server's certificate is still available. Placed after the TLS handler.
final class TLSFailureHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let handler = try? context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
        context.fireErrorCaught(TLSFailure(error, certificate: handler?.peerCertificate) ?? error)
    }
}

/// Why a connection to a server could not be made, or broke. The clients build their own errors from it.
package enum ConnectFailure: Sendable {
    case timedOut(reason: String)
    /// The host is unknown, or the system reported an error. The reason is a text that a user can act on.
    case unreachable(reason: String)
    case tls(TLSFailure)
    /// An error that only the client itself can explain.
    case other(any Error)

    package init(_ error: any Error) {
        let failure = NetworkFailure(error)
        switch (failure.kind, failure.error) {
        case (.timedOut, _): self = .timedOut(reason: failure.reason)
        case (.unknownHost, _), (.other, is IOError): self = .unreachable(reason: failure.reason)
        case (.other, let error): self = TLSFailure(error).map { .tls($0) } ?? .other(error)
        }
    }
}
