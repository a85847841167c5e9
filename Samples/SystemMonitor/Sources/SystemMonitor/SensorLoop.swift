import Dispatch
import Elemental
import Foundation
import Sensors
import ServiceLifecycle

/// Reads the sensors at every tick, on a thread of their own: a thermometer on 1-Wire takes 750 ms.
struct SensorLoop: Service {
    typealias Samples = [(values: [Double?], failure: String?)]
    let service: ElementalService
    let buses: Buses
    let ticker: Ticker

    func run() async throws {
        let (samples, continuation) = AsyncStream.makeStream(of: Samples.self, bufferingPolicy: .bufferingNewest(1))
        let (sensors, wanted) = (buses.sensors.map(\.sensor), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            while true {
                wanted.wait()
                if case .terminated = continuation.yield(sensors.map { $0.sample() }) { return }
            }
        }
        // A sensor that is just measuring, or never answers, does not hold up the end.
        let stop: @Sendable () -> Void = {
            ticker.stop()
            continuation.finish()
            wanted.signal()
        }
        await withGracefulShutdownHandler {
            await withTaskCancellationHandler {
                var newest = samples.makeAsyncIterator()
                var failures = FailureReport()
                for await _ in ticker.ticks {
                    wanted.signal()
                    guard let samples = await newest.next() else { break }
                    publish(samples, &failures)
                }
            } onCancel: {
                stop()
            }
        } onGracefulShutdown: {
            stop()
        }
    }

    private func publish(_ samples: Samples, _ failures: inout FailureReport) {
        var silent: [String] = []
        do {
            for ((_, elements), sample) in zip(buses.sensors, samples) {
                for (element, value) in zip(elements, sample.values) {
                    guard let value else {
                        silent.append(element.name)
                        continue
                    }
                    for failure in try service.send(value, to: element) { failures.add(failure) }
                }
                if let failure = sample.failure { failures.add("\(elements.first?.name ?? "a sensor"): \(failure)") }
            }
            // The devices keep the previous value of these, so they are told that it is old.
            let text = silent.joined(separator: ", ")
            if !samples.isEmpty, service.value(of: Monitor.sensorsWithoutValue) != text {
                for failure in try service.send(text, to: Monitor.sensorsWithoutValue) { failures.add(failure) }
            }
        } catch {
            failures.add("\(error)")
        }
    }
}
