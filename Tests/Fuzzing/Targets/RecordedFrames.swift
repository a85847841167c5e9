import Foundation

/// The recorded frames of Tests/WireVectors/vectors.json, and what is composed of them.
struct RecordedFrames {
    /// Whole TCP frames, one or several in each.
    let streams: [[UInt8]]
    let datagrams: [[UInt8]]

    /// Reads the file: every hexadecimal text in it is a frame.
    init(path: String) throws {
        var streams: [[UInt8]] = []
        var datagrams: [[UInt8]] = []
        func gather(_ object: Any, _ key: String) {
            switch object {
            case let object as [String: Any]:
                for (key, value) in object.sorted(by: { $0.key < $1.key }) { gather(value, key) }
            case let list as [Any]: for value in list { gather(value, key) }
            case let text as String:
                guard key != "value", let bytes = Self.bytes(text) else { return }
                if key == "datagram" { datagrams.append(bytes) } else { streams.append(bytes) }
            default: break
            }
        }
        gather(try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path))), "")
        self.streams = streams
        self.datagrams = datagrams
    }

    private static func bytes(_ hexadecimal: String) -> [UInt8]? {
        let digits = Array(hexadecimal)
        guard digits.count >= 10, digits.count.isMultiple(of: 2) else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        return bytes.contains(nil) ? nil : bytes.compactMap { $0 }
    }
}
