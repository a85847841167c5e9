import Elemental
internal import ElementalFollowing
internal import NIOCore
internal import OSC
internal import Support

// Packets from surfaces.
extension BridgeCore {
    /// The maximum number of messages in bundles that wait for their time.
    static let mostTimed = 4096
    /// The maximum bytes of their datagrams.
    static let mostTimedBytes = 4 << 20
    /// The maximum wait of a bundle in nanoseconds. A longer one results from a wrong clock.
    static let longestWait: UInt64 = 60_000_000_000

    func receive(_ bytes: ByteBuffer, from address: SocketAddress, _ channel: any Channel) {
        guard surfaces.admits(address) else { return }
        let packet: OSCPacket
        var unknownMessages = 0
        do throws(OSCError) {
            // A bundle may have to wait. It is copied, so that its parts do not retain the socket's whole buffer.
            let isBundle = bytes.readableBytesView.first == UInt8(ascii: "#")
            let content = isBundle ? ByteBuffer(bytes: bytes.readableBytesView) : bytes
            packet = try OSCPacket(reading: content, unknownMessages: &unknownMessages)
        } catch {
            // A sender of invalid packets does not become a surface, unless it is one already.
            if let surface = surfaces[address] {
                invalid(error, surface)
            } else {
                emitRarely(.invalid(surface: address.text, reason: error.reason))
            }
            return
        }
        let surface = surfaces.surface(at: address, channel, byteCount: bytes.readableBytes)
        if unknownMessages > 0 { invalid(.typeTags, surface) }
        perform(packet, of: bytes.readableBytes, from: surface)
    }

    private func invalid(_ error: OSCError, _ surface: Surface) {
        guard !surface.wasToldInvalid else { return }
        surface.wasToldInvalid = true
        tell(.invalid(surface: surface.name, reason: error.reason), of: surface)
    }

    /// Returns how long a bundle waits for its time, in nanoseconds; `nil` if it is too far ahead.
    ///
    /// Senders whose clock counts from boot, 1970 or 2001 send times whose highest bit is 0. Such a time means a date
    /// after 2036, or OSC's first years. It is taken as the latter, and due at once, unless it is within a day from
    /// now.
    static func wait(for time: OSCTimeTag, at clock: UInt64) -> UInt64? {
        let due = time.unixNanoseconds
        guard time != .immediately, due > clock else { return 0 }
        let wait = due - clock
        if wait <= longestWait { return wait }
        return time.rawValue >> 63 == 0 && wait > 86_400_000_000_000 ? 0 : nil
    }

    /// - Parameter byteCount: the size of the datagram that contains the packet.
    private func perform(_ packet: OSCPacket, of byteCount: Int, from surface: Surface) {
        switch packet {
        case .message(let message): perform(message, from: surface)
        case .bundle(let time, let packets):
            let now = loop.now
            guard let wait = Self.wait(for: time, at: WallClock.nanoseconds) else {
                return overload(
                    "a bundle is due in more than a minute; set the clocks of this machine and the surface")
            }
            guard wait > 0 else {
                for packet in packets { perform(packet, of: byteCount, from: surface) }
                return
            }
            let count = max(packets.reduce(0) { $0 + $1.messageCount }, 1)
            guard timedCount + count <= Self.mostTimed else {
                return overload("more than \(Self.mostTimed) messages of bundles are waiting; some were dropped")
            }
            guard timedByteCount + byteCount <= Self.mostTimedBytes else {
                return overload("more than \(Self.mostTimedBytes >> 20) MiB of bundles are waiting; some were dropped")
            }
            timedCount += count
            timedByteCount += byteCount
            loop.assumeIsolated().scheduleTask(deadline: now + .nanoseconds(Int64(wait))) { [weak self] in
                guard let self else { return }
                timedCount -= count
                timedByteCount -= byteCount
                for packet in packets { perform(packet, of: byteCount, from: surface) }
            }
        }
    }

    private func perform(_ message: OSCMessage, from surface: Surface) {
        if let place = addresses[message.address] {
            set(place.position, of: place.service, message.arguments, from: surface)
        } else if OSCAddressPattern.isPattern(message.address) {
            performAll(message, from: surface)
        } else {
            unknown(message.address, surface)
        }
    }

    /// The cost of a match besides the matching, in steps of matching: the value is created, sent and reported.
    private static let costOfMatch = 256

    /// Performs a message at all addresses that its pattern matches, within the rate limit for the patterns of all
    /// surfaces.
    private func performAll(_ message: OSCMessage, from surface: Surface) {
        guard let pattern = OSCAddressPattern(message.address), pattern.levels.count == 2 else {
            return unknown(message.address, surface)
        }
        let now = loop.now
        func mayTake(_ level: OSCAddressPattern.Level, _ text: String) -> Bool {
            matching.take(level.stepCount * (text.utf8.count + 1), at: now)
        }
        let tooMuch = "address patterns match too many elements; some were skipped"
        var hasMatched = false
        for service in services.values {
            guard mayTake(pattern.levels[0], service.own.level) else { return overload(tooMuch) }
            guard pattern.levels[0].matches(service.own.level) else { continue }
            for (position, element) in service.elements.enumerated() {
                guard mayTake(pattern.levels[1], element.level) else { return overload(tooMuch) }
                guard pattern.levels[1].matches(element.level) else { continue }
                hasMatched = true
                guard matching.take(Self.costOfMatch, at: now) else { return overload(tooMuch) }
                // A pattern with arguments addresses only the elements that can be set.
                if !message.arguments.isEmpty, !element.writes { continue }
                set(position, of: service, message.arguments, from: surface)
                // The sender's address may be forged, so one answer is enough.
                if message.arguments.isEmpty, surface.proof == .none { return }
            }
        }
        if !hasMatched { unknown(message.address, surface) }
    }

    /// Sets an element, or answers a request for its value.
    func set(_ position: Int, of service: BridgedService, _ arguments: [OSCArgument], from surface: Surface) {
        let element = service.elements[position]
        guard !arguments.isEmpty else { return answer(surface, position, service) }
        do throws(ElementalError) {
            guard options.setsElements else {
                throw ElementalError(.notAllowed, "this bridge is read-only; start it with --control to set elements")
            }
            guard element.writes else { throw ElementalError(.notAllowed, "it can only be read") }
            guard let device = service.device else {
                throw ElementalError(.notConnected, "the service is not connected")
            }
            let value = try element.definition.value(oscArguments: arguments)
            surfaces.note(.set, of: surface)
            surfaces.noteMotion(of: service.motionKey(position), to: value, by: surface)
            if !service.sent.send(value, of: element.definition, by: device) {
                tellOnce(.dropped, "dropped in", position, isForService: true, service)
            }
        } catch {
            refuse(error, position, service)
            // Corrects the surface, which still shows the refused value.
            answer(surface, position, service)
        }
    }

    func refuse(_ reason: any Error, _ position: Int, _ service: BridgedService) {
        tellOnce(.notPassed(reason), "\(reason)", position, isForService: true, service)
    }

    private func unknown(_ address: String, _ surface: Surface) {
        guard !surface.wasToldUnknown else { return }
        surface.wasToldUnknown = true
        tell(.unknownAddress(surface: surface.name, address), of: surface)
    }

    private func overload(_ reason: String) { emitRarely(.overloaded(reason: reason)) }

    private func tell(_ event: OSCBridgeEvent, of surface: Surface) {
        if surface.proof == .none { emitRarely(event) } else { emit(event) }
    }

    /// Emits an event that a flood would repeat, at most once in ten seconds.
    private func emitRarely(_ event: OSCBridgeEvent) {
        let now = loop.now
        guard nextOverload <= now else { return }
        nextOverload = now + .seconds(10)
        emit(event)
    }
}

extension OSCPacket {
    fileprivate var messageCount: Int {
        switch self {
        case .message: 1
        case .bundle(_, let packets): packets.reduce(1) { $0 + $1.messageCount }
        }
    }
}

extension OSCError {
    fileprivate var reason: String {
        switch self {
        case .length: "its length is not a multiple of four"
        case .beginning: "it begins with neither a slash nor #bundle"
        case .truncated: "it is truncated"
        case .text: "it has an unterminated text, or one that is not UTF-8"
        case .typeTags: "it has types that are not in OSC 1.0"
        case .excess: "it is longer than its types require"
        case .limit: "it is nested too deeply, or has too many parts"
        }
    }
}
