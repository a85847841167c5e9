internal import Elemental
internal import ElementalWire

/// What is known of all services at one moment.
struct MetricsSnapshot {
    /// In the order in which they are written.
    private let services: [(series: ServiceSeries, traffic: MetricsSample)]

    /// - Parameter services: in any order, but always the same.
    init(_ services: [ServiceSeries]) {
        var used: Set<MetricLabels> = []
        self.services = services.filter { used.insert($0.labels).inserted }.map { ($0, $0.traffic) }
    }

    /// The metrics in Prometheus' text format. Equal snapshots give equal texts, and no series comes twice.
    var text: [UInt8] {
        var text = MetricsText()
        writeConnections(to: &text)
        writeElements(to: &text)
        writeTraffic(to: &text)
        writeRoundTrips(to: &text)
        return text.bytes
    }

    private func writeConnections(to text: inout MetricsText) {
        text.begin("elemental_up", .gauge, "Whether the service is connected: 1 if it is, 0 if not.")
        for (series, _) in services { text.add("elemental_up", series.labels, series.isUp ? 1 : 0) }
        text.begin("elemental_connections", .gauge, "How many services are connected.")
        text.add("elemental_connections", MetricLabels(), services.lazy.filter(\.series.isUp).count)
        count("elemental_reconnections_total", "How often the service was connected again.", in: &text) { series, _ in
            series.reconnectionCount
        }
    }

    private func writeElements(to text: inout MetricsText) {
        text.begin(
            "elemental_element_value", .gauge,
            "The newest value of the element in its unit; of a bool 1 or 0; of a vector one for each component.")
        forEachElement { element in
            let unit = element.definition.unit
            element.value?.forEachNumber { component, number in
                let labels = element.labels.with("component", component).with("unit", unit)
                text.add("elemental_element_value", labels, number)
            }
        }
        text.begin(
            "elemental_element_updated_timestamp_seconds", .gauge,
            "When the element's newest value arrived, in seconds since 1970.")
        forEachElement { element in
            guard let updated = element.updated else { return }
            let time = MetricsText.number((updated * 1000).rounded() / 1000)
            text.add("elemental_element_updated_timestamp_seconds", element.labels, time)
        }
    }

    private func writeTraffic(to text: inout MetricsText) {
        count("elemental_messages_received_total", "Values received from the service.", in: &text) {
            $1.messagesReceived
        }
        count("elemental_messages_sent_total", "Values sent to the service.", in: &text) { $1.messagesSent }
        count("elemental_bytes_received_total", "Bytes received from the service.", in: &text) { $1.bytesReceived }
        count("elemental_bytes_sent_total", "Bytes sent to the service.", in: &text) { $1.bytesSent }
        let name = "elemental_messages_dropped_total"
        text.begin(
            name, .counter,
            "Values that were dropped: malformed, unknown, rejected, outdated or overrun ones and forged datagrams that "
                + "were received, replaced ones and datagrams that were not sent.")
        for (series, traffic) in services {
            for count in MetricsSample.counts {
                guard let reason = count.reason else { continue }
                text.add(name, series.labels.with("reason", reason), traffic[keyPath: count.path])
            }
        }
    }

    private func writeRoundTrips(to text: inout MetricsText) {
        let name = "elemental_round_trip_seconds"
        text.begin(name, .histogram, "How long pings to the service and back took, in seconds.")
        for (series, _) in services { series.roundTrips.write(name, series.labels, to: &text) }
    }

    private func count(
        _ name: String, _ help: String, in text: inout MetricsText,
        _ value: (ServiceSeries, DeviceStatistics) -> Int
    ) {
        text.begin(name, .counter, help)
        for (series, traffic) in services { text.add(name, series.labels, value(series, traffic.statistics)) }
    }

    private func forEachElement(_ body: (ElementSeries) -> Void) {
        for (series, _) in services { series.elements.forEach(body) }
    }
}
