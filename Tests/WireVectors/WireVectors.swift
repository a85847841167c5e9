import Foundation

/// Frames recorded from the ElementalController implementation of 2019-2021.
public struct WireVectors: Decodable, Sendable {
    /// A frame that its server echoed: its handler set and sent the same element.
    public struct Echo: Decodable, Sendable, CustomStringConvertible {
        public let id: Int8
        public let type: String
        public let frame: String
        public let value: Value

        public var bytes: [UInt8] { WireVectors.bytes(frame) }
        public var description: String { "\(type) \(frame)" }
    }

    /// A recorded value: a number, a text, a truth value or a list of numbers.
    public enum Value: Decodable, Sendable {
        case number(Double)
        case text(String)
        case truth(Bool)
        case list([Double])

        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let truth = try? container.decode(Bool.self) {
                self = .truth(truth)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let list = try? container.decode([Double].self) {
                self = .list(list)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        /// The value as a person would type it.
        public var typed: String {
            switch self {
            case .number(let number): number == number.rounded() ? String(Int64(number)) : String(number)
            case .text(let text): text
            case .truth(let truth): String(truth)
            case .list(let list): list.map { String($0) }.joined(separator: ",")
            }
        }
    }

    /// An odd input that the older server tolerates, and the frame that shows that it continued.
    public struct Tolerated: Decodable, Sendable, CustomStringConvertible {
        public let sent: String
        public let then: String
        public let echoed: String
        public let means: String

        public var description: String { means }
    }

    public struct OnAccept: Decodable, Sendable { public let serverSends: String }
    public struct ClientHello: Decodable, Sendable { public let clientSends: String }
    public struct Datagram: Decodable, Sendable {
        public let id: Int8
        public let udpIdentifier: UInt8
        public let value: Double
        public let datagram: String
    }

    public let onAccept: OnAccept
    public let clientHello: ClientHello
    public let tcpEchoes: [Echo]
    public let udpDatagram: Datagram
    public let tolerated: [Tolerated]

    /// The recorded frames.
    public static let recorded: WireVectors = {
        do {
            return try JSONDecoder().decode(WireVectors.self, from: Data(PackageResources.vectors_json))
        } catch {
            preconditionFailure("vectors.json cannot be read: \(error)")
        }
    }()

    /// Bytes from hexadecimal digits.
    public static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count, by: 2).map { index in
            guard let byte = UInt8(String(digits[index...index + 1]), radix: 16) else {
                preconditionFailure("no hexadecimal digits: \(hex)")
            }
            return byte
        }
    }
}
