import Support

extension ServicePublisher.Event: CustomStringConvertible {
    /// A line for a log: `published as 'Rover'`. Text from other programs is escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .published(let name): "published as '\(name)'"
        case .renamed(let old, let new): "'\(old)' is published as '\(new)'"
        case .failed(let error, let delay): "not published: \(error); retrying in \(delay)"
        }
    }
}

extension ServiceBrowser.Event: CustomStringConvertible {
    /// A line for a log: `found: "Rover"._robot._tcp.local. at pi.local.:41847`. Names from other programs are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .found(let service): "found: \(service.instance) at \(service.host):\(service.port)"
        case .updated(let service): "updated: \(service.instance) at \(service.host):\(service.port)"
        case .gone(let instance): "gone: \(instance)"
        case .unresolved(let instance, let error): "not resolved: \(instance): \(error)"
        case .failed(let error, let delay): "browsing failed: \(error); retrying in \(delay)"
        }
    }
}
