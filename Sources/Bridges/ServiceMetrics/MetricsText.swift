internal import Elemental
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

    /// Formats a number with the fewest digits that distinguish it from its neighbours.
    static func number(_ value: some BinaryFloatingPoint & LosslessStringConvertible) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value.description
    }
}

/// The labels of a sample in text form: `service="robot",device="Rover"`.
struct MetricLabels: Sendable, Hashable {
    private(set) var text = ""

    /// Returns the labels with another one. An empty value adds nothing, which means the same.
    func with(_ name: String, _ value: String) -> MetricLabels {
        guard !value.isEmpty else { return self }
        var labels = self
        if !text.isEmpty { labels.text += "," }
        labels.text += "\(name)=\"\(Self.escape(value))\""
        return labels
    }

    /// Escapes a value between its quotes. Names come from the network and may have any characters. Prometheus' own
    /// parser ends a text at NUL, so it is replaced.
    private static func escape(_ value: String) -> String {
        let escapes: [Unicode.Scalar: String] = ["\\": #"\\"#, "\"": #"\""#, "\n": #"\n"#, "\0": "\u{FFFD}"]
        return value.unicodeScalars.reduce(into: "") { $0 += escapes[$1] ?? String($1) }
    }

    // Compares bytes: texts that only look the same are different labels.
    static func == (a: MetricLabels, b: MetricLabels) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}

extension MetricsText {
    /// Writes the metrics of services in the given order. Equal services give equal texts, and no series occurs twice.
    init(_ services: [ServiceSeries]) {
        var used: Set<MetricLabels> = []
        let services = services.filter { used.insert($0.labels).inserted }.map { (series: $0, traffic: $0.traffic) }
        begin("elemental_up", .gauge, "Whether the service is connected: 1 if it is, 0 if not.")
        for (series, _) in services { add("elemental_up", series.labels, series.isUp ? 1 : 0) }
        begin("elemental_connections", .gauge, "How many services are connected.")
        add("elemental_connections", MetricLabels(), services.lazy.filter(\.series.isUp).count)
        func count(_ name: String, _ help: String, _ value: (ServiceSeries, DeviceStatistics) -> Int) {
            begin(name, .counter, help)
            for (series, traffic) in services { add(name, series.labels, value(series, traffic.statistics)) }
        }
        count("elemental_reconnections_total", "How often the service was reconnected.") { series, _ in
            series.reconnectionCount
        }
        addElements(services.flatMap(\.series.elements))
        count("elemental_messages_received_total", "Values received from the service.") { $1.messagesReceived }
        count("elemental_messages_sent_total", "Values sent to the service.") { $1.messagesSent }
        count("elemental_bytes_received_total", "Bytes received from the service.") { $1.bytesReceived }
        count("elemental_bytes_sent_total", "Bytes sent to the service.") { $1.bytesSent }
        let dropped = "elemental_messages_dropped_total"
        begin(
            dropped, .counter,
            "Dropped values: received ones that were malformed, unknown, rejected, outdated, overrun or forged datagrams, "
                + "and sent ones that were replaced or datagrams that were not sent.")
        for (series, traffic) in services {
            for count in MetricsSample.counts {
                guard let reason = count.reason else { continue }
                add(dropped, series.labels.with("reason", reason), traffic[keyPath: count.path])
            }
        }
        let roundTrips = "elemental_round_trip_seconds"
        begin(roundTrips, .histogram, "How long pings to the service and back took, in seconds.")
        for (series, _) in services { series.roundTrips.write(roundTrips, series.labels, to: &self) }
    }

    private mutating func addElements(_ elements: [ElementSeries]) {
        begin(
            "elemental_element_value", .gauge,
            "The element's newest value in its unit: 1 or 0 for a bool, one sample per component for a vector.")
        for element in elements {
            element.value?.forEachNumber { component, number in
                let labels = element.labels.with("component", component).with("unit", element.definition.unit)
                add("elemental_element_value", labels, number)
            }
        }
        begin(
            "elemental_element_updated_timestamp_seconds", .gauge,
            "When the element's newest value arrived, in seconds since 1970.")
        for element in elements {
            guard let updated = element.updated else { continue }
            let time = MetricsText.number((updated * 1000).rounded() / 1000)
            add("elemental_element_updated_timestamp_seconds", element.labels, time)
        }
    }
}

extension ElementValue {
    /// Calls `body` with each component and its formatted number. A single number has an empty component name. Texts
    /// and data have no numbers.
    func forEachNumber(_ body: (_ component: String, _ number: String) -> Void) {
        switch plainForm {
        case .integer(let digits): body("", digits)
        case .float(let number): body("", MetricsText.number(number))
        case .double(let number): body("", MetricsText.number(number))
        case .bool(let value): body("", value ? "1" : "0")
        case .text: break
        case .floats(let numbers) where numbers.count == 16:
            // The floats are stored by column.
            for position in 0..<16 {
                let (row, column) = (position / 4, position % 4)
                body("m\(row)\(column)", MetricsText.number(numbers[column * 4 + row]))
            }
        case .floats(let numbers):
            for (name, number) in zip(["x", "y", "z", "w"], numbers) { body(name, MetricsText.number(number)) }
        }
    }
}
