public import ElementalWire
public import SerialLink

/// A device's service: it offers its elements to one client at the other end of a serial line, which publishes them on
/// the network.
///
/// ```swift
/// let service = ElementalService("thermostat", displayName: "Kitchen", elements: Thermostat.all)
/// service.onValue(of: Thermostat.target) { target in heater.target = target }
/// try service.send(21.5, to: Thermostat.temperature)
/// while true {
///     while let byte = uart.read() { service.receive(byte, at: clock.milliseconds) }
///     service.tick(at: clock.milliseconds)
///     while uart.canWrite, let byte = service.nextByte(at: clock.milliseconds) { uart.write(byte) }
/// }
/// ```
/// It has no line, clock or thread of its own: everything, including the handlers, runs within the program's calls. It
/// allocates memory only at its creation and when handlers are added. Later only handlers that receive a long text or
/// data as a `String` or an array allocate; ``onBytes(of:perform:)`` avoids this.
public final class ElementalService {
    /// The sizes of the service's memory.
    public struct Configuration: Sendable {
        /// The line's packets and queues.
        public var link: SerialLink.Configuration
        /// The maximum length of a text or data value, in bytes, 1...1,024. Longer values are refused.
        public var maximumTextByteCount: Int

        /// Creates a configuration; its defaults are for a device with 4 KB of memory.
        public init(link: SerialLink.Configuration = SerialLink.Configuration(), maximumTextByteCount: Int = 32) {
            self.link = link
            self.maximumTextByteCount = maximumTextByteCount
        }
    }

    /// The service's name, such as `thermostat`, by which clients find it.
    public let service: String
    /// The name that people see; empty if the peer is to choose it.
    public let displayName: String
    /// The elements that can be controlled and read.
    public let elements: ElementCatalogue

    var link: SerialLink
    var reader: FrameReader
    let slots: UnsafeMutablePointer<Slot>
    let slotCount: Int
    /// The maximum length of a text or data value, in bytes.
    let textByteCount: Int
    /// The values' bytes, then those of the frame that is being received, then those of a value that is being set.
    let memory: UnsafeMutablePointer<UInt8>
    /// The memory for a value that is being set.
    let scratch: UnsafeMutableRawPointer
    let scratchByteCount: Int

    /// The progress of a client's greeting.
    enum Greeting {
        /// The client has not sent its hello.
        case awaited
        case hello
        case identity
        /// The catalogue, of which `sent` bytes have been sent.
        case catalogue(sent: Int)
        case done
    }
    var greeting = Greeting.awaited
    var features = Hello.Features()
    /// Whether any slot may have something to send.
    var isAnyDue = false
    /// The text of the refusal that is to be sent for an element; one at a time is kept.
    var refusalText = ""
    var refusalTextID: Int8 = -1
    /// The bytes of a ping that is to be answered.
    var ping: (UInt64, UInt64) = (0, 0)
    var pingByteCount = 0
    /// The maximum length of a ping that is answered, in bytes; Elemental's own pings have 8.
    static var pingCapacity: Int { 16 }
    var connectionHandler: ((Bool) -> Void)?

    /// Frames that were skipped because their identifier or length was wrong, modulo 2^32.
    public internal(set) var malformedCount: UInt32 = 0
    /// Values that were refused, modulo 2^32.
    public internal(set) var rejectedCount: UInt32 = 0

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - service: the service's name, such as `thermostat`, 1 to 63 bytes.
    ///   - displayName: the name that people see, at most 63 bytes; empty if the peer is to choose it.
    ///   - elements: the elements that can be controlled and read.
    ///   - configuration: the sizes of the service's memory.
    ///   - seed: a number that differs from that of the last start, from a source of randomness or a counter: see
    ///     ``SerialLink/init(_:seed:)``.
    public init(
        _ service: String, displayName: String = "", elements: ElementCatalogue,
        configuration: Configuration = Configuration(), seed: UInt32 = 1
    ) {
        self.service = service
        self.displayName = displayName
        self.elements = elements
        textByteCount = min(max(configuration.maximumTextByteCount, 1), 1024)
        slotCount = elements.count
        slots = .allocate(capacity: max(1, slotCount))
        var offset = 0
        var longest = Self.pingCapacity
        for position in 0..<slotCount {
            let capacity = elements[position].type.fixedByteCount ?? textByteCount
            (slots + position).initialize(to: Slot(element: elements[position], offset: UInt32(offset)))
            offset += capacity
            longest = max(longest, capacity)
        }
        // Besides the values there is room for a received value and for one that is being set, before they are checked.
        memory = .allocate(capacity: offset + 2 * longest)
        scratch = UnsafeMutableRawPointer(memory + offset + longest)
        scratchByteCount = longest
        reader = FrameReader(memory: memory + offset, capacity: longest)
        var line = configuration.link
        // Every frame is written as a whole, except the catalogue's.
        let longestFrame = max(longest, SerialIdentity.byteCount(service, displayName))
        line.sendByteCount = max(line.sendByteCount, longestFrame + Envelope.streamByteCount)
        link = SerialLink(line, seed: seed)
    }

    deinit {
        slots.deinitialize(count: slotCount)
        slots.deallocate()
        memory.deallocate()
    }

    /// Whether a client is connected, that is, has sent its hello.
    public var isConnected: Bool {
        if case .awaited = greeting { return false }
        return true
    }

    /// Calls `handler` with `true` when a client connects, and with `false` when it is gone: after a reset of the peer,
    /// or when nothing was received from it for five seconds. A device that moves something should stop then.
    public func onConnection(perform handler: @escaping (_ isConnected: Bool) -> Void) { connectionHandler = handler }

    /// Takes a byte from the line.
    ///
    /// - Parameter now: the time in milliseconds of any monotonic clock that wraps at 2^32.
    public func receive(_ byte: UInt8, at now: UInt32) {
        if let event = link.receive(byte, at: now) {
            handle(event)
        }
        sendWhatIsDue()
    }

    /// Takes bytes from the line.
    public func receive(_ bytes: UnsafeRawBufferPointer, at now: UInt32) {
        for byte in bytes { receive(byte, at: now) }
    }

    /// Handles timeouts and sends what is due. Call it every few milliseconds, or after ``delay(at:)``.
    public func tick(at now: UInt32) {
        if let event = link.tick(at: now) { handle(event) }
        sendWhatIsDue()
    }

    /// Returns the milliseconds until ``tick(at:)`` has something to do, unless something is received or sent before.
    public func delay(at now: UInt32) -> UInt32 { link.delay(at: now) }

    /// Returns the next byte for the line, or `nil` if there is nothing to send now.
    public func nextByte(at now: UInt32) -> UInt8? { link.nextByte(at: now) }

    /// Fills `buffer` with the next bytes for the line.
    ///
    /// - Returns: the number of bytes.
    public func transmit(into buffer: UnsafeMutableRawBufferPointer, at now: UInt32) -> Int {
        link.transmit(into: buffer, at: now)
    }

    private func handle(_ event: SerialLink.Event) {
        switch event {
        case .opened:
            disconnected()
            reader.reset()
            // The first frame after accept: the UDP identifier 0, because a serial line has no datagrams.
            writeHeader(SystemElement.udpIdentifier.rawValue, 1)
            write(byte: 0)
        case .closed: disconnected()
        case .bytes(let bytes): receivedStream(bytes)
        }
    }

    func disconnected() {
        guard isConnected else { return }
        greeting = .awaited
        features = []
        isAnyDue = false
        refusalTextID = -1
        pingByteCount = 0
        for position in 0..<slotCount {
            slots[position].isDue = false
            slots[position].refusal = 0
        }
        connectionHandler?(false)
    }
}
