import ArgumentParser
import Elemental
import Foundation
import SampleSecurity
import SynthElements

/// Sends sudden changes, so that their latency can be found in a recording.
@main
struct SynthProbe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "SynthProbe",
        abstract: "Makes a synthesizer's tone loud all at once, by the hand over UDP and by a key over TCP.",
        discussion: "Prints when each change was sent, in ns of CLOCK_MONOTONIC; Samples/Synth/Tests/report reads that."
    )

    @Option(help: "The synthesizer's name. (default: the first one found)")
    var name: String?

    @Option(help: "Its port on this machine, instead of looking for it.")
    var port: Int?

    @Option(help: "How many changes of each kind.")
    var count = 100

    @OptionGroup var security: ConnectingOptions

    func run() async throws {
        let options = try security.connectOptions
        let synth: ElementalDevice
        if let port {
            synth = try await ElementalDevice.connect(
                host: "127.0.0.1", port: port, as: "SynthProbe", elements: Synth.all, options: options)
            // Until the service has said what it supports.
            _ = try await synth.catalogue()
        } else {
            synth = try await ElementalBrowser(Synth.service).firstService(named: name)
                .connect(as: "SynthProbe", elements: Synth.all, options: options)
        }
        // A tone that is there at once, and gone at once.
        for fader in [Synth.chorus, Synth.echo, Synth.reverb, Synth.sweep] { try synth.send(0, to: fader) }
        try synth.send(18000, to: Synth.cutoff)
        try synth.send(0.001, to: Synth.attack)
        try synth.send(0.005, to: Synth.release)

        let (near, far) = (Vector3(0, 0, 1), Vector3(0, 0, -1))
        let (down, up) = (Vector2(76, 1), Vector2(76, 0))
        try synth.send(far, to: Synth.motion)
        try synth.send(down, to: Synth.note)
        try await Task.sleep(for: .milliseconds(500))
        for number in 0..<count {
            try await step(
                number, "udp", { try synth.send(near, to: Synth.motion) }, { try synth.send(far, to: Synth.motion) })
        }
        try synth.send(up, to: Synth.note)
        try await Task.sleep(for: .milliseconds(200))
        try synth.send(near, to: Synth.motion)
        try await Task.sleep(for: .milliseconds(200))
        for number in 0..<count {
            try await step(
                number, "tcp", { try synth.send(down, to: Synth.note) }, { try synth.send(up, to: Synth.note) })
        }
        await synth.close()
    }

    private func step(_ number: Int, _ transport: String, _ change: () throws -> Void, _ back: () throws -> Void)
        async throws
    {
        // At all times between two periods of the sound device, in turn.
        try await Task.sleep(for: .microseconds(number * 1871 % 3000), tolerance: .zero)
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        try change()
        print(time.tv_sec * 1_000_000_000 + time.tv_nsec, transport)
        try await Task.sleep(for: .milliseconds(30))
        try back()
        try await Task.sleep(for: .milliseconds(60))
    }
}
