#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The encoding of a connection's messages.
public struct HubProtocol: Sendable, CustomStringConvertible {
    let codec: any HubCodec

    /// JSON text, which every hub speaks.
    ///
    /// `Data` is base64 and `Date` is ISO 8601, as .NET writes them.
    public static let json = json(encoder: .hub, decoder: .hub)

    /// JSON text with your own encoder and decoder.
    public static func json(encoder: JSONEncoder, decoder: JSONDecoder) -> HubProtocol {
        HubProtocol(codec: JSONCodec(encoder: encoder, decoder: decoder))
    }

    /// MessagePack, which is binary and shorter. Server-sent events cannot carry it, only text.
    ///
    /// Structures are maps keyed by member name, `Data` and `[UInt8]` are binary, `Date` is a timestamp.
    public static let messagePack = HubProtocol(codec: MessagePackCodec())

    /// The name in the handshake.
    public var description: String { codec.name }
}

extension JSONEncoder {
    static var hub: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(date))
        }
        return encoder
    }
}

extension JSONDecoder {
    /// Decodes values as .NET writes them: its dates have up to seven fractional digits of a second, or none.
    static var hub: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            let styles = [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()]
            for style in styles {
                if let date = try? style.parse(text) { return date }
            }
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "'\(text)' is not an ISO 8601 date"))
        }
        return decoder
    }
}
