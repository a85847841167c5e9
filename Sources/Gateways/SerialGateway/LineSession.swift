import ElementalWire
import NIOCore
import SerialLines
import SerialLink
import Support

/// Exchanges frames with a device over a line that may lose bytes. Used on the line's event loop only.
final class LineSession: LineHandler {
    /// The maximum size of an element's value, in bytes, as on a device.
    static let maximumValueByteCount = 1024
    private static let maximumIdentityByteCount = 128
    /// The maximum number of bytes written to the line at a time.
    private static let portion = 256

    private let line: any Line
    private let eventLoop: any EventLoop
    private weak var owner: DeviceService?
    private var link: SerialLink
    private var decoder = StreamDecoder(maximumValueByteCount: LineSession.maximumValueByteCount)
    private let buffer: UnsafeMutableRawBufferPointer
    private var timer: (task: Scheduled<Void>, time: NIODeadline)?
    private var isLineOpen = false
    private var problem: String?
    private var backOff = BackOff.line
    /// Until when the line is ignored, after a device was rejected.
    private var quietUntil: NIODeadline?

    init(_ line: any Line, on eventLoop: any EventLoop, owner: DeviceService) {
        self.line = line
        self.eventLoop = eventLoop
        self.owner = owner
        link = SerialLink(
            .init(packetByteCount: 256, windowByteCount: 2048, sendByteCount: 4096),
            seed: .random(in: .min ... .max))
        buffer = .allocate(byteCount: Self.portion, alignment: 1)
    }

    deinit { buffer.deallocate() }

    func start() { line.start(self) }

    func stop() {
        owner = nil
        timer?.task.cancel()
        line.stop()
    }

    /// Resets the back-off, because the device can be used.
    func accepted() { backOff.reset() }

    // MARK: Out

    /// How many bytes of frames can be written now; 0 without a session.
    var room: Int { link.room }

    func write(_ id: Int8, byteCount: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
        let whole = Envelope.streamByteCount + byteCount
        withUnsafeTemporaryAllocation(byteCount: whole, alignment: 1) { frame in
            guard let start = frame.baseAddress else { return }
            Envelope.writeStreamHeader(id: id, length: byteCount, to: start)
            body(UnsafeMutableRawBufferPointer(rebasing: frame[Envelope.streamByteCount...]))
            _ = link.write(UnsafeRawBufferPointer(frame))
        }
    }

    func write(_ id: Int8, _ bytes: [UInt8]) { write(id, byteCount: bytes.count) { $0.copyBytes(from: bytes) } }

    func flush() {
        guard quietUntil == nil else { return }
        while line.isWritable {
            let count = link.transmit(into: buffer, at: Self.now)
            guard count > 0 else { break }
            line.write(Array(buffer[..<count]))
        }
        guard isLineOpen else { return }
        // A line that takes no bytes calls ``lineIsWritable()`` when it does again.
        let delay = max(Int64(link.delay(at: Self.now)), line.isWritable ? 1 : 50)
        let time = NIODeadline.now() + .milliseconds(delay)
        if let timer, timer.time <= time { return }
        tick(at: time)
    }

    private func tick(at time: NIODeadline) {
        timer?.task.cancel()
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self] () -> Void in self?.tick() }
        timer = (task, time)
    }

    private static var now: UInt32 { UInt32(truncatingIfNeeded: NIODeadline.now().uptimeNanoseconds / 1_000_000) }

    private func tick() {
        timer = nil
        if let quietUntil {
            guard quietUntil <= .now() else { return tick(at: quietUntil) }
            self.quietUntil = nil
            link.restart()
        }
        if let event = link.tick(at: Self.now) { handle(event) }
        flush()
    }

    // MARK: In

    func lineChanged(_ event: LineEvent) {
        switch event {
        case .opened:
            isLineOpen = true
            link.restart()
        case .lost:
            isLineOpen = false
            // The next device on the line may be another one.
            quietUntil = nil
            timer?.task.cancel()
            timer = nil
            if link.isOpen { owner?.sessionEnded() }
            link.restart()
        case .ready, .refused, .notListening: break
        }
        owner?.tell(.line(event))
        flush()
    }

    func lineReceived(_ bytes: ByteBufferView) {
        guard quietUntil == nil else { return }
        let now = Self.now
        for byte in bytes {
            if let event = link.receive(byte, at: now) { handle(event) }
            guard quietUntil == nil else { return }
        }
        owner?.sendWaiting()
        flush()
    }

    func lineIsWritable() { flush() }

    private func handle(_ event: SerialLink.Event) {
        switch event {
        case .opened:
            decoder = StreamDecoder(maximumValueByteCount: Self.maximumValueByteCount)
            owner?.sessionBegan()
        case .closed: owner?.sessionEnded()
        case .bytes(let bytes):
            do throws(WireError) {
                try decoder.decode(bytes, keeping: Self.keptByteCount) { id, value in
                    problem = owner?.received(id, value.bytes)
                    return problem == nil ? .next : .stop
                }
            } catch {
                problem = "the device announced a value longer than \(Self.maximumValueByteCount) bytes"
            }
            if let problem { reject(problem) }
        }
    }

    private static func keptByteCount(_ id: Int8, _ length: Int) -> Int {
        if id >= 0 { return length }
        return SystemElement(rawValue: id)?.keptByteCount(of: length) ?? min(length, maximumIdentityByteCount)
    }

    /// Ends the session with a device that cannot be used, and backs off before the next session.
    func reject(_ problem: String) {
        self.problem = nil
        if link.isOpen { owner?.sessionEnded() }
        link.restart()
        let delay = backOff.next()
        let time = NIODeadline.now() + TimeAmount(delay)
        quietUntil = time
        tick(at: time)
        owner?.tell(.deviceRejected(problem, retryIn: delay))
    }
}
