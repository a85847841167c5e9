import ElementalObservation
import Glibc

/// What a value costs a client that shows it in a model, beside a handler: `observation-cost COUNT ROUNDS`.
///
/// A service sends COUNT values of 8 bytes, each to the next of ten elements, as fast as the connection takes them, to a
/// client in the same process: one with nothing for them, with a handler for each element, and with a model all of whose
/// elements are observed. They take turns. What the first costs is taken off the two others.
@main
struct ObservationCost {
    private static let elements = (0..<10).map { Element<Double>($0, "Value \($0)", access: .read) }

    @MainActor
    static func main() async throws {
        let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        guard numbers.count == 2, numbers.allSatisfy({ $0 > 0 }) else {
            throw Misuse(description: "observation-cost COUNT ROUNDS")
        }
        let (count, rounds) = (numbers[0], numbers[1])
        let configuration = ServiceConfiguration(address: "127.0.0.1", isPublished: false)
        let service = ElementalService(
            "cost", displayName: "Cost", elements: try ElementCatalogue(elements), configuration: configuration)
        try await service.start()
        guard let port = service.port else { throw Misuse(description: "the service has no port") }

        var nothing: [Double] = []
        var handler: [Double] = []
        var model: [Double] = []
        var updates: [Double] = []
        // The first round warms up.
        for round in 0...rounds {
            let times = (
                try await costOfNothing(service, port, count), try await costOfHandlers(service, port, count),
                try await costOfModel(service, port, count)
            )
            guard round > 0 else { continue }
            nothing.append(times.0)
            handler.append(times.1 - times.0)
            model.append(times.2.time - times.0)
            updates.append(times.2.updates)
        }
        await service.stop()
        print("\(count) values of 8 bytes to ten elements, \(rounds) times, processor time of the process per value")
        print("both ends with nothing for the values   \(text(nothing)) ns")
        print("a handler for each element, more        \(text(handler)) ns")
        print("a model, all observed, more             \(text(model)) ns")
        let ratios = (0..<rounds).map { (nothing[$0] + model[$0]) / (nothing[$0] + handler[$0]) }
        print("a model against a handler, both ends    \(text(ratios.map { 100 * $0 })) %")
        print("updates of the model, a second          \(text(updates))")
    }

    /// Median, with the lowest and the highest.
    private static func text(_ figures: [Double]) -> String {
        let sorted = figures.sorted()
        func text(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
        return "\(text(sorted[sorted.count / 2])) (\(text(sorted[0])) to \(text(sorted[sorted.count - 1])))"
    }

    private static func costOfNothing(_ service: ElementalService, _ port: Int, _ count: Int) async throws -> Double {
        let device = try await ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "nothing", elements: service.elements)
        let time = try await cost(service, count) { device.statistics.messagesReceived }
        await device.close()
        return time
    }

    private static func costOfHandlers(_ service: ElementalService, _ port: Int, _ count: Int) async throws -> Double {
        let device = try await ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "handler", elements: service.elements)
        let sink = Sink()
        for element in elements { device.onValue(of: element) { value in sink.take(value) } }
        let time = try await cost(service, count) { device.statistics.messagesReceived }
        await device.close()
        return time
    }

    @MainActor
    private static func costOfModel(
        _ service: ElementalService, _ port: Int, _ count: Int
    ) async throws -> (time: Double, updates: Double) {
        let model = ObservedDevice(host: "127.0.0.1", port: port, as: "model", elements: service.elements)
        let viewer = Viewer(model, elements)
        while !model.state.isConnected { try await Task.sleep(for: .milliseconds(5)) }
        guard let device = model.device else { throw Misuse(description: "the model has no device") }
        let start = ContinuousClock.now
        let before = viewer.count
        let time = try await cost(service, count) { device.statistics.messagesReceived }
        return (time, Double(viewer.count - before) / ((ContinuousClock.now - start) / .seconds(1)))
    }

    /// The processor time for each value in nanoseconds.
    private static func cost(
        _ service: ElementalService, _ count: Int, received: @escaping @Sendable () -> Int
    ) async throws -> Double {
        while service.devices.count != 1 { try await Task.sleep(for: .milliseconds(5)) }
        let expected = received() + count
        let start = processorTime()
        try await send(count, by: service)
        while received() < expected { try await Task.sleep(for: .milliseconds(5)) }
        return (processorTime() - start) * 1e9 / Double(count)
    }

    @concurrent
    private static func send(_ count: Int, by service: ElementalService) async throws {
        for number in 0..<count { try await service.sendWhenReady(Double(number), to: elements[number % 10]) }
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// What a view does: reads all elements, and does so again after a change.
@MainActor
private final class Viewer {
    private(set) var count = 0
    private let model: ObservedDevice
    private let elements: [Element<Double>]

    init(_ model: ObservedDevice, _ elements: [Element<Double>]) {
        self.model = model
        self.elements = elements
        read()
    }

    private func read() {
        withObservationTracking {
            for element in elements { _ = model[element] }
        } onChange: { [weak self] in
            Task { @MainActor in
                self?.count += 1
                self?.read()
            }
        }
    }
}

/// Takes values on the event loop alone.
private final class Sink: @unchecked Sendable {
    private var sum = 0.0
    func take(_ value: Double) { sum += value }
}

private struct Misuse: Error, CustomStringConvertible {
    let description: String
}
