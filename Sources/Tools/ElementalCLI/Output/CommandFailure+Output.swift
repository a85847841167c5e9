import ClientTransport
import CommodoreGateway
import Elemental
import ElementalRecording
import ElementalSecurity
import ElementalWire
import MQTT
import MQTTBridge
import SignalR
import SignalRBridge
import Support
import WebServer
import Zeroconf

extension CommandFailure: ConsoleEvent {
    var isResult: Bool { false }

    var lines: [String] { ["elemental: \(description)"] }

    /// `code` is the former name of `reason`, kept for one more version.
    var json: JSONText {
        .event("error", [("reason", .string(code)), ("code", .string(code)), ("message", .string(description))])
    }
}

extension CommandFailure {
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as ElementalError: self.init(error.code.description, error.description)
        case let error as GatewayError: self.init(error.code.description, error.description)
        case let refusal as ValueRefusal: self.init("\(refusal.reason)", refusal.description)
        case let error as WireError: self.init(error.code.description, error.message)
        case let error as SecurityError: self.init(error.code.description, error.message)
        case let error as SignalRError: self.init(error.commandCode, error.description + error.hint)
        case let error as BridgeError:
            self.init(error.code == .unknownElement ? error.code.description : "usage", error.message)
        case let error as MQTTError: self.init(error.code.description, error.description + error.hint)
        case let error as MQTTBridgeError: self.init("usage", error.message)
        case let error as ZeroconfError: self.init(error.code.description, error.message)
        case let error as RecordingError: self.init(error.code.description, error.message)
        case let error as WebServerError: self.init("\(error.code)", error.message)
        case is CancellationError: self.init("cancelled", "cancelled")
        default: self.init("failed", "\(error)")
        }
    }
}

extension SignalRError {
    /// The code of the underlying failure of the command, or the code that corresponds to the HTTP status.
    fileprivate var commandCode: String {
        if let cause = cause as? CommandFailure { return cause.code }
        return switch (code, httpStatus) {
        case (.refused, 401), (.refused, 403), (.noTransport, 401), (.noTransport, 403): "notAuthorised"
        case (.refused, 404), (.noTransport, 404): "notFound"
        default: code.description
        }
    }

    /// The advice for the user of the command line.
    fileprivate var hint: String {
        switch (code, httpStatus) {
        case (.refused, 401), (.refused, 403), (.noTransport, 401), (.noTransport, 403):
            "; if the hub requires an access token, pass one with --token"
        case (.refused, 404), (.noTransport, 404): "; is the hub at another path of this address?"
        case (.connectionFailed, _): "; is the hub running there?"
        case (.tlsFailed, _) where (cause as? TLSFailure)?.kind == .untrustedCertificate:
            "; if the hub uses a self-signed certificate, trust it with --trust FILE"
        default: ""
        }
    }
}

extension MQTTError {
    /// The advice for the user of the command line.
    fileprivate var hint: String {
        switch code {
        case .notAuthorised, .badCredentials:
            "; give a user with --broker mqtt://USER@HOST and the password with --password @FILE"
        case .connectionFailed: "; is the broker running there?"
        case .tlsFailed where (cause as? TLSFailure)?.kind == .untrustedCertificate:
            "; if the broker uses a self-signed certificate, trust it with --trust FILE"
        default: ""
        }
    }
}
