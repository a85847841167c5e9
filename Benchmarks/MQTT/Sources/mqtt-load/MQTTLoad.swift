import Elemental
import Glibc

/// Many services in one process: `mqtt-load SERVICES ELEMENTS`.
///
/// Prints `listening` and the ports. Then each line of its input is an order, answered by `sent` and the number of values
/// when it is done:
///
/// - `together HZ SECONDS`: each element HZ times a second, those of a service at once, the services one after the other.
/// - `spread HZ SECONDS`: each element HZ times a second, all of them evenly spread.
///
/// Each value is the time at which it was sent, in seconds since 1970, so that a receiver knows how long it took.
@main
struct MQTTLoad {
    static func main() async throws {
        let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        guard numbers.count == 2, numbers[0] > 0, (1...127).contains(numbers[1]) else {
            throw Misuse(description: "mqtt-load SERVICES ELEMENTS")
        }
        let load = try await MQTTLoad(serviceCount: numbers[0], elementCount: numbers[1])
        print("listening", load.services.compactMap { $0.port.map(String.init) }.joined(separator: " "))
        fflush(nil)
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard words.count == 3, let rate = Double(words[1]), rate > 0, let seconds = Double(words[2]) else {
                throw Misuse(description: "together|spread HZ SECONDS")
            }
            print("sent", try load.send(isSpread: words[0] == "spread", rate: rate, seconds: seconds))
            fflush(nil)
        }
        for service in load.services { await service.stop() }
    }

    private let services: [ElementalService]
    private let elements: [Element<Double>]

    private init(serviceCount: Int, elementCount: Int) async throws {
        elements = (0..<elementCount).map {
            Element<Double>($0, "Value \($0)", access: .read)
        }
        let catalogue = try ElementCatalogue(elements.map { $0.definition })
        let configuration = ServiceConfiguration(address: "127.0.0.1", allowsUDP: false, isPublished: false)
        services = (0..<serviceCount).map {
            ElementalService("load", displayName: "Load \($0)", elements: catalogue, configuration: configuration)
        }
        for service in services { try await service.start() }
    }

    /// Sends on this thread, which has nothing else to do, so that nothing delays a value but the machine.
    private func send(isSpread: Bool, rate: Double, seconds: Double) throws -> Int {
        let rounds = Int((rate * seconds).rounded())
        // One step is a value, or all values of a service.
        let steps = services.count * (isSpread ? elements.count : 1)
        let pause = 1 / rate / Double(steps)
        let start = Self.time(CLOCK_MONOTONIC)
        for round in 0..<rounds {
            for step in 0..<steps {
                let due = start + Double(round) / rate + Double(step) * pause
                let early = due - Self.time(CLOCK_MONOTONIC)
                if early > 0 { usleep(UInt32(early * 1e6)) }
                let service = services[step % services.count]
                let some = isSpread ? elements[step / services.count...step / services.count] : elements[...]
                for element in some { try service.send(Self.time(CLOCK_REALTIME), to: element) }
            }
        }
        return rounds * services.count * elements.count
    }

    private static func time(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

private struct Misuse: Error, CustomStringConvertible {
    let description: String
}
