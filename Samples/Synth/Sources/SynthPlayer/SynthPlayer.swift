import ArgumentParser
import Elemental
import Foundation
import SampleSecurity
import SynthElements
import UnixSignals

@main
struct SynthPlayer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "SynthPlayer",
        abstract: "Finds a synthesizer and plays a melody, with a hand that moves 120 times a second over UDP.")

    @Option(help: "The synthesizer's name. (default: the first one found)")
    var name: String?

    @Option(help: ArgumentHelp("Its host and port, instead of looking for it.", valueName: "host:port"))
    var at: String?

    @Option(help: "How often to play the melody of eight seconds; 0 to play nothing.")
    var times = 1

    @Option(help: "Before that, send so many sudden changes over UDP and as many over TCP, for their latency.")
    var measure = 0

    @Option(help: ArgumentHelp("Write what was sent when, in ns of CLOCK_MONOTONIC.", valueName: "file"))
    var log: String?

    @OptionGroup var security: ConnectingOptions

    func validate() throws {
        guard (0...1000).contains(times) else { throw ValidationError("--times takes 0 to 1000, not \(times)") }
        guard (0...10000).contains(measure) else { throw ValidationError("--measure takes 0 to 10000, not \(measure)") }
        guard at == nil || endpoint != nil else { throw ValidationError("--at takes a host and a port, as 127.0.0.1:5000") }
    }

    private var endpoint: (host: String, port: Int)? {
        guard let at, let colon = at.lastIndex(of: ":"), colon > at.startIndex else { return nil }
        return Int(at[at.index(after: colon)...]).map { (String(at[..<colon]), $0) }
    }

    func run() async throws {
        let log = try SendLog(file: self.log)
        let synth = try await connect()
        print("connected to \(synth)")

        let signals = await UnixSignalsSequence(trapping: [.sigint, .sigterm])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                if measure > 0 { try await step(synth, log) }
                for _ in 0..<times where !Task.isCancelled { try await play(synth, log) }
            }
            group.addTask { for await _ in signals { return } }
            try await group.next()
            group.cancelAll()
        }
        if synth.isConnected {
            try synth.send(true, to: Synth.allNotesOff)
            await synth.close()
        }
        let statistics = synth.statistics
        print("sent \(statistics.messagesSent) values, \(statistics.datagramsDropped) datagrams dropped")
    }

    private func connect() async throws -> ElementalDevice {
        var options = try security.connectOptions
        // The server may be started anew while this plays; the device stays the same.
        options.reconnection = .standard
        let configure: @Sendable (ElementalDevice) -> Void = { synth in
            synth.onRefusal { element, refusal, _ in print("\(element.name) was refused: \(refusal)") }
            synth.onEvent { event in print("\(event)") }
        }
        if let endpoint {
            options.expectsHello = true
            return try await ElementalDevice.connect(
                host: endpoint.host, port: endpoint.port, as: "SynthPlayer", elements: Synth.all, options: options,
                configure: configure)
        }
        return try await ElementalBrowser(Synth.service).firstService(named: name)
            .connect(as: "SynthPlayer", elements: Synth.all, options: options, configure: configure)
    }

    /// Plays the melody once.
    private func play(_ synth: ElementalDevice, _ log: SendLog) async throws {
        let score = Score()
        try synth.send(2, to: Synth.waveform)
        try synth.send(900, to: Synth.cutoff)
        try synth.send(45, to: Synth.resonance)
        log.write("melody")
        let start = SuspendingClock.now
        var events = score.events[...]
        for frame in 0..<Int(120 * Score.duration) where !Task.isCancelled {
            let time = Double(frame) / 120
            while let event = events.first, event.time <= time {
                events.removeFirst()
                try ifThere(synth) { try synth.send(event.note, to: Synth.note) }
            }
            try ifThere(synth) { try synth.send(score.motion(at: time), to: Synth.motion) }
            // Scheduled from the start, so that small delays do not add up.
            try? await Task.sleep(
                until: start + .seconds(Double(frame + 1) / 120), tolerance: .zero, clock: .suspending)
        }
        try ifThere(synth) { try synth.send(true, to: Synth.allNotesOff) }
        // The reverb fades away.
        try? await Task.sleep(for: .seconds(1.5))
        log.write("end")
    }

    /// Makes a tone without effects sound all at once: by the hand, which comes near, and by a key.
    private func step(_ synth: ElementalDevice, _ log: SendLog) async throws {
        for fader in [Synth.chorus, Synth.echo, Synth.reverb, Synth.sweep] { try synth.send(0, to: fader) }
        try synth.send(18000, to: Synth.cutoff)
        try synth.send(0.001, to: Synth.attack)
        try synth.send(0.005, to: Synth.release)
        let (near, far) = (Vector3(0, 0, 1), Vector3(0, 0, -1))
        for transport in [Transport.udp, .tcp] {
            let key = Vector2(76, 1)
            try synth.send(transport == .udp ? far : near, to: Synth.motion)
            if transport == .udp { try synth.send(key, to: Synth.note) }
            try? await Task.sleep(for: .milliseconds(500))
            for _ in 0..<measure where !Task.isCancelled {
                // At any time between two periods of the sound card.
                try? await Task.sleep(for: .microseconds(.random(in: 0...3000)), tolerance: .zero)
                let time = SendLog.now
                try transport == .udp ? synth.send(near, to: Synth.motion) : synth.send(key, to: Synth.note)
                log.write("\(transport)", at: time)
                try? await Task.sleep(for: .milliseconds(30))
                try transport == .udp ? synth.send(far, to: Synth.motion) : synth.send([key.x, 0], to: Synth.note)
                try? await Task.sleep(for: .milliseconds(60))
            }
            if transport == .udp { try synth.send([key.x, 0], to: Synth.note) }
        }
        // As it was.
        let before: [(Element<Float>, Float)] = [
            (Synth.chorus, 30), (Synth.echo, 20), (Synth.reverb, 25), (Synth.sweep, 1), (Synth.attack, 0.005), (Synth.release, 0.3)
        ]
        for (fader, value) in before { try synth.send(value, to: fader) }
    }

    /// Leaves out what falls into a gap of the connection: the next position follows soon, and all keys were let go.
    private func ifThere(_ synth: ElementalDevice, _ send: () throws -> Void) throws {
        do { try send() } catch let error as ElementalError where error.code == .notConnected && synth.isReconnecting {}
    }
}
