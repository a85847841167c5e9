/// A command from the Commodore to its modem: `code · length · bytes`, with at most 255 bytes.
package enum ModemCommand: Sendable, Hashable {
    /// The name of the wireless network.
    case setSSID([UInt8])
    /// Its password.
    case setPassword([UInt8])
    /// Join the network.
    case startWiFi
    /// Leave the network, and close the connection.
    case stopWiFi
    /// Connect to an address.
    case startWebSocket([UInt8])
    /// Send a message over the connection.
    case send([UInt8])

    static let codes: ClosedRange<UInt8> = 1...6
    package static let maximumByteCount = ModemResult.maximumByteCount

    init?(code: UInt8, bytes: [UInt8]) {
        switch code {
        case 1: self = .setSSID(bytes)
        case 2: self = .setPassword(bytes)
        case 3: self = .startWiFi
        case 4: self = .stopWiFi
        case 5: self = .startWebSocket(bytes)
        case 6: self = .send(bytes)
        default: return nil
        }
    }

    /// The encoded command, truncated to the maximum length.
    package var bytes: [UInt8] {
        switch self {
        case .setSSID(let bytes): ModemResult.frame(1, bytes)
        case .setPassword(let bytes): ModemResult.frame(2, bytes)
        case .startWiFi: ModemResult.frame(3, [])
        case .stopWiFi: ModemResult.frame(4, [])
        case .startWebSocket(let bytes): ModemResult.frame(5, bytes)
        case .send(let bytes): ModemResult.frame(6, bytes)
        }
    }
}
