import Glibc
import Support
import TestSupport
import Testing

@testable import Elemental

/// Ctrl-C and SIGTERM. They concern the whole process, so they are sent to child processes.
struct UntilInterruptedTests {
    @Test
    func aServiceEndsInOrder() async {
        await #expect(processExitsWith: .success) {
            var configuration = ServiceConfiguration()
            configuration.address = "127.0.0.1"
            configuration.isPublished = false
            let service = ElementalService("test", elements: Lamp.all, configuration: configuration)
            let running = Task { try await service.runUntilInterrupted() }
            try await eventually("it listens") { service.port != nil }
            let device = try await connect(try #require(service.port))
            kill(getpid(), SIGTERM)
            try await running.value
            #expect(service.port == nil)
            let reason = try await device.waitUntilDisconnected()
            #expect(reason.kind == .shutDown("the service has ended"))
        }
    }

    @Test
    func theBodyIsCancelledAndItsErrorsAreThrown() async {
        await #expect(processExitsWith: .success) {
            let error = await elementalError {
                try await untilInterrupted {
                    kill(getpid(), SIGINT)
                    #expect(await !Latch().wait(), "it is cancelled")
                    throw ElementalError(.notConnected, "the lamp is gone")
                }
            }
            #expect(error?.code == .notConnected)
            // What begins later is cancelled at once, which is no error.
            try await untilInterrupted {
                await Latch().wait()
                try Task.checkCancellation()
            }
        }
    }

    @Test
    func aSecondSignalEndsTheProcessAtOnce() async {
        await #expect(processExitsWith: .exitCode(130)) {
            try await untilInterrupted {
                // Signals within 250 ms of the first count as the same one.
                _ = Task { try await eventually("the second signal takes effect") { kill(getpid(), SIGINT) != 0 } }
                _ = await uncancelled { await Latch().wait() }
            }
        }
    }

    @Test
    func withoutABodyASignalEndsTheProcess() async {
        await #expect(processExitsWith: .exitCode(130)) {
            try await untilInterrupted {}
            kill(getpid(), SIGINT)
            await Latch().wait()
        }
    }

    @Test
    func aProgramThatDoesNotAskKeepsItsSignals() async {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            try await withService { _, _ in
                kill(getpid(), SIGTERM)
                await Latch().wait()
            }
        }
    }
}
