public import Elemental
public import PETSCII
public import VirtualCommodore

/// The line on which the gateway takes the modem's place.
public enum GatewayLine: Sendable {
    /// A serial device such as `/dev/ttyUSB0`.
    case serial(path: String)
    /// A pseudo-terminal that the gateway creates, with a symbolic link to it if a path is given.
    case pseudoTerminal(link: String?)
    /// A TCP port that an emulator connects to, with or without VICE's framing for control signals.
    case tcp(host: String, port: Int, usesIP232: Bool)
    /// A virtual Commodore in this process, running a program.
    case virtual(Program, standard: VideoStandard)
}

/// How a gateway paces its line and what it allows clients to do.
public struct GatewayConfiguration: Sendable {
    /// The speed of the line, in bits a second, one of ``bauds``; the user port supports at most 2400. A byte takes 10
    /// bits. Over TCP and pseudo-terminals the emulator keeps to its own speed and ignores this one.
    public var baud = 1200
    /// Whether the machine pauses the line by itself, as a cartridge with an ACIA (SwiftLink) does with RTS. The two
    /// rates below are then ignored. A serial device is set to RTS/CTS; an emulator pauses by not reading.
    public var usesFlowControl = false
    /// Bytes per second for programs that read one byte per frame: 50 on a PAL machine. At least 1.
    public var bytesPerSecond = 50.0
    /// Bytes per second for programs that read several bytes per frame. At most 255 unread bytes are in the machine's
    /// buffer; at 1200 baud and below the line is slower than this.
    public var fastBytesPerSecond = 200.0
    /// Whether clients may read and write the machine's memory, which gives them full control of it.
    public var allowsMemory = false
    /// The character set in which a native program shows and types text.
    public var characterSet = CommodoreCharacterSet.lowerCase
    /// The addresses of real SignalR hubs by the addresses that programs ask for, such as `ws://192.168.86.250:5000/chat`.
    /// For any other address of this kind the gateway itself is the hub.
    public var hubs: [String: String] = [:]
    /// How long the program may be silent before the gateway pings its hub: by default, hubs disconnect a client that is
    /// silent for 30 s.
    public var hubPingInterval: Duration = .seconds(15)
    /// The service's configuration: listening, publishing, limits for clients.
    public var service = ServiceConfiguration()

    /// The defaults: 1200 baud, 50 bytes per second, no memory access.
    public init() {}

    /// The speeds that a line may have, in bits a second. Those above 2400 are an ACIA's.
    public static let bauds = [50, 75, 110, 150, 300, 600, 1200, 1800, 2400, 4800, 9600, 19200, 38400]
}
