import Elemental

/// The elements of the service. Your own client can share this file, or ask the service for its elements.
///
/// The readings are `latest`: a slow client gets the newest values, not a queue of old ones.
enum Monitor {
    static let service = "system_monitor"

    static let load1 = Element<Double>(1, "Load 1 min", access: .read, latest: true)
    static let load5 = Element<Double>(2, "Load 5 min", access: .read, latest: true)
    static let load15 = Element<Double>(3, "Load 15 min", access: .read, latest: true)
    static let memoryUsed = Element<UInt64>(4, "Memory used", unit: "B", access: .read, latest: true)
    static let memoryTotal = Element<UInt64>(5, "Memory total", unit: "B", access: .read, latest: true)
    static let uptime = Element<Double>(6, "Uptime", unit: "s", access: .read, latest: true)
    static let bytesReceived = Element<UInt64>(7, "Network received", unit: "B", access: .read, latest: true)
    static let bytesSent = Element<UInt64>(8, "Network sent", unit: "B", access: .read, latest: true)
    static let receiveRate = Element<Double>(9, "Network receive rate", unit: "B/s", access: .read, latest: true)
    static let sendRate = Element<Double>(10, "Network send rate", unit: "B/s", access: .read, latest: true)
    static let temperature = Element<Double>(11, "CPU temperature", unit: "°C", access: .read, latest: true)
    static let interval = Element<Double>(12, "Sampling interval", unit: "s", range: 0.05...60, step: 0.05)
    static let processorLoad = Element<Double>(13, "CPU load", transport: .udp, unit: "%", access: .read, latest: true)
    static let sampleNumber = Element<UInt64>(14, "Sample number", transport: .udp, access: .read, latest: true)

    static let sensorsWithoutValue = Element<String>(15, "Sensors without a value", access: .read, latest: true)

    /// The elements of what is there: sensors from 20 on, and lines from 100 on, in the order in which they were found.
    ///
    /// - Parameter buses: what is on the buses; a client asks the service for these elements.
    static func elements(hasTemperature: Bool, buses: Buses) throws -> ElementCatalogue {
        var elements: [any AnyElement] = [
            load1, load5, load15, memoryUsed, memoryTotal, uptime, bytesReceived, bytesSent, receiveRate, sendRate,
        ]
        if hasTemperature { elements.append(temperature) }
        elements += [interval, processorLoad, sampleNumber] as [any AnyElement]
        if !buses.sensors.isEmpty { elements.append(sensorsWithoutValue) }
        elements += buses.sensors.flatMap(\.elements) as [any AnyElement]
        elements += buses.lines.map(\.element) as [any AnyElement]
        return try ElementCatalogue(elements)
    }
}
