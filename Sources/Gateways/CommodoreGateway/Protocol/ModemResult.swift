/// A result from the modem to the Commodore: `code · length · bytes`, with at most 255 bytes.
package enum ModemResult: Sendable, Hashable {
    /// A command succeeded.
    case ok
    /// A command failed, for the reason in an ASCII text.
    case error(String)
    /// A message received over the connection.
    case data([UInt8])
    /// The connection was opened.
    case connected
    /// The connection failed or was closed.
    case disconnected

    package static let maximumByteCount = 255

    // The texts of the modem's firmware, which programs may compare.
    static let invalidCommand = ModemResult.error("Invalid command")
    static let emptySSID = ModemResult.error("Empty SSID")
    static let malformedURL = ModemResult.error("Malformed URL")
    static let sendFailed = ModemResult.error("Send failed")

    /// The encoded result, truncated to the maximum length as the firmware does it.
    package var bytes: [UInt8] {
        switch self {
        case .ok: Self.frame(1, [])
        case .error(let text): Self.frame(2, Array(text.utf8))
        case .data(let bytes): Self.frame(3, bytes)
        case .connected: Self.frame(4, Array("Connected".utf8))
        case .disconnected: Self.frame(4, Array("Disconnected".utf8))
        }
    }

    static func frame(_ code: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        let bytes = bytes.prefix(maximumByteCount)
        return [code, UInt8(bytes.count)] + bytes
    }
}
