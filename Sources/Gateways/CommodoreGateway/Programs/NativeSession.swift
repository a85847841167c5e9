import Elemental
import ElementalWire
import NIOCore
import PETSCII

/// A program that exchanges element values: the records carry whole envelopes, `id · length UInt32 · value`.
///
/// Texts are PETSCII on the line and Unicode on the network.
final class NativeSession: ProgramSession {
    let name: String
    let readsFast = true
    private(set) var wakeTime: NIODeadline?
    unowned let modem: Modem
    /// Whether the program has sent an envelope: the first one may be its catalogue.
    private var hasSpoken = false
    private var isGreeted = false

    /// How long a program may take to declare its catalogue before it gets values of the standard elements.
    private static let patience = TimeAmount.milliseconds(500)
    /// The maximum size of a value in a record, in bytes, besides the envelope's 5 bytes.
    static let maximumValueByteCount = ModemResult.maximumByteCount - Envelope.streamByteCount
    static let maximumMemoryByteCount = maximumValueByteCount - 2

    init(name: String, modem: Modem) {
        self.name = name
        self.modem = modem
    }

    func open(at now: NIODeadline) {
        modem.connected(self)
        wakeTime = now + Self.patience
    }

    func wake(at now: NIODeadline) {
        wakeTime = nil
        if modem.machineElements == modem.standardElements { greet(now) }
    }

    // MARK: From the machine

    func receive(_ message: [UInt8], at now: NIODeadline) -> ModemResult {
        guard var envelopes = Self.envelopes(of: message) else { return .error("Malformed envelope") }
        if !hasSpoken {
            do throws(CompactCatalogue.Problem) {
                modem.machineElements =
                    envelopes[0].id == CompactCatalogue.identifier
                    ? try CompactCatalogue.elements(in: envelopes.removeFirst().value, besides: modem.ownElements)
                    : modem.standardElements
            } catch {
                return .error("Catalogue: \(error.text)")
            }
            hasSpoken = true
        }
        // All or nothing: the answer is for the whole record.
        var values: [(ElementDefinition, ElementValue)] = []
        for envelope in envelopes {
            guard envelope.id != CompactCatalogue.identifier else { return .error("Catalogue too late") }
            guard let element = modem.machineElements.first(where: { $0.id == envelope.id }) else {
                return .error("Unknown element \(envelope.id)")
            }
            guard element.access.contains(.read) else { return .error("Element \(envelope.id) is write-only") }
            guard let value = value(envelope.value, of: element) else { return .error("Wrong value \(envelope.id)") }
            values.append((element, value))
        }
        // Values that clients set before the program connected replace the program's initial ones.
        let wishes = isGreeted ? [:] : modem.state
        greet(now)
        for (element, value) in values where wishes[element.id] == nil { modem.publish(value, of: element) }
        return .ok
    }

    /// The envelopes of a record, or nil if they do not fill it exactly.
    static func envelopes(of message: [UInt8]) -> [(id: Int8, value: ArraySlice<UInt8>)]? {
        var envelopes: [(id: Int8, value: ArraySlice<UInt8>)] = []
        var rest = ByteBuffer(bytes: message)
        while let id = rest.readInteger(as: Int8.self) {
            guard let length = rest.readInteger(endianness: .little, as: UInt32.self),
                let value = rest.readBytes(length: Int(length))
            else { return nil }
            envelopes.append((id, value[...]))
        }
        return envelopes.isEmpty ? nil : envelopes
    }

    private func value(_ bytes: ArraySlice<UInt8>, of element: ElementDefinition) -> ElementValue? {
        if element.type == .string { return .string(String(petscii: bytes, in: modem.configuration.characterSet)) }
        guard let value = bytes.withUnsafeBytes({ ElementValue(wireBytes: $0, type: element.type) }) else { return nil }
        return element.allows(value) ? value : nil
    }

    // MARK: To the machine

    func take(_ value: ElementValue, of element: ElementDefinition, from client: String, at now: NIODeadline) -> Taken {
        // Until the program's first envelope, the elements may be those of another program.
        guard hasSpoken || modem.machineElements == modem.standardElements else { return .unwanted }
        // The greeting will contain the value.
        if element.latest, !isGreeted { return .queued }
        return send(value, of: element, now)
    }

    private func greet(_ now: NIODeadline) {
        guard !isGreeted else { return }
        isGreeted = true
        wakeTime = nil
        for element in modem.machineElements {
            if let value = modem.state[element.id] { _ = send(value, of: element, now) }
        }
    }

    private func send(_ value: ElementValue, of element: ElementDefinition, _ now: NIODeadline) -> Taken {
        switch (value, element.id) {
        case (.string(let text), _):
            return send(text: [UInt8](petscii: text, in: modem.configuration.characterSet), of: element, now)
        case (.data(let bytes), CommodoreElements.memoryWrite.id) where isStandard(element):
            return write(Array(bytes), element, now)
        case (.data(let bytes), CommodoreElements.memoryRead.id) where isStandard(element):
            guard bytes.count == 3, let count = bytes.last, 1...Self.maximumMemoryByteCount ~= Int(count) else {
                return .refused("memoryRead takes an address of 2 bytes and a count of 1 to 248")
            }
            return send(Array(bytes), of: element, now)
        default:
            guard value.wireByteCount <= Self.maximumValueByteCount else {
                return .refused("a value must have at most \(Self.maximumValueByteCount) bytes on the line")
            }
            return send(value.wireBytes, of: element, now)
        }
    }

    private func isStandard(_ element: ElementDefinition) -> Bool { modem.standardElements.contains(element) }

    private func send(text: [UInt8], of element: ElementDefinition, _ now: NIODeadline) -> Taken {
        guard !element.latest || text.count <= Self.maximumValueByteCount else {
            return .refused("a text of this element cannot be split, so it must have at most 250 characters")
        }
        var rest = text[...]
        repeat {
            guard case .queued = send(Array(rest.prefix(Self.maximumValueByteCount)), of: element, now) else {
                return .queueFull
            }
            rest = rest.dropFirst(Self.maximumValueByteCount)
        } while !rest.isEmpty
        return .queued
    }

    /// Memory is written in pieces, each with its own address.
    private func write(_ bytes: [UInt8], _ element: ElementDefinition, _ now: NIODeadline) -> Taken {
        guard bytes.count > 2 else { return .refused("memoryWrite takes an address of 2 bytes and the bytes to write") }
        var address = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
        guard Int(address) + bytes.count - 2 <= 0x10000 else { return .refused("the memory ends at $FFFF") }
        var rest = bytes.dropFirst(2)
        while !rest.isEmpty {
            let piece = rest.prefix(Self.maximumMemoryByteCount)
            let taken = send([UInt8(truncatingIfNeeded: address), UInt8(address >> 8)] + piece, of: element, now)
            guard case .queued = taken else { return taken }
            rest = rest.dropFirst(piece.count)
            address &+= UInt16(piece.count)
        }
        return .queued
    }

    private func send(_ value: [UInt8], of element: ElementDefinition, _ now: NIODeadline) -> Taken {
        let header: [UInt8] = [UInt8(bitPattern: element.id), UInt8(value.count), 0, 0, 0]
        let item = OutputQueue.Item(
            bytes: header + value, latest: element.latest ? element.id : nil, sharesRecord: true, time: now)
        return modem.send(item, from: self) ? .queued : .queueFull
    }
}
