internal import Elemental
internal import ElementalFollowing
internal import ElementalWire
internal import Support

struct ServiceSeries: Sendable {
    let labels: MetricLabels
    private(set) var isUp = false
    private(set) var reconnectionCount = 0
    private(set) var elements: [ElementSeries] = []
    var roundTrips = RoundTripHistogram()
    /// The newest device, whose statistics still grow.
    private(set) var device: ElementalDevice?
    /// The traffic of earlier devices.
    private(set) var pastTraffic = MetricsSample()
    private var positions: [Int8: Int] = [:]

    init(_ key: ServiceKey) {
        labels = MetricLabels().with("service", key.service ?? "").with("device", key.name)
    }

    /// The traffic with the service since it was first followed; it only grows.
    var traffic: MetricsSample {
        var traffic = pastTraffic
        if let device { traffic.add(MetricsSample(device.statistics)) }
        return traffic
    }

    /// Handles a new connection, or a change of the catalogue or of this client's role.
    mutating func connect(_ device: ElementalDevice, _ catalogue: ElementCatalogue) {
        if let old = self.device {
            if !isUp { reconnectionCount += 1 }
            if old !== device { pastTraffic.add(MetricsSample(old.statistics)) }
        }
        self.device = device
        isUp = true
        let known = elements
        elements = []
        positions = [:]
        var used: Set<MetricLabels> = []
        for definition in catalogue {
            let labels = labels.with("element", definition.name)
            guard used.insert(labels).inserted else { continue }
            positions[definition.id] = elements.count
            elements.append(
                known.first { $0.definition == definition } ?? ElementSeries(definition: definition, labels: labels))
        }
    }

    /// Handles a lost connection, or one that is not established yet: the values are unknown.
    mutating func disconnect() {
        guard isUp else { return }
        isUp = false
        for position in elements.indices { elements[position].value = nil }
    }

    mutating func note(_ id: Int8, _ value: ElementValue, at time: Double) {
        guard isUp, let position = positions[id] else { return }
        elements[position].note(value, at: time)
    }
}

struct ElementSeries: Sendable {
    let definition: ElementDefinition
    /// The service's labels and the element's name.
    let labels: MetricLabels
    /// The newest value; `nil` if none is known, and for texts and data, which are not kept.
    var value: ElementValue?
    /// When it arrived, in seconds since 1970.
    var updated: Double?

    mutating func note(_ value: ElementValue, at time: Double) {
        updated = time
        switch value {
        case .string, .data: break
        default: self.value = value
        }
    }
}

struct RoundTripHistogram: Sendable {
    /// The buckets' upper bounds in nanoseconds, from 50 µs, about the best of a loopback, to 5 s.
    static let bounds: [Int64] = [
        50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000,
    ]

    /// The bounds in seconds, as text.
    static let boundTexts = bounds.map { MetricsText.number(Double($0) / 1e9) }

    /// The counts of durations up to each bound and above the one before; the last is for all longer ones.
    private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var count = 0
    /// The sum of all durations, in seconds.
    private(set) var sum = 0.0

    mutating func add(_ duration: Duration) {
        let nanoseconds = max(0, duration.nanoseconds)
        counts[Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count] += 1
        count += 1
        sum += Double(nanoseconds) / 1e9
    }

    func write(_ name: String, _ labels: MetricLabels, to text: inout MetricsText) {
        var total = 0
        for (position, bound) in Self.boundTexts.enumerated() {
            total += counts[position]
            text.add(name + "_bucket", labels.with("le", bound), total)
        }
        text.add(name + "_bucket", labels.with("le", "+Inf"), count)
        text.add(name + "_sum", labels, MetricsText.number(sum))
        text.add(name + "_count", labels, count)
    }
}
