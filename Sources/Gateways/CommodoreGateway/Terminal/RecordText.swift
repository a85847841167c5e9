import Elemental
import PETSCII

/// The text form of a record, for the user.
package enum RecordText {
    /// - Parameter isCommand: whether the record was sent to the modem.
    package static func name(_ record: [UInt8], isCommand: Bool) -> String {
        let names =
            isCommand
            ? ["SET_SSID", "SET_PASS", "START_WIFI", "STOP_WIFI", "START_WEBSOCKET", "WEBSOCKET_SEND"]
            : ["OK", "ERROR", "DATA", "WS"]
        guard let code = record.first, names.indices.contains(Int(code) - 1) else { return "unknown" }
        return names[Int(code) - 1]
    }

    package static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: " ")
    }

    /// The content of a record: its envelopes if it has some, or else its text.
    package static func content(_ record: [UInt8]) -> String {
        let payload = Array(record.dropFirst(2))
        guard !payload.isEmpty else { return "" }
        if record[0] == 3 || record[0] == 6, let envelopes = NativeSession.envelopes(of: payload) {
            return envelopes.map { id, value in
                let element = CommodoreElements.catalogue(allowsMemory: true)[id: id]
                let name = element?.name ?? (id == CompactCatalogue.identifier ? "catalogue" : "element \(id)")
                guard let element else { return "\(name)=\(hexadecimal(value))" }
                return "\(name)=" + text(value, element)
            }.joined(separator: " ")
        }
        return "\"" + readable(payload) + "\""
    }

    private static func text(_ bytes: ArraySlice<UInt8>, _ element: ElementDefinition) -> String {
        if element.type == .string {
            return "\"" + String(petscii: bytes, in: .lowerCase, showingControls: true) + "\""
        }
        let value = bytes.withUnsafeBytes { ElementValue(wireBytes: $0, type: element.type) }
        return value.map { "\($0)" } ?? hexadecimal(bytes)
    }

    /// The bytes as ASCII, with a dot for each byte that is not printable.
    private static func readable(_ bytes: [UInt8]) -> String {
        String(bytes.map { 0x20..<0x7F ~= $0 ? Character(Unicode.Scalar($0)) : "." })
    }
}
