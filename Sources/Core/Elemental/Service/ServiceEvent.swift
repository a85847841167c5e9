import Support

/// An event of a service.
public enum ServiceEvent: Sendable {
    /// It accepts connections at this port, TCP and, unless disabled, UDP.
    case listening(port: Int)
    /// A socket that it listens on was closed by the system, or could not be opened again; the next attempt follows after the
    /// given time. Once it listens again, ``listening(port:)`` follows. Connections last meanwhile.
    case failedToListen(ElementalError, retryIn: Duration)
    /// It is published under this name, which may differ from the requested one if another service has that.
    case published(name: String)
    /// It could not be published; it keeps listening and retries after the given time.
    case failedToPublish(ElementalError, retryIn: Duration)
    /// A device has connected and is ready; as a rule it has sent its name.
    case deviceConnected(ElementalDevice)
    /// A device has disconnected.
    case deviceDisconnected(ElementalDevice, DisconnectReason)
    /// Something happened about pairing.
    case pairing(PairingEvent)
    /// Whom it trusts cannot be read: it admits and keeps only clients without pairing, as far as its policy does, until
    /// ``trustAvailable``. The message says what to do.
    case trustUnavailable(ElementalError)
    /// Whom it trusts can be read again.
    case trustAvailable
    /// It cannot go on, for instance because its identity was replaced, and stops. ``ElementalService/run()`` throws the
    /// same error.
    case failed(ElementalError)
    /// It no longer accepts connections.
    case stopped
}

extension ElementalError {
    static func notPaired(_ client: String, storing error: any Error) -> ElementalError {
        ElementalError(.notPaired, "'\(client)' is not paired, because it cannot be stored: \(error)")
    }
}

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
