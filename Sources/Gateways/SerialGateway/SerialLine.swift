import SerialLines

/// The line to a device.
public enum SerialLine: Sendable, Hashable {
    /// A serial device such as `/dev/ttyACM0`, preferably by its name under `/dev/serial/by-id`, which stays the same.
    /// It need not exist yet.
    case serial(path: String, baud: Int = 115_200)
    /// A pseudo-terminal that the gateway creates, with a symbolic link to it if a path is given.
    case pseudoTerminal(link: String?)
    /// A TCP port that an adapter or an emulator connects to; port 0 lets the system choose.
    case listen(host: String, port: Int)
    /// A TCP port that the gateway connects to, and reconnects to when the connection is lost.
    case dial(host: String, port: Int)

    /// The speeds that a serial device may have, in bits a second.
    public static var bauds: [Int] { TerminalDevice.bauds }

    var place: LinePlace {
        switch self {
        case .serial(let path, let baud): .device(path: path, baud: baud, mayBeAbsent: true)
        case .pseudoTerminal(let link): .pseudoTerminal(link: link)
        case .listen(let host, let port): .listen(host: host, port: port)
        case .dial(let host, let port): .dial(host: host, port: port)
        }
    }
}
