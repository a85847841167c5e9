#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Blocks of base64 between BEGIN and END lines (RFC 7468), with text before the first block.
struct PEM {
    /// A block: its label and bytes.
    struct Block: Equatable {
        var label: String
        var bytes: [UInt8]
    }

    /// The lines before the first block.
    var preamble: [String] = []
    var blocks: [Block] = []

    /// The maximum size of a text to read, in bytes.
    static let maximumByteCount = 16 * 1024
    private static let lineLength = 64
    private static let begin = "-----BEGIN "
    private static let end = "-----END "
    private static let dashes = "-----"

    /// The text. Each line ends with LF.
    var text: String {
        var lines = preamble
        for block in blocks {
            lines.append(Self.begin + block.label + Self.dashes)
            let characters = Array(Data(block.bytes).base64EncodedString().utf8)
            for start in stride(from: 0, to: characters.count, by: Self.lineLength) {
                let line = characters[start..<min(start + Self.lineLength, characters.count)]
                lines.append(String(decoding: line, as: UTF8.self))
            }
            lines.append(Self.end + block.label + Self.dashes)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    init(preamble: [String], blocks: [Block]) {
        self.preamble = preamble
        self.blocks = blocks
    }

    /// Parses a text strictly: lines have at most 64 characters, base64 is canonical, and outside of blocks only empty
    /// lines may follow the first block.
    ///
    /// - Returns: `nil` for any other text.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maximumByteCount, let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        var open: (label: String, base64: String)?
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init) {
            if let (label, base64) = open {
                if line == Self.end + label + Self.dashes {
                    guard let bytes = Self.bytes(base64) else { return nil }
                    blocks.append(Block(label: label, bytes: bytes))
                    open = nil
                } else {
                    guard !line.isEmpty, line.utf8.count <= Self.lineLength else { return nil }
                    open = (label, base64 + line)
                }
            } else if line.hasPrefix(Self.begin), line.hasSuffix(Self.dashes) {
                let label = line.dropFirst(Self.begin.count).dropLast(Self.dashes.count)
                open = (String(label), "")
            } else if blocks.isEmpty {
                preamble.append(line)
            } else if !line.isEmpty {
                return nil
            }
        }
        guard open == nil else { return nil }
    }

    /// Decodes base64 that is canonical: encoding its bytes gives the same text.
    private static func bytes(_ base64: String) -> [UInt8]? {
        guard !base64.isEmpty, let data = Data(base64Encoded: base64), data.base64EncodedString() == base64 else {
            return nil
        }
        return Array(data)
    }
}
