import ElementalWire
import NIOCore
import NIOEmbedded

@testable import Elemental

/// A device's sender without a socket: what it writes is kept, or held back as if the peer did not read.
final class EmbeddedSender {
    let loop = EmbeddedEventLoop()
    let channel: EmbeddedChannel
    let device: ElementalDevice
    let sender: Sender
    /// The work that each flush has left.
    private(set) var flushes: [PendingWork] = []
    private let gate = Gate()

    /// Holds back what is written while it is closed.
    private final class Gate: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        var isClosed = false
        private(set) var held: [(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?)] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if isClosed {
                held.append((context, data, promise))
            } else {
                context.write(data, promise: promise)
            }
        }

        func discard() {
            for (_, _, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
            held = []
        }

        func releaseFirst() {
            let (context, data, promise) = held.removeFirst()
            context.writeAndFlush(data, promise: promise)
        }
    }

    /// A receiver of the device, which delivers nothing here.
    func makeReceiver() -> Receiver {
        Receiver(device, ElementTable([]), ProgressReporter(device: device, shared: .none))
    }

    /// The place of the session in the pipeline.
    final class Place: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let bytes: ByteChannel

        init(_ bytes: ByteChannel) { self.bytes = bytes }

        func handlerAdded(context: ChannelHandlerContext) { bytes.attach(context) }
    }

    /// - Parameter isPlain: whether nothing lies below the sender.
    init(isPlain: Bool = true, _ change: (inout DeviceLimits) -> Void = { _ in }) throws {
        var limits = DeviceLimits()
        change(&limits)
        device = ElementalDevice(on: loop, limits)
        let bytes = ByteChannel(isPlain: isPlain)
        channel = EmbeddedChannel(handlers: [gate, Place(bytes)], loop: loop)
        channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 50_000), promise: nil)
        sender = Sender(device, bytes, ProgressReporter(device: device, shared: .none))
        sender.didFlush = { [unowned self] in flushes.append($0) }
    }

    deinit {
        gate.discard()
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    /// Whether the peer reads nothing from now on.
    var isHeldBack: Bool {
        get { gate.isClosed }
        set {
            gate.isClosed = newValue
            while !newValue, !gate.held.isEmpty { gate.releaseFirst() }
        }
    }

    /// How many parts of the stream are held back.
    var heldCount: Int { gate.held.count }

    /// The peer reads the first of them.
    func releaseFirst() { gate.releaseFirst() }

    /// Queues a value, as the device does once its connection is ready.
    func queue(_ element: ElementDefinition, _ value: [UInt8]) { device.queue(element, value) }

    /// What has been written since the last call, by write.
    func takeWrites() throws -> [[UInt8]] {
        var writes: [[UInt8]] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { writes.append(Array(buffer: buffer)) }
        return writes
    }

    func takeMessages() throws -> [OutboundMessage] { OutboundMessage.all(in: Array(try takeWrites().joined())) }
}

extension ElementalDevice {
    /// A client of a lamp, whose sender is a test's. On the loop.
    convenience init(on loop: any EventLoop, _ limits: DeviceLimits = DeviceLimits()) {
        self.init(
            role: .client, name: "tester", address: nil, service: nil, elements: ElementTable(Lamp.all),
            executor: LoopExecutor(on: loop), limits: limits, logger: ServiceConfiguration().logger)
    }

    /// Queues a value, as the device does once its connection is ready.
    func queue(_ element: ElementDefinition, _ value: [UInt8]) {
        value.withUnsafeBytes { value in outbound.withLock { $0.appendCurrent(element.id, value) } }
    }
}
