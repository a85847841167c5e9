import ClientTransport
import NIOCore
import Support

extension MQTTError {
    /// Why a connection could not be made, in words that a user can act on.
    init(connecting error: any Error, _ address: MQTTAddress) {
        if let error = error as? MQTTError {
            self = error
            return
        }
        let what = "cannot connect to \(address)"
        if let error = error as? IOError, error.errnoCode == ECONNRESET || error.errnoCode == EPIPE {
            self = .closed(address)
            return
        }
        switch ConnectFailure(error) {
        case .timedOut(let reason): self.init(.timedOut, "\(what): \(reason)")
        case .unreachable(let reason): self.init(.connectionFailed, "\(what): \(reason)")
        case .tls(let failure): self.init(.tlsFailed, "\(what): TLS failed", cause: failure.adding(Self.hint(failure)))
        case .other(let error): self.init(.connectionFailed, what, cause: error)
        }
    }

    private static func hint(_ failure: TLSFailure) -> String {
        switch failure.kind {
        case .noTLS: "; did you mean mqtt://?"
        // A mosquitto without TLS on this port reads the handshake as a broken packet and hangs up.
        case .closed: "; does it speak TLS on this port, or did you mean mqtt://?"
        case .untrustedCertificate: "; if an authority of your own has signed it, trust that authority's certificate"
        default: ""
        }
    }

    /// The broker closed the connection instead of answering CONNECT.
    static func closed(_ address: MQTTAddress) -> MQTTError {
        let other = address.isSecure ? "no TLS on this port (did you mean mqtt://?)" : "TLS on this port (mqtts://)"
        let causes = "it may expect \(other), not speak MQTT there, or not let this client in"
        return MQTTError(
            .closedByBroker, "\(address) closed the connection without an answer: \(causes). Its log may say more")
    }

    /// The connection broke.
    ///
    /// - Parameter error: `nil` if the broker closed it.
    static func lost(_ error: (any Error)?, clientID: String) -> MQTTError {
        guard let error else {
            return MQTTError(
                .connectionLost,
                "the broker closed the connection. It does so when it ends, and when another client connects with the "
                    + "same identifier ('\(clientID.printable)')")
        }
        let what = "the connection to the broker broke"
        switch ConnectFailure(error) {
        case .timedOut(let reason), .unreachable(let reason): return MQTTError(.connectionLost, "\(what): \(reason)")
        case .tls(let failure): return MQTTError(.connectionLost, what, cause: failure)
        case .other(let error): return MQTTError(.connectionLost, what, cause: error)
        }
    }
}
