public import Elemental
public import PETSCII
public import VirtualCommodore

/// The line on which the gateway stands in the place of the modem.
public enum GatewayLine: Sendable {
    /// A serial device such as `/dev/ttyUSB0`.
    case serial(path: String)
    /// A pseudo-terminal that the gateway makes, with a symbolic link to it if a path for one is given.
    case pseudoTerminal(link: String?)
    /// A TCP port that an emulator dials, with or without VICE's framing for the control wires.
    case tcp(host: String, port: Int, usesIP232: Bool)
    /// A virtual Commodore in this process, running a program.
    case virtual(Program, standard: VideoStandard)
}

/// How a gateway paces its line and what it lets clients do.
public struct GatewayConfiguration: Sendable {
    /// The speed of the line, in bits a second: 50, 75, 110, 150, 300, 600, 1200, 1800 or 2400. A byte takes 10 bits. Over
    /// TCP and a pseudo-terminal it is the emulator's own, which does not wait either.
    public var baud = 1200
    /// Bytes a second for programs that read one byte a frame: 50 is what a PAL machine takes.
    public var bytesPerSecond = 50.0
    /// Bytes a second that a program takes which reads several a frame. At most 255 unread ones are kept in its machine;
    /// from 1200 baud down the line is slower than this.
    public var fastBytesPerSecond = 200.0
    /// Whether clients may read and write the machine's memory, which is to say: do with it what they like.
    public var allowsMemory = false
    /// The characters in which a native program shows and types text.
    public var characterSet = CommodoreCharacterSet.lowerCase
    /// The addresses of real SignalR hubs by those that programs ask for, such as `ws://192.168.86.250:5000/chat`. To any
    /// other address of this kind the gateway itself is the hub.
    public var hubs: [String: String] = [:]
    /// How long the program may be silent before the gateway pings its hub: by default, hubs drop a client that is silent
    /// for 30 s.
    public var hubPingInterval: Duration = .seconds(15)
    /// How the service listens, publishes and limits its clients.
    public var service = ServiceConfiguration()

    /// The defaults: 1200 baud, 50 bytes a second, no access to the memory.
    public init() {}

    /// The speeds that a line may have, in bits a second.
    public static let bauds = [50, 75, 110, 150, 300, 600, 1200, 1800, 2400]
}
