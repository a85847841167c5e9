/// The transport of messages.
enum Transport: CaseIterable {
    case tcp, udp
    /// TCP, encrypted, with a certificate of either end.
    case tls
    /// Datagrams that are encrypted with keys exchanged over TLS.
    case sealed

    var title: String {
        switch self {
        case .tcp: "TCP"
        case .udp: "UDP"
        case .tls: "TLS 1.3"
        case .sealed: "sealed UDP"
        }
    }

    /// The transport below, as the contenders' options name it.
    var option: String {
        switch self {
        case .tcp, .tls: "tcp"
        case .udp, .sealed: "udp"
        }
    }

    var isEncrypted: Bool { self == .tls || self == .sealed }
}
