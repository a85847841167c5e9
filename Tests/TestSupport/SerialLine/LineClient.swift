public import ElementalMicro

/// A client of a device, on the other end of its line: what a gateway does.
public final class LineClient {
    public struct Frame: Hashable, Sendable {
        public let id: Int8
        public let value: [UInt8]

        public init(id: Int8, value: [UInt8]) {
            self.id = id
            self.value = value
        }
    }

    private var link: SerialLink
    private var buffer: [UInt8] = []
    public private(set) var frames: [Frame] = []
    public private(set) var sessionCount = 0
    /// Whether it introduces itself when a session begins.
    public var greets = true
    public var features: Hello.Features = [.emptyValues, .ping, .wantsCatalogue, .refusals]

    public init(seed: UInt32 = 77) { link = SerialLink(seed: seed) }

    public var isOpen: Bool { link.isOpen }
    /// The bytes that can be sent now.
    public var room: Int { link.room }
    /// Whether the device has all that was sent.
    public var isIdle: Bool { link.isIdle }

    public func receive(_ byte: UInt8, at now: UInt32) { if let event = link.receive(byte, at: now) { handle(event) } }
    public func tick(at now: UInt32) { if let event = link.tick(at: now) { handle(event) } }
    public func nextByte(at now: UInt32) -> UInt8? { link.nextByte(at: now) }

    private func handle(_ event: SerialLink.Event) {
        switch event {
        case .opened:
            buffer = []
            frames = []
            sessionCount += 1
            if greets { hello() }
        case .bytes(let bytes):
            buffer += bytes
            while buffer.count >= 5 {
                let length = Int(buffer[1]) | Int(buffer[2]) << 8 | Int(buffer[3]) << 16 | Int(buffer[4]) << 24
                guard buffer.count >= 5 + length else { break }
                frames.append(Frame(id: Int8(bitPattern: buffer[0]), value: Array(buffer[5..<5 + length])))
                buffer.removeFirst(5 + length)
            }
        case .closed: break
        }
    }

    public func hello() {
        send(SystemElement.deviceName.rawValue, Array("a gateway".utf8))
        send(SystemElement.hello.rawValue, Hello(features: features).wireBytes)
    }

    public func send(_ id: Int8, _ value: [UInt8]) {
        let length = value.count
        let header = [UInt8(bitPattern: id)] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        sendRaw(header + value)
    }

    public func sendRaw(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { link.write($0) } }

    public func send<Value>(_ value: Value, to element: Element<Value>) {
        send(element.id, value.elementValue.wireBytes)
    }

    public func newest<Value>(_ element: Element<Value>) -> Value? {
        frames.last { $0.id == element.id }?.value.withUnsafeBytes { Value(wireBytes: $0) }
    }

    public func frames(_ id: Int8) -> [[UInt8]] { frames.filter { $0.id == id }.map(\.value) }
    public func forget() { frames = [] }
}
