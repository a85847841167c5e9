import ElementalWire

extension AdmissionMessage {
    /// The version of admission that this module implements.
    static let version: UInt8 = 1
    /// The maximum size of a frame in bytes, with its envelope.
    static let maximumFrameByteCount = 1024

    private enum Kind: UInt8 {
        case connect = 1, pair, offer, initiation, response, confirmation, granted
        case openWindow = 16, windowOpened, revoke, revoked
        case refused = 255
    }

    /// The message's frame with its envelope, at most 1,024 bytes.
    var frame: [UInt8] {
        var value = ValueWriter(kind: kind.rawValue)
        write(&value)
        return value.frame
    }

    private var kind: Kind {
        switch self {
        case .connect: .connect
        case .pair: .pair
        case .offer: .offer
        case .initiation: .initiation
        case .response: .response
        case .confirmation: .confirmation
        case .granted: .granted
        case .openWindow: .openWindow
        case .windowOpened: .windowOpened
        case .revoke: .revoke
        case .revoked: .revoked
        case .refused: .refused
        }
    }

    private func write(_ value: inout ValueWriter) {
        switch self {
        case .connect(let service, let role, let name):
            value.text(service ?? "")
            value.byte(role.code)
            value.text(name)
        case .pair(let service):
            value.text(service ?? "")
        case .offer(let offer):
            value.byte(offer.kind.rawValue)
            value.bytes(offer.nonce)
            value.number(offer.seconds)
            value.text(offer.service)
        case .initiation(let initiation):
            value.bytes(initiation.nonce)
            value.bytes(initiation.point)
            value.byte(initiation.role.code)
            value.text(initiation.name)
        case .response(let response):
            value.bytes(response.point)
            value.byte(response.role.code)
            value.bytes(response.tag)
        case .confirmation(let tag):
            value.bytes(tag)
        case .granted(let service, let role):
            value.byte(role.code)
            value.text(service)
        case .openWindow(let service, let seconds, let role, let kind):
            value.text(service ?? "")
            value.number(seconds)
            value.byte(role.code)
            value.byte(kind.rawValue)
        case .windowOpened(let seconds, let role, let secret):
            value.number(seconds)
            value.byte(role.code)
            value.byte(secret.kind.rawValue)
            value.bytes(secret.bytes)
        case .revoke(let service, let fingerprint):
            value.text(service ?? "")
            value.bytes(fingerprint.bytes)
        case .revoked(let pairedCount, let names):
            value.number(pairedCount)
            for name in names {
                let size = name.fingerprint.bytes.count + 1 + name.name.utf8.count
                guard value.frameByteCount + size <= Self.maximumFrameByteCount else { return }
                value.bytes(name.fingerprint.bytes)
                value.text(name.name)
            }
        case .refused(let refusal):
            value.byte(refusal.code.rawValue)
            value.text(refusal.sentence)
        }
    }

    /// Parses a frame's value. Only an exact message is accepted: fields that are too short or too long, extra bytes
    /// and unknown values are refused.
    ///
    /// - Throws: ``AdmissionRefusal/Code/malformed``, or ``AdmissionRefusal/Code/version``.
    init(wireBytes bytes: UnsafeRawBufferPointer) throws(AdmissionRefusal) {
        var value = ByteReader(bytes)
        guard let version = value.uint8(), version >= 1, let byte = value.uint8() else { throw .malformed }
        guard version == Self.version else { throw .version }
        guard let kind = Kind(rawValue: byte), let message = Self.read(kind, &value), value.isAtEnd else {
            throw .malformed
        }
        self = message
    }

    private static func read(_ kind: Kind, _ value: inout ByteReader) -> AdmissionMessage? {
        switch kind {
        case .connect:
            guard let service = value.wantedService(), let role = value.role(), let name = value.deviceName() else {
                return nil
            }
            return .connect(service: service.name, role: role, name: name)
        case .pair:
            return value.wantedService().map { .pair(service: $0.name) }
        case .offer:
            guard let kind = value.secretKind(), let nonce = value.array(PairingExchange.nonceByteCount),
                let seconds = value.uint16(), let service = value.serviceName()
            else { return nil }
            return .offer(PairingOffer(kind: kind, seconds: seconds, service: service, nonce: nonce))
        case .initiation:
            guard let nonce = value.array(PairingExchange.nonceByteCount),
                let point = value.array(PairingExchange.pointByteCount), let role = value.role(),
                let name = value.deviceName()
            else { return nil }
            return .initiation(PairingInitiation(nonce: nonce, point: point, role: role, name: name))
        case .response:
            guard let point = value.array(PairingExchange.pointByteCount), let role = value.role(),
                let tag = value.array(PairingExchange.tagByteCount)
            else { return nil }
            return .response(PairingResponse(point: point, role: role, tag: tag))
        case .confirmation:
            return value.array(PairingExchange.tagByteCount).map { .confirmation(tag: $0) }
        case .granted:
            guard let role = value.role(), let service = value.serviceName() else { return nil }
            return .granted(service: service, role: role)
        case .openWindow:
            guard let service = value.wantedService(), let seconds = value.uint16(), let role = value.role(),
                let kind = value.secretKind()
            else { return nil }
            return .openWindow(service: service.name, seconds: seconds, role: role, kind: kind)
        case .windowOpened:
            guard let seconds = value.uint16(), let role = value.role(), let kind = value.secretKind(),
                let bytes = value.array(kind.byteCount), let secret = PairingSecret(kind: kind, bytes: bytes)
            else { return nil }
            return .windowOpened(seconds: seconds, role: role, secret: secret)
        case .revoke:
            guard let service = value.wantedService(), let fingerprint = value.fingerprint() else { return nil }
            return .revoke(service: service.name, fingerprint)
        case .revoked:
            guard let pairedCount = value.uint16(), let names = value.pairedNames() else { return nil }
            return .revoked(pairedCount: pairedCount, names)
        case .refused:
            guard let code = value.uint8(), let bytes = value.countedBytes(),
                let sentence = AdmissionText.decode(bytes)
            else { return nil }
            return .refused(AdmissionRefusal(AdmissionRefusal.Code(rawValue: code), sentence))
        }
    }
}

extension ByteReader {
    fileprivate mutating func array(_ count: Int) -> [UInt8]? { bytes(count).map(Array.init) }

    /// A role that can be requested and granted. ``Role/plain`` cannot.
    fileprivate mutating func role() -> Role? { uint8().flatMap(Role.init(code:)).flatMap { $0 == .plain ? nil : $0 } }

    fileprivate mutating func secretKind() -> PairingSecret.Kind? { uint8().flatMap(PairingSecret.Kind.init) }

    fileprivate mutating func fingerprint() -> Fingerprint? { array(32).flatMap(Fingerprint.init(bytes:)) }

    private mutating func text(_ byteCounts: ClosedRange<Int>) -> String? {
        guard let bytes = countedBytes(), byteCounts.contains(bytes.count) else { return nil }
        return AdmissionText.decode(bytes)
    }

    fileprivate mutating func deviceName() -> String? { text(1...AdmissionText.maximumNameByteCount) }

    fileprivate mutating func serviceName() -> String? { text(1...AdmissionText.maximumServiceByteCount) }

    /// A service's name. The empty text stands for any service and returns a `nil` name.
    fileprivate mutating func wantedService() -> (name: String?, Void)? {
        text(0...AdmissionText.maximumServiceByteCount).map { ($0.isEmpty ? nil : $0, ()) }
    }

    /// Names up to the end.
    fileprivate mutating func pairedNames() -> [PairedName]? {
        var names: [PairedName] = []
        while !isAtEnd {
            guard let fingerprint = fingerprint(), let name = deviceName() else { return nil }
            names.append(PairedName(fingerprint: fingerprint, name: name))
        }
        return names
    }
}

/// Writes a frame field by field.
private struct ValueWriter {
    private var value: [UInt8]

    init(kind: UInt8) { value = [AdmissionMessage.version, kind] }

    mutating func byte(_ byte: UInt8) { value.append(byte) }
    mutating func bytes(_ bytes: [UInt8]) { value += bytes }
    mutating func number(_ number: UInt16) { value += [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }

    /// Writes a text of at most 255 bytes. The code that makes the message ensures the limit.
    mutating func text(_ text: String) {
        value.append(UInt8(text.utf8.count))
        value += text.utf8
    }

    var frameByteCount: Int { Envelope.streamByteCount + value.count }

    var frame: [UInt8] {
        var header = [UInt8](repeating: 0, count: Envelope.streamByteCount)
        header.withUnsafeMutableBytes { header in
            guard let start = header.baseAddress else { return }
            Envelope.writeStreamHeader(id: SystemElement.admission.rawValue, length: value.count, to: start)
        }
        return header + value
    }
}
