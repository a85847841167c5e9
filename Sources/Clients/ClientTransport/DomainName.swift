/// The host of an address in the ASCII form that requests, TLS and DNS need.
///
/// FoundationEssentials percent-encodes names that are not ASCII, which no name server understands. Full Foundation
/// encodes them properly, but brings large tables of languages and calendars along.
package enum DomainName {
    /// The name with labels that are not ASCII encoded in Punycode, prefixed by `xn--`; `nil` if it cannot be a host
    /// name.
    package static func ascii(_ name: String) -> String? {
        var labels: [String] = []
        // East Asian full stops separate labels as well (IDNA).
        for label in name.split(omittingEmptySubsequences: false, whereSeparator: { ".。．｡".contains($0) }) {
            guard !label.utf8.contains(where: isForbidden) else { return nil }
            if label.utf8.allSatisfy({ $0 < 0x80 }) {
                labels.append(String(label))
            } else {
                guard !label.unicodeScalars.contains(where: { $0.properties.isWhitespace }),
                    let code = punycode(Array(label.lowercased().unicodeScalars))
                else { return nil }
                labels.append("xn--" + code)
            }
        }
        return labels.joined(separator: ".")
    }

    /// Whether a byte would end the name or change the meaning of the text around it: the URL standard's forbidden
    /// domain code points.
    private static func isForbidden(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x7F || "#%/:<>?@[\\]^|".utf8.contains(byte)
    }

    /// RFC 3492, 6.3.
    ///
    /// - Returns: `nil` for a label that is longer than the 63 bytes that the DNS allows.
    private static func punycode(_ label: [Unicode.Scalar]) -> String? {
        let (base, initialBias, initialCode) = (36, 72, 128)
        guard label.count <= 63 else { return nil }
        var output = label.filter(\.isASCII).map { UInt8($0.value) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var (code, delta, bias, handled) = (initialCode, 0, initialBias, basicCount)
        while handled < label.count {
            guard let next = label.lazy.map({ Int($0.value) }).filter({ $0 >= code }).min() else { return nil }
            delta += (next - code) * (handled + 1)
            code = next
            for scalar in label.lazy.map({ Int($0.value) }) {
                if scalar < code { delta += 1 }
                guard scalar == code else { continue }
                var rest = delta
                var position = base
                while true {
                    let threshold = min(max(position - bias, 1), 26)
                    if rest < threshold { break }
                    output.append(digits[threshold + (rest - threshold) % (base - threshold)])
                    rest = (rest - threshold) / (base - threshold)
                    position += base
                }
                output.append(digits[rest])
                bias = adapted(delta, handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            code += 1
        }
        guard output.count + 4 <= 63 else { return nil }
        return String(decoding: output, as: UTF8.self)
    }

    /// RFC 3492, 6.1.
    private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var steps = 0
        while delta > 455 {
            delta /= 35
            steps += 36
        }
        return steps + 36 * delta / (delta + 38)
    }

    private static let digits = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
}
