import CommodoreGateway
import Elemental
import ElementalBench
import SignalR
import SignalRBridge
import Zeroconf

/// A failure of a command: what a person reads, and one word for machines.
struct CommandFailure: Error, CustomStringConvertible {
    let code: String
    let description: String

    init(_ code: String, _ message: String) {
        self.code = code
        description = message
    }

    /// The failure that stands for any error.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as ElementalError: self.init(error.code.description, error.description)
        case let error as GatewayError: self.init(error.code.description, error.description)
        case let error as WireError: self.init(error.code.description, error.message)
        case let error as SignalRError: self.init(error.code.description, error.description + error.hint)
        case let error as BridgeError: self.init("usage", error.message)
        case let error as ZeroconfError: self.init(error.code.description, error.message)
        case is CancellationError: self.init("cancelled", "cancelled")
        default: self.init("failed", "\(error)")
        }
    }

    /// Whether it only says that the command was told to end.
    var isCancellation: Bool { code == "cancelled" }

    static func unknownName(_ name: String, _ what: String, among names: [String], where place: String)
        -> CommandFailure
    {
        let near = NearNames.closest(to: name, among: names)
        let hint =
            if names.isEmpty { "it has none" } else if near.isEmpty { "there are: " + quotedList(names, "and") } else {
                "did you mean " + quotedList(near) + "?"
            }
        return CommandFailure("unknownElement", "\(place) has no \(what) '\(name.excerpt)'; \(hint)")
    }
}

extension SignalRError {
    /// What a person at a command line can do about it.
    fileprivate var hint: String {
        switch (code, httpStatus) {
        case (.refused, 401), (.refused, 403), (.noTransport, 401), (.noTransport, 403):
            "; does the hub want a token? --token gives it one"
        case (.refused, 404), (.noTransport, 404): "; is the hub at another path of the address?"
        case (.connectionFailed, _): "; is the hub running there?"
        case (.tlsFailed, _) where (cause as? TLSFailure)?.kind == .untrustedCertificate:
            "; if the hub signed its own certificate, --trust FILE trusts it"
        default: ""
        }
    }
}
