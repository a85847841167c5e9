import ArgumentParser
import Elemental
import Foundation
import SampleSecurity
import SynthElements

@main
struct SynthPlayer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "SynthPlayer",
        abstract: "Finds a synthesizer and plays it: keys over TCP, and a hand that moves 120 times a second over UDP.")

    @Option(help: "The synthesizer's name. (default: the first one found)")
    var name: String?

    @Option(help: "How often to play the melody of eight seconds, up to 255 times.")
    var count: UInt8 = 1

    @OptionGroup var security: ConnectingOptions

    func run() async throws {
        let synth = try await connect()
        print("connected to \(synth)")
        try await untilInterrupted { try await play(synth) }
        if synth.isConnected {
            try synth.send(true, to: Synth.allNotesOff)
            await synth.close()
        }
        let statistics = synth.statistics
        print("sent \(statistics.messagesSent) values, \(statistics.datagramsDropped) datagrams dropped")
    }

    private func connect() async throws -> ElementalDevice {
        var options = try security.connectOptions
        // The server may be started anew meanwhile; the device stays the same.
        options.reconnection = .standard
        let configure: @Sendable (ElementalDevice) -> Void = { synth in
            synth.onRefusal { element, refusal, _ in print("\(element.name) was refused: \(refusal)") }
        }
        return try await ElementalBrowser(Synth.service).firstService(named: name)
            .connect(as: "SynthPlayer", elements: Synth.all, options: options, configure: configure)
    }

    private func play(_ synth: ElementalDevice) async throws {
        try synth.send(900, to: Synth.cutoff)
        try synth.send(45, to: Synth.resonance)
        let start = SuspendingClock.now
        for message in Melody.messages(count: Int(count)) where !Task.isCancelled {
            // Scheduled from the start, so that small delays do not add up.
            let time = start + .seconds(message.time)
            if time > .now { try? await Task.sleep(until: time, tolerance: .zero, clock: .suspending) }
            do {
                try message.send(synth)
            } catch  where synth.isReconnecting {
                // The next position follows soon; and a server that was started anew has let all keys go.
            }
        }
    }
}
