import ElementalWire

/// The result of a throughput run.
package struct ThroughputReport: Sendable {
    package let transport: Transport
    package let sent: Int
    /// Messages that arrived, each counted once.
    package let messages: Int
    /// Bytes of the values that arrived, without envelopes.
    package let bytes: Int
    /// The duration: from the first arrival to the last at the receiver, or from the first send to the last if that
    /// took longer.
    package let seconds: Double
    package let repeated: Int
    /// Messages that arrived after a later one.
    package let disordered: Int

    /// CPU time of the sending process in that time, of all its threads, in seconds.
    package let senderProcessorTime: Double
    /// CPU time of the receiving process in that time, in seconds.
    package let receiverProcessorTime: Double

    package var lost: Int { max(0, sent - messages) }
    package var messagesPerSecond: Double { seconds > 0 ? Double(messages) / seconds : 0 }
    package var bytesPerSecond: Double { seconds > 0 ? Double(bytes) / seconds : 0 }

    init(transport: Transport, sent: Int, arrived: SinkReport, sending: Double, processorTime: Double) {
        self.transport = transport
        self.sent = sent
        messages = arrived.messages
        bytes = arrived.bytes
        repeated = arrived.repeated
        disordered = arrived.disordered
        seconds = max(arrived.seconds, sending)
        senderProcessorTime = processorTime
        receiverProcessorTime = arrived.processorTime
    }

    package var lines: [String] {
        var lines = [
            "\(messages) messages, \(bytes) bytes over \(transport.rawValue) in \(Self.rounded(seconds * 1000)) ms",
            "  \(Int(messagesPerSecond.rounded())) messages/s, \(Self.rounded(bytesPerSecond / 1e6)) MB/s",
        ]
        let share = sent == 0 ? 0 : Double(lost) * 100 / Double(sent)
        lines.append("  \(lost) of \(sent) lost (\(Self.rounded(share)) %)")
        if messages > 0 {
            let cost = { (time: Double) in Self.rounded(time * 1e9 / Double(messages)) }
            lines.append(
                "  processor time: \(cost(senderProcessorTime)) ns a message at the sender, "
                    + "\(cost(receiverProcessorTime)) ns at the receiver")
        }
        if repeated + disordered > 0 { lines.append("  \(repeated) repeated, \(disordered) out of order") }
        return lines
    }

    private static func rounded(_ value: Double) -> String { LatencyReport.tenths(value) }
}
