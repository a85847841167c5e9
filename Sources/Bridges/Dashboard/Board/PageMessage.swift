internal import Elemental
internal import ElementalFollowing
import ElementalWire
import NIOCore
import Support
internal import WebServer

/// The messages to a page: JSON objects with their kind as `t`.
enum PageMessage {
    /// A notice at the head of the page; the raw value is its name there.
    enum Notice: String {
        /// Browsing for services fails, and why.
        case discovery
        /// There are more services than the page shows.
        case excess
    }

    /// - Parameter targets: the services to which the page is limited; empty for all.
    static func hello(_ policy: BoardPolicy, host: String, targets: [String]) -> EncodedFrame {
        frame(
            "hello",
            [
                ("version", .integer(1)), ("host", .string(host)), ("control", .bool(policy.allowsControl)),
                ("pairing", .bool(policy.allowsControl)), ("why", .optional(policy.reason)),
                ("targets", .array(targets.map { .string($0) })),
            ])
    }

    static let listed = frame("listed", [])

    static func gone(_ number: UInt32) -> EncodedFrame { frame("gone", of: number, []) }

    /// - Parameter text: `nil` removes the notice.
    static func notice(_ notice: Notice, _ text: String?) -> EncodedFrame {
        frame("notice", [("kind", .string(notice.rawValue)), ("text", .optional(text))])
    }

    static func catalogue(_ elements: ElementCatalogue, of number: UInt32, _ policy: BoardPolicy) -> EncodedFrame {
        frame(
            "catalogue", of: number,
            [("elements", .array(elements.map { $0.pageText(isSettable: policy.allowsControl) }))]
        )
    }

    static func refused(_ number: UInt32, _ element: Int8, _ reason: String, request: Int?) -> EncodedFrame {
        frame(
            "refused", of: number,
            [("id", .integer(Int(element))), ("why", .string(reason)), ("n", .optional(request))])
    }

    /// Why a page no longer holds an element, by its name on the page.
    enum Release: String {
        /// Another page has taken it.
        case taken
        /// Its service has gone.
        case gone
    }

    static func released(_ place: ElementPlace, _ why: Release) -> EncodedFrame {
        frame("released", of: place.service, [("id", .integer(Int(place.element))), ("why", .string(why.rawValue))])
    }

    static func gripped(_ place: ElementPlace, isTaken: Bool, request: Int?) -> EncodedFrame {
        frame(
            "gripped", of: place.service,
            [("id", .integer(Int(place.element))), ("taken", .bool(isTaken)), ("n", .optional(request))])
    }

    /// The element was set to its rest value, because the page sent nothing.
    static func resting(_ place: ElementPlace) -> EncodedFrame {
        frame("resting", of: place.service, [("id", .integer(Int(place.element)))])
    }

    static func moved(_ request: Int) -> EncodedFrame { frame("moved", [("n", .integer(request))]) }

    static func paired(_ number: UInt32, role: String, request: Int?) -> EncodedFrame {
        frame("paired", of: number, [("role", .string(role)), ("n", .optional(request))])
    }

    /// - Parameter code: the kind of reason; for `nameTaken` the page asks for another name.
    static func notPaired(_ number: UInt32, _ reason: String, code: String?, request: Int?) -> EncodedFrame {
        frame(
            "notPaired", of: number,
            [("why", .string(reason)), ("code", .optional(code)), ("n", .optional(request))])
    }

    static func pong(_ request: Int?) -> EncodedFrame { frame("pong", [("n", .optional(request))]) }

    static func bye(_ reason: String) -> EncodedFrame { frame("bye", [("why", .string(reason))]) }

    static func quality(_ qualities: [(service: UInt32, Quality)]) -> EncodedFrame {
        let members = qualities.map { service, quality in
            let text = JSONText.object([
                ("rtt", quality.roundTrip.map { JSONText($0 / .milliseconds(1)) } ?? .null),
                ("in", JSONText(quality.received)), ("out", JSONText(quality.sent)), ("lost", .integer(quality.lost)),
            ])
            return (key: "\(service)", value: text)
        }
        return frame("quality", [("q", .object(members))])
    }

    /// The bytes of a data element: kind, service, element, bytes.
    static func data(_ bytes: some Sequence<UInt8>, of number: UInt32, _ element: Int8) -> EncodedFrame {
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt8(1))
        buffer.writeInteger(number, endianness: .little)
        buffer.writeInteger(UInt8(bitPattern: element))
        buffer.writeBytes(bytes)
        return EncodedFrame(binary: buffer)
    }

    /// The dashboard's clock in milliseconds. With it a page turns ages into times of measurement.
    static var clock: Int { Int(NIODeadline.now().uptimeNanoseconds / 1_000_000) }

    static func frame(_ kind: String, of number: UInt32, _ members: JSONText.Members) -> EncodedFrame {
        frame(kind, [("key", .integer(Int(number)))] + members)
    }

    static func frame(_ kind: String, _ members: JSONText.Members) -> EncodedFrame {
        EncodedFrame(text: ByteBuffer(string: JSONText.object([("t", .string(kind))] + members).text))
    }
}

extension PageMessage {
    static func service(_ service: BoardService, _ policy: BoardPolicy) -> EncodedFrame {
        let found = service.place?.discovered
        let address: (host: String, port: Int)? =
            if case .address(let host, let port) = service.place { (host, port) } else { nil }
        return frame(
            "service", of: service.number,
            [
                ("service", .optional(service.key.service)), ("name", .string(service.key.name)),
                ("host", .optional(found?.hostName ?? address?.host)),
                ("port", .optional(found?.port ?? address?.port)),
                ("security", .optional(found?.security?.rawValue)), ("encrypted", .bool(service.isEncrypted)),
                ("role", .optional(service.role?.rawValue)), ("state", .string(service.code)),
                ("why", .optional(service.reason(policy))),
                ("canPair", .bool(policy.allowsControl && service.canPair)),
                ("seconds", .integer(Int((ContinuousClock.now - service.since).components.seconds))),
                ("telling", .array(service.summary.map { $0.pageText(isSettable: false) })),
            ])
    }
}

extension ElementDefinition {
    func pageText(isSettable: Bool) -> JSONText {
        func number(_ number: Double) -> JSONText { .number(type.text(of: number)) }
        let choices = choices.map {
            JSONText.object([("value", $0.value.pageText ?? .null), ("name", .string($0.name))])
        }
        return .object([
            ("id", .integer(Int(id))), ("name", .string(name)), ("type", .string(type.name)),
            ("transport", .string(transport.rawValue)), ("unit", .string(unit)),
            ("range", range.map { .array([number($0.lowerBound), number($0.upperBound)]) } ?? .null),
            ("step", step.map(number) ?? .null), ("choices", choices.isEmpty ? .null : .array(choices)),
            ("access", .string(access.abbreviation)), ("kind", .string(kind.name)),
            ("history", .bool(history != nil)),
            ("settable", .bool(isSettable && type != .data && access.contains(.write))),
        ])
    }
}

extension ElementValue {
    /// The value for a page; `nil` for data, which has a message of its own. Integers of 64 bits are strings, since a
    /// JavaScript number holds only 53 bits exactly.
    var pageText: JSONText? {
        switch self {
        case .data: nil
        case .int64(let value): .string("\(value)")
        case .uint64(let value): .string("\(value)")
        default: json
        }
    }
}
