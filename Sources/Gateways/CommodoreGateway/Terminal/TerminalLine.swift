import Elemental

/// A command typed at the terminal, as bytes for the line.
package enum TerminalLine {
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
    }

    package static let help = [
        "ssid TEXT      SET_SSID", "pass TEXT      SET_PASS", "wifi           START_WIFI", "stop           STOP_WIFI",
        "connect TEXT   START_WEBSOCKET, such as: connect elemental:test",
        "send TEXT      WEBSOCKET_SEND with the text as ASCII",
        "send $HEX      WEBSOCKET_SEND with bytes, such as: send $01 7B 7D",
        "value ID $HEX  WEBSOCKET_SEND with an element's value, such as: value 5 $10",
        "raw $HEX       sends the bytes unchanged, such as: raw $06 05 41", "help           shows this list",
    ]

    package static func bytes(_ line: String) throws(Problem) -> [UInt8] {
        let parts = line.split(separator: " ", maxSplits: 1)
        let rest = parts.count > 1 ? String(parts[1]) : ""
        switch parts.first?.lowercased() {
        case "ssid": return ModemCommand.setSSID(try short(Array(rest.utf8))).bytes
        case "pass": return ModemCommand.setPassword(try short(Array(rest.utf8))).bytes
        case "wifi": return ModemCommand.startWiFi.bytes
        case "stop": return ModemCommand.stopWiFi.bytes
        case "connect": return ModemCommand.startWebSocket(try short(Array(rest.utf8))).bytes
        case "send": return ModemCommand.send(try short(try payload(rest))).bytes
        case "raw":
            guard rest.hasPrefix("$") else { throw Problem(description: "raw takes bytes, such as: raw $06 05 41") }
            return try payload(rest)
        case "value":
            let parts = rest.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let id = Int8(parts[0]), parts[1].hasPrefix("$") else {
                throw Problem(description: "value takes an identifier and bytes, such as: value 5 $10")
            }
            let value = try payload(String(parts[1]))
            guard value.count <= NativeSession.maximumValueByteCount else {
                throw Problem(description: "a value must have at most \(NativeSession.maximumValueByteCount) bytes")
            }
            return ModemCommand.send([UInt8(bitPattern: id), UInt8(value.count), 0, 0, 0] + value).bytes
        default:
            throw Problem(description: "unknown command '\((parts.first ?? "").excerpt)'; type help for a list")
        }
    }

    private static func payload(_ text: String) throws(Problem) -> [UInt8] {
        guard text.hasPrefix("$") else { return Array(text.utf8) }
        var bytes: [UInt8] = []
        for digits in text.dropFirst().split(separator: " ") {
            // Not "0 1 2 3" for 01 23: blanks are allowed between bytes only.
            guard let group = digits.hexadecimalBytes else {
                throw Problem(
                    description:
                        "'\(text.excerpt)' is not a sequence of bytes; give two hexadecimal digits for each, as in $01 7B"
                )
            }
            bytes += group
        }
        return bytes
    }

    private static func short(_ bytes: [UInt8]) throws(Problem) -> [UInt8] {
        guard bytes.count <= ModemCommand.maximumByteCount else {
            throw Problem(description: "a command carries at most 255 bytes, not \(bytes.count)")
        }
        return bytes
    }
}
