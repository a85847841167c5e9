internal import Elemental
internal import ElementalFollowing
internal import ElementalWire

/// What is known of one service, as the metrics tell it.
struct ServiceSeries: Sendable {
    let labels: MetricLabels
    private(set) var isUp = false
    private(set) var reconnectionCount = 0
    private(set) var elements: [ElementSeries] = []
    var roundTrips = RoundTripHistogram()
    /// The newest device, whose statistics go on.
    private(set) var device: ElementalDevice?
    /// The traffic of the devices before it.
    private(set) var pastTraffic = MetricsSample()
    private var positions = ElementPositions()

    init(_ key: ServiceKey) {
        labels = MetricLabels().with("service", key.service ?? "").with("device", key.name)
    }

    /// The traffic with the service since it is followed, which only grows.
    var traffic: MetricsSample {
        var traffic = pastTraffic
        if let device { traffic.add(MetricsSample(device.statistics)) }
        return traffic
    }

    /// The service is connected, or its catalogue or this client's role has changed.
    mutating func connect(_ device: ElementalDevice, _ catalogue: ElementCatalogue) {
        if let old = self.device {
            if !isUp { reconnectionCount += 1 }
            if old !== device { pastTraffic.add(MetricsSample(old.statistics)) }
        }
        self.device = device
        isUp = true
        let known = elements
        elements = []
        positions = ElementPositions()
        var used: Set<MetricLabels> = []
        for definition in catalogue {
            let labels = labels.with("element", definition.name)
            guard used.insert(labels).inserted else { continue }
            positions[definition.id] = elements.count
            elements.append(
                known.first { $0.definition == definition } ?? ElementSeries(definition: definition, labels: labels))
        }
    }

    /// The connection is lost or not established yet: what the values are is not known.
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

/// One element of a service.
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
