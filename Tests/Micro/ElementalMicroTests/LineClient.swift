import ElementalMicro

/// A client of a device, on the other end of a line without time: what a gateway does.
final class LineClient {
    struct Frame: Hashable {
        let id: Int8
        let value: [UInt8]
    }

    private var link: SerialLink
    private var buffer: [UInt8] = []
    /// The frames of the present session.
    private(set) var frames: [Frame] = []
    private(set) var sessionCount = 0
    /// Whether it introduces itself when a session begins.
    var greets = true
    var features: Hello.Features = [.emptyValues, .ping, .wantsCatalogue, .refusals]

    init(seed: UInt32 = 77) { link = SerialLink(seed: seed) }

    var isOpen: Bool { link.isOpen }

    func receive(_ byte: UInt8, at now: UInt32) { if let event = link.receive(byte, at: now) { handle(event) } }
    func tick(at now: UInt32) { if let event = link.tick(at: now) { handle(event) } }
    func nextByte(at now: UInt32) -> UInt8? { link.nextByte(at: now) }

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

    func hello() {
        send(SystemElement.deviceName.rawValue, Array("a gateway".utf8))
        send(SystemElement.hello.rawValue, Hello(features: features).wireBytes)
    }

    func send(_ id: Int8, _ value: [UInt8]) {
        let length = value.count
        let header = [UInt8(bitPattern: id)] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        sendRaw(header + value)
    }

    func sendRaw(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { link.write($0) } }

    func send<Value>(_ value: Value, to element: Element<Value>) {
        send(
            element.id,
            [UInt8](unsafeUninitializedCapacity: value.wireByteCount) { buffer, count in
                if let base = buffer.baseAddress { value.writeWireBytes(to: base) }
                count = value.wireByteCount
            })
    }

    /// The newest value of the element in this session.
    func newest<Value>(_ element: Element<Value>) -> Value? {
        frames.last { $0.id == element.id }?.value.withUnsafeBytes { Value(wireBytes: $0) }
    }

    func frames(_ id: Int8) -> [[UInt8]] { frames.filter { $0.id == id }.map(\.value) }
    func forget() { frames = [] }
}

/// A device and its client on a line.
final class Pair {
    var service: ElementalService
    var client = LineClient()
    private(set) var now: UInt32
    /// Bytes are lost on the way to the client.
    var loses = false

    init(_ service: ElementalService, now: UInt32 = 0) {
        self.service = service
        self.now = now
    }

    /// Lets time pass, in steps of a millisecond with 12 bytes each way.
    func run(_ milliseconds: Int = 200) {
        for _ in 0..<milliseconds {
            now &+= 1
            for _ in 0..<12 {
                if let byte = service.nextByte(at: now), !loses { client.receive(byte, at: now) }
                if let byte = client.nextByte(at: now) { service.receive(byte, at: now) }
            }
            service.tick(at: now)
            client.tick(at: now)
        }
    }
}
