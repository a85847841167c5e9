internal import ElementalWire

/// Metrics in Prometheus' text format, version 0.0.4.
struct MetricsText {
    enum Kind: String {
        case counter, gauge, histogram
    }

    private(set) var bytes: [UInt8] = []

    /// - Parameter help: one sentence, without line breaks and backslashes.
    mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        append("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n")
    }

    mutating func add(_ name: String, _ labels: MetricLabels, _ value: String) {
        append("\(name)\(labels.text.isEmpty ? "" : "{\(labels.text)}") \(value)\n")
    }

    mutating func add(_ name: String, _ labels: MetricLabels, _ value: Int) { add(name, labels, String(value)) }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// A number as the format spells it, with the fewest digits that tell it from its neighbours.
    static func number(_ value: some BinaryFloatingPoint & LosslessStringConvertible) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value.description
    }
}

/// The labels of a sample as they are written: `service="robot",device="Rover"`.
struct MetricLabels: Sendable, Hashable {
    private(set) var text = ""

    /// The labels with another one. One without a value is left out, which means the same.
    func with(_ name: String, _ value: String) -> MetricLabels {
        guard !value.isEmpty else { return self }
        var labels = self
        if !text.isEmpty { labels.text += "," }
        labels.text += "\(name)=\"\(Self.escape(value))\""
        return labels
    }

    /// The value between its quotes. Names come from the network and may have any characters. A zero ends the text for
    /// Prometheus' own parser, so it is replaced.
    private static func escape(_ value: String) -> String {
        let escapes: [Unicode.Scalar: String] = ["\\": #"\\"#, "\"": #"\""#, "\n": #"\n"#, "\0": "\u{FFFD}"]
        return value.unicodeScalars.reduce(into: "") { $0 += escapes[$1] ?? String($1) }
    }

    // Byte for byte: texts that only look the same are different labels.
    static func == (a: MetricLabels, b: MetricLabels) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}

extension ElementValue {
    /// The components with their numbers as the format spells them; a value with a single one has no name for it. Texts
    /// and data have none.
    func forEachNumber(_ body: (_ component: String, _ number: String) -> Void) {
        switch plainForm {
        case .integer(let digits): body("", digits)
        case .float(let number): body("", MetricsText.number(number))
        case .double(let number): body("", MetricsText.number(number))
        case .bool(let value): body("", value ? "1" : "0")
        case .text: break
        case .floats(let numbers) where numbers.count == 16:
            // Column by column.
            for position in 0..<16 {
                let (row, column) = (position / 4, position % 4)
                body("m\(row)\(column)", MetricsText.number(numbers[column * 4 + row]))
            }
        case .floats(let numbers):
            for (name, number) in zip(["x", "y", "z", "w"], numbers) { body(name, MetricsText.number(number)) }
        }
    }
}
