public import ElementalWire
public import SerialLink

/// A device's service: its elements, for one client behind a serial line, which shows them to the network.
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
/// It has no line, no clock and no thread: all runs in the calls that the program makes, handlers too. Memory is allocated
/// while it is created and handlers are added; after that only by handlers of texts and data that make a `String` or an
/// array of a long value, which ``onBytes(of:perform:)`` avoids.
public final class ElementalService {
    /// What the service has memory for.
    public struct Configuration: Sendable {
        /// The line's packets and queues.
        public var link: SerialLink.Configuration
        /// The longest value of an element of a text or data, in bytes, at most 1,024. Longer ones are refused.
        public var maximumTextByteCount: Int

        /// The default is for a device with 4 KB of memory.
        public init(link: SerialLink.Configuration = SerialLink.Configuration(), maximumTextByteCount: Int = 32) {
            self.link = link
            self.maximumTextByteCount = maximumTextByteCount
        }
    }

    /// The service's name, such as `thermostat`, by which clients find it.
    public let service: String
    /// The name that people see; empty if the other end of the line is to choose it.
    public let displayName: String
    /// The elements that can be controlled and read.
    public let elements: ElementCatalogue

    var link: SerialLink
    var reader: FrameReader
    let slots: UnsafeMutablePointer<Slot>
    let slotCount: Int
    /// The longest value of a text or data.
    let textByteCount: Int
    /// The values' bytes, then those of the frame that is being received, then those of a value that is being set.
    let memory: UnsafeMutablePointer<UInt8>
    let scratch: UnsafeMutableRawPointer
    let scratchByteCount: Int

    /// How far the greeting of a client has come.
    enum Greeting {
        /// The client has not sent its hello.
        case awaited
        case hello
        case identity
        /// The catalogue, of which so many bytes are sent.
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
    /// The longest ping that is answered, in bytes; Elemental's own have 8.
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
    ///   - displayName: the name that people see, at most 63 bytes; empty if the other end of the line is to choose it.
    ///   - elements: the elements that can be controlled and read.
    ///   - configuration: what it has memory for.
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
        // A frame's value is written into it before it is checked and kept.
        memory = .allocate(capacity: offset + 2 * longest)
        scratch = UnsafeMutableRawPointer(memory + offset + longest)
        scratchByteCount = longest
        reader = FrameReader(memory: memory + offset, capacity: longest)
        var line = configuration.link
        // A frame is written as a whole; only the catalogue's is not.
        let longestFrame = max(longest, SerialIdentity.byteCount(service, displayName))
        line.sendByteCount = max(line.sendByteCount, longestFrame + Envelope.streamByteCount)
        link = SerialLink(line, seed: seed)
    }

    deinit {
        slots.deinitialize(count: slotCount)
        slots.deallocate()
        memory.deallocate()
    }

    /// Whether a client is connected, that is, has introduced itself on the line.
    public var isConnected: Bool {
        if case .awaited = greeting { return false }
        return true
    }

    /// Calls `handler` when a client is connected, and when it is gone: after a reset of the other end, or when nothing
    /// was heard from it for five seconds. A device that moves something stops then.
    public func onConnection(perform handler: @escaping (_ isConnected: Bool) -> Void) { connectionHandler = handler }

    /// Takes a byte from the line.
    ///
    /// - Parameter now: the time in milliseconds of any steady clock that wraps at 2^32.
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

    /// Looks at the clock. To be called every few milliseconds, or after ``delay(at:)``.
    public func tick(at now: UInt32) {
        if let event = link.tick(at: now) { handle(event) }
        sendWhatIsDue()
    }

    /// The milliseconds until ``tick(at:)`` has something to do, unless something is received or sent before.
    public func delay(at now: UInt32) -> UInt32 { link.delay(at: now) }

    /// The next byte for the line, or `nil` if there is nothing to send now.
    public func nextByte(at now: UInt32) -> UInt8? { link.nextByte(at: now) }

    /// Fills `buffer` with the next bytes for the line.
    ///
    /// - Returns: how many there are.
    public func transmit(into buffer: UnsafeMutableRawBufferPointer, at now: UInt32) -> Int {
        link.transmit(into: buffer, at: now)
    }

    private func handle(_ event: SerialLink.Event) {
        switch event {
        case .opened:
            disconnected()
            reader.reset()
            // The first frame after accept: no datagrams on a line.
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
