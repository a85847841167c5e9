import Support

extension ServiceEvent: CustomStringConvertible {
    /// A line for a log: `listening on port 5000`, `connected: Rob's iPhone (192.168.1.7:51234)`. A pairing code is not in it.
    /// Names and reasons from other programs are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .listening(let port): "listening on port \(port)"
        case .failedToListen(let error, let delay): "not listening: \(error); next attempt in \(delay)"
        case .published(let name): "published as '\(name)'"
        case .failedToPublish(let error, let delay): "not published: \(error); next attempt in \(delay)"
        case .deviceConnected(let device): "connected: \(device)"
        case .deviceDisconnected(let device, let reason): "disconnected: \(device), \(reason)"
        case .pairing(let event): "\(event)"
        case .trustUnavailable(let error): "trusts nobody: \(error)"
        case .trustAvailable: "whom it trusts can be read again"
        case .failed(let error): "failed: \(error)"
        case .stopped: "stopped"
        }
    }
}

extension PairingEvent: CustomStringConvertible {
    /// A line for a log: `paired: 'Rob's iPhone'`. The code is not in it. Names from other programs are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .opened: "pairing is open"
        case .openedByAdmin: "pairing was opened over the network"
        case .closed: "pairing is over"
        case .paired(let client): "paired: '\(client.name)'"
        case .failed(_, let error): "not paired: \(error)"
        }
    }
}
