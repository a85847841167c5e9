/// A quantity that is measured of a contender.
enum Quantity: String, Sendable {
    case p50, p90, p99, p999, max
    case lost
    case messagesPerSecond, bytesPerSecond, deliveriesPerSecond
    case senderTimePerMessage, receiverTimePerMessage
    case clientAllocations, serverAllocations
    case memoryPerConnection, processorTimePerMinute
    case found, firstLine, residentMemory

    var unit: String {
        switch self {
        case .p50, .p90, .p99, .p999, .max: "µs"
        case .lost: "share"
        case .messagesPerSecond, .deliveriesPerSecond: "1/s"
        case .bytesPerSecond: "bytes/s"
        case .senderTimePerMessage, .receiverTimePerMessage: "ns"
        case .clientAllocations, .serverAllocations: "allocations/message"
        case .memoryPerConnection: "bytes/connection"
        case .processorTimePerMinute: "s/min"
        case .found, .firstLine: "ms"
        case .residentMemory: "bytes"
        }
    }

    static let percentiles: [Quantity] = [.p50, .p90, .p99, .p999, .max]
}

/// Identifies a series of numbers, one per round.
struct Figure: Hashable, Sendable {
    /// The measurement, such as "round trip TCP pinned".
    var measure: String
    /// The contender.
    var contender: String
    var quantity: Quantity

    init(_ measure: String, _ contender: String, _ quantity: Quantity) {
        self.measure = measure
        self.contender = contender
        self.quantity = quantity
    }
}

/// Median and spread over the rounds.
struct Summary {
    var median: Double
    var lowest: Double
    var highest: Double

    init?(_ values: some Sequence<Double>) {
        let sorted = values.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        lowest = first
        highest = last
        let middle = sorted.count / 2
        median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
