import Elemental
import MachineReadings
import ServiceLifecycle

/// Reads the machine at every tick and sends the readings to the devices.
struct Sampler: Service {
    let service: ElementalService
    let machine: Machine
    let ticker: Ticker

    func run() async throws {
        await withGracefulShutdownHandler {
            await withTaskCancellationHandler {
                await sample()
            } onCancel: {
                ticker.stop()
            }
        } onGracefulShutdown: {
            ticker.stop()
        }
    }

    private func sample() async {
        var machine = machine
        var number: UInt64 = 0
        var failures = FailureReport()
        for await _ in ticker.ticks {
            do {
                number += 1
                for failure in try publish(machine.sample(), number: number) { failures.add(failure) }
            } catch {
                // A file that cannot be read now may be readable at the next tick.
                failures.add("\(error)")
            }
        }
    }

    /// Sends one sample's readings, and returns what could not be sent to which device. Missing readings are not sent:
    /// the devices keep the previous value.
    private func publish(_ sample: Machine.Sample, number: UInt64) throws -> [SendFailure] {
        var failures: [SendFailure] = []
        failures += try service.send(sample.load.oneMinute, to: Monitor.load1)
        failures += try service.send(sample.load.fiveMinutes, to: Monitor.load5)
        failures += try service.send(sample.load.fifteenMinutes, to: Monitor.load15)
        failures += try service.send(sample.memory.used, to: Monitor.memoryUsed)
        if service.value(of: Monitor.memoryTotal) != sample.memory.total {
            failures += try service.send(sample.memory.total, to: Monitor.memoryTotal)
        }
        failures += try service.send(sample.uptime.seconds, to: Monitor.uptime)
        failures += try service.send(sample.network.bytesReceived, to: Monitor.bytesReceived)
        failures += try service.send(sample.network.bytesSent, to: Monitor.bytesSent)
        if let rates = sample.networkRates {
            failures += try service.send(rates.received, to: Monitor.receiveRate)
            failures += try service.send(rates.sent, to: Monitor.sendRate)
        }
        if let temperature = sample.temperature {
            failures += try service.send(temperature, to: Monitor.temperature)
        }
        if let load = sample.processorLoad {
            failures += try service.send(load, to: Monitor.processorLoad)
        }
        failures += try service.send(number, to: Monitor.sampleNumber)
        return failures
    }
}
