/// What the modem tells the Commodore: `code · length · bytes`, at most 255 of them.
package enum ModemResult: Sendable, Hashable {
    /// A command was carried out.
    case ok
    /// A command was not carried out; a text in ASCII says why.
    case error(String)
    /// A message that came over the connection.
    case data([UInt8])
    /// The connection came about.
    case connected
    /// The connection did not come about, or is over.
    case disconnected

    /// The most bytes that a result carries.
    package static let maximumByteCount = 255

    // The texts of the modem's firmware, which programs may compare.
    static let invalidCommand = ModemResult.error("Invalid command")
    static let emptySSID = ModemResult.error("Empty SSID")
    static let malformedURL = ModemResult.error("Malformed URL")
    static let sendFailed = ModemResult.error("Send failed")

    /// The result as it goes over the line. What is longer than a result can carry is cut, as the firmware does.
    package var bytes: [UInt8] {
        switch self {
        case .ok: Self.frame(1, [])
        case .error(let text): Self.frame(2, Array(text.utf8))
        case .data(let bytes): Self.frame(3, bytes)
        case .connected: Self.frame(4, Array("Connected".utf8))
        case .disconnected: Self.frame(4, Array("Disconnected".utf8))
        }
    }

    private static func frame(_ code: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        let bytes = bytes.prefix(maximumByteCount)
        return [code, UInt8(bytes.count)] + bytes
    }
}
