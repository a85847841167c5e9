import ElementalWire
import NIOCore
import NIOFoundationEssentialsCompat

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

enum PageRequest: Sendable, Equatable {
    /// The first message, with the token if the page has one.
    case hello(token: String?)
    /// The services whose values the page wants from now on.
    case open(Set<UInt32>)
    /// Whether the page shows the list of services, with each one's summary values.
    case list(Bool)
    /// Sets an element; a refusal returns the number. If the page closes before it sets the element again, the element
    /// gets the rest value.
    case set(service: UInt32, element: Int8, PageValue, rest: PageValue?, number: Int?)
    /// Holds an element: from then on only this page moves it.
    case grip(service: UInt32, element: Int8, rest: PageValue?, number: Int?)
    /// Moves elements that the page holds; the answer returns the number.
    case move([Move], number: Int)
    /// Sets all elements that the page holds to their rest values.
    case rest
    /// Lets go of all elements that the page holds, after setting them to their rest values.
    case letGo
    /// Pairs with a service by the code that it shows, under the given name or the page's usual one.
    case pair(service: UInt32, code: String, name: String?, number: Int?)
    /// Asks for an element's values of the last seconds, for its plot.
    case past(service: UInt32, element: Int8, seconds: Int)
    case ping(Int?)

    static let maximumOpenCount = 1024
    static let maximumMoveCount = 16
    static let maximumPastSeconds = 24 * 3600

    struct Move: Sendable, Equatable, Decodable {
        let service: UInt32
        let element: Int8
        let value: PageValue

        init(service: UInt32, element: Int8, value: PageValue) {
            self.service = service
            self.element = element
            self.value = value
        }

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            service = try container.decode(UInt32.self)
            element = try container.decode(Int8.self)
            value = try container.decode(PageValue.self)
        }
    }

    /// Decodes a message of a page; `nil` for an invalid one, which ends the connection.
    init?(_ text: ByteBuffer) {
        guard let fields = try? JSONDecoder().decode(Fields.self, from: Data(buffer: text)) else { return nil }
        switch fields.t {
        case "hello": self = .hello(token: fields.token)
        case "open":
            guard let keys = fields.keys, keys.count <= Self.maximumOpenCount else { return nil }
            self = .open(Set(keys))
        case "list":
            guard let isShown = fields.on else { return nil }
            self = .list(isShown)
        case "set":
            guard let key = fields.key, let id = fields.id, id >= 0, let value = fields.value else { return nil }
            self = .set(service: key, element: id, value, rest: fields.rest, number: fields.n)
        case "grip":
            guard let key = fields.key, let id = fields.id, id >= 0 else { return nil }
            self = .grip(service: key, element: id, rest: fields.rest, number: fields.n)
        case "move":
            guard let moves = fields.v, moves.count <= Self.maximumMoveCount, let number = fields.n else { return nil }
            self = .move(moves, number: number)
        case "rest": self = .rest
        case "letGo": self = .letGo
        case "pair":
            guard let key = fields.key, let code = fields.code else { return nil }
            self = .pair(service: key, code: code, name: fields.name, number: fields.n)
        case "past":
            guard let key = fields.key, let id = fields.id, id >= 0, let seconds = fields.seconds,
                (1...Self.maximumPastSeconds).contains(seconds)
            else { return nil }
            self = .past(service: key, element: id, seconds: seconds)
        case "ping": self = .ping(fields.n)
        default: return nil
        }
    }

    private struct Fields: Decodable {
        let t: String
        let token: String?
        let keys: [UInt32]?
        let on: Bool?
        let key: UInt32?
        let id: Int8?
        let value: PageValue?
        let rest: PageValue?
        let v: [Move]?
        let code: String?
        let name: String?
        let seconds: Int?
        let n: Int?
    }
}

/// A value as a page sends it.
enum PageValue: Sendable, Equatable, Decodable {
    case bool(Bool)
    case number(Double)
    /// A string, or the digits of a 64-bit integer.
    case text(String)
    case list([Double])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else {
            self = .list(try container.decode([Double].self))
        }
    }

    /// - Throws: ``WireError`` that describes the accepted values.
    func elementValue(of element: ElementDefinition) throws(WireError) -> ElementValue {
        guard element.type != .data else {
            throw WireError(.invalidText, "data cannot be set from this page")
        }
        if element.type == .string {
            guard case .text(let text) = self else { throw WireError(.invalidText, "enter a text") }
            return .string(text)
        }
        return try ElementValue(text: text, type: element.type)
    }

    /// The value in the form in which a user types it.
    private var text: String {
        switch self {
        case .bool(let value): value ? "true" : "false"
        case .number(let number): Self.text(number)
        case .text(let text): text
        case .list(let numbers): numbers.map(Self.text).joined(separator: ",")
        }
    }

    /// Whole numbers have no fraction, as in integers. A `Double` represents all integers up to 2^53.
    private static func text(_ number: Double) -> String {
        number.magnitude <= 0x1p53 && number == number.rounded() ? "\(Int64(number))" : "\(number)"
    }
}
