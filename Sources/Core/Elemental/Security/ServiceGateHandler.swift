import ElementalSecurity
import ElementalWire
import Logging
import NIOCore
import NIOSSL
import NIOTLS
import Support

/// The last handler of an accepted connection until it has a session.
///
/// The first bytes of a plain client go to a plain session; a ClientHello goes to TLS, which is added below. The bytes
/// that TLS decrypts are the client's request.
final class ServiceGateHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Phase {
        case firstBytes(ByteBuffer?)
        case handshake
        case admission(ServiceAdmission)
        case closing
        case over
    }

    private let gate: ServiceGate
    private let id: ObjectIdentifier
    private var phase = Phase.firstBytes(nil)
    private var context: ChannelHandlerContext?
    private var silenceTimer: Scheduled<Void>?
    private var timer: Scheduled<Void>?
    private var attemptTimer: Scheduled<Void>?
    private var byteLimit: ByteLimitHandler?

    init(_ gate: ServiceGate, _ id: ObjectIdentifier) {
        self.gate = gate
        self.id = id
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        let eventLoop = context.eventLoop.assumeIsolated()
        silenceTimer = eventLoop.scheduleTask(in: ServiceGate.silence) { [self] in
            if case .firstBytes(nil) = phase { beginPlain() }
        }
        timer = eventLoop.scheduleTask(in: gate.timeout) { [self] in drop("it took too long") }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        switch phase {
        case .firstBytes(var earlier):
            earlier.setOrWriteBuffer(&bytes)
            guard let received = earlier else { return }
            phase = .firstBytes(received)
            switch FirstBytes(received.readableBytesView) {
            case .undecided: return
            case .plain: beginPlain()
            case .tls: beginTLS()
            }
        case .handshake: drop("bytes arrived before the handshake was complete")
        case .admission:
            bytes.withUnsafeReadableBytes { bytes in advance { $0.receive(bytes, &$1, at: .now) } }
        case .closing, .over: return
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let negotiated): beginAdmission(negotiated)
        case is TLSUserEvent: break
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { drop(ByteChannel.reason(error)) }

    func close() {
        let context = context
        finish()
        context?.close(promise: nil)
    }

    private func drop(_ reason: @autoclosure () -> String) {
        if case .over = phase { return }
        gate.logger.debug(
            "connection dropped before it was authorised",
            metadata: ["address": "\(address)", "reason": "\(reason())"])
        close()
    }

    private var address: String { context?.remoteAddress?.text ?? "unknown" }

    private func finish() {
        advance { $0.disconnected(&$1, at: .now) }
        phase = .over
        silenceTimer?.cancel()
        timer?.cancel()
        attemptTimer?.cancel()
        gate.remove(id)
    }

    private func beginPlain() {
        guard case .firstBytes(let received) = phase else { return }
        begin(for: nil, received: received)
    }

    private func begin(for client: AuthorisedClient?, received: ByteBuffer?) {
        guard let context else { return }
        gate.admit(id, client)
        finish()
        do {
            if let byteLimit { context.pipeline.syncOperations.removeHandler(byteLimit).whenFailure { _ in } }
            try gate.begin(context.channel, for: client)
        } catch {
            gate.logger.debug("no session", metadata: ["address": "\(address)", "error": "\(error)"])
            return context.close(promise: nil)
        }
        if let received, received.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(received))
            context.fireChannelReadComplete()
        }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func beginTLS() {
        guard let context, case .firstBytes(let received?) = phase else { return }
        // Excess handshakes are refused before they cost more than their bytes.
        guard gate.limits.beginHandshake(id) else { return drop("there are too many handshakes") }
        silenceTimer?.cancel()
        phase = .handshake
        let pipeline = context.pipeline.syncOperations
        do {
            let byteLimit = ByteLimitHandler(AdmissionReader.maximumByteCount)
            try pipeline.addHandlers(
                [byteLimit, DirectWriteHandler(), try gate.tls.makeServerHandler()], position: .before(self))
            self.byteLimit = byteLimit
        } catch {
            return drop("TLS cannot begin: \(ByteChannel.reason(error))")
        }
        pipeline.fireChannelRead(NIOAny(received))
        pipeline.fireChannelReadComplete()
    }

    private func beginAdmission(_ negotiated: String?) {
        guard let context, case .handshake = phase else { return }
        guard negotiated == TLSIdentity.applicationProtocol else { return drop("it does not support elemental/1") }
        guard let fingerprint = TLSIdentity.fingerprint(of: context.pipeline) else {
            return drop("it did not prove an identity")
        }
        phase = .admission(gate.makeAdmission(of: fingerprint, on: context.channel))
    }

    private func advance(_ body: (inout ServiceAdmission, inout PairingWindow) -> [ServiceAdmission.Action]) {
        guard case .admission(var admission) = phase else { return }
        let actions = body(&admission, &gate.window)
        phase = .admission(admission)
        attemptTimer?.cancel()
        for action in actions { perform(action) }
        guard case .admission = phase, let deadline = admission.deadline, let context else { return }
        attemptTimer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(deadline - .now)) { [self] in
            advance { $0.update(&$1, at: .now) }
        }
    }

    private func perform(_ action: ServiceAdmission.Action) {
        guard let context else { return }
        switch action {
        case .send(let bytes):
            context.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
        case .store(let client):
            gate.store(client).assumeIsolated().whenComplete { [self] result in
                advance { admission, _ in admission.stored(result.mapError(AdmissionRefusal.init(storing:))) }
            }
        case .revoke(let fingerprint, let admin):
            gate.limits.reserve(id)
            gate.revoke(fingerprint, by: admin).assumeIsolated().whenComplete { [self] result in
                advance { admission, _ in admission.revoked(result.mapError(AdmissionRefusal.init(storing:))) }
            }
        case .windowChanged:
            if gate.windowChanged() { gate.limits.reserve(id) }
        case .authorised(let client):
            gate.limits.reserve(id)
            begin(for: client, received: ByteBuffer(bytes: client.remainder))
        case .refused(let refusal):
            gate.logger.info(
                "client not admitted", metadata: ["address": "\(address)", "reason": "\(refusal.sentence)"])
        case .close:
            phase = .closing
            // A client that has read everything closes the other side.
            context.closeBehindWrites(mode: .output)
        }
    }
}

extension AdmissionRefusal {
    /// Hides from the client where and how this machine keeps its files.
    fileprivate init(storing error: any Error) {
        guard let error = error as? SecurityError else {
            self = .notStored
            return
        }
        switch error.code {
        case .alreadyPinned: self.init(.nameTaken, error.message)
        case .full, .invalidPeer, .ownKey, .unknownPeer: self.init(.failed, error.message)
        default: self = .notStored
        }
    }
}

enum FirstBytes: Equatable {
    case tls
    case plain
    case undecided

    /// The header of a TLS record (RFC 8446, 5.1) and the type of its first message. Two bytes are not enough:
    /// `16 03 00 00 00` is a valid frame of element 22.
    private static let clientHello: [ClosedRange<UInt8>] = [0x16...0x16, 3...3, 1...4, 0...0x40, 0...0xff, 1...1]
    private static let recordByteCounts = 1...16_384

    init(_ bytes: some Collection<UInt8>) {
        let head = Array(bytes.prefix(Self.clientHello.count))
        let isLengthValid = head.count < 5 || Self.recordByteCounts.contains(Int(head[3]) << 8 | Int(head[4]))
        guard isLengthValid, zip(head, Self.clientHello).allSatisfy({ $1.contains($0) }) else {
            self = .plain
            return
        }
        self = head.count < Self.clientHello.count ? .undecided : .tls
    }
}

/// Limits what a peer may send before it is authorised. It is below TLS, so that the handshake counts too.
final class ByteLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var remaining: Int

    init(_ maximumByteCount: Int) { remaining = maximumByteCount }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard remaining >= 0 else { return }
        remaining -= unwrapInboundIn(data).readableBytes
        guard remaining >= 0 else { return context.channel.close(promise: nil) }
        context.fireChannelRead(data)
    }
}
