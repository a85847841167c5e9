import ArgumentParser
import Elemental
import Foundation
import Logging
import SampleSecurity
import ServiceLifecycle
import SynthElements
import SynthEngine

@main
struct SynthServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "SynthServer",
        abstract: "A synthesizer of eight voices to be played over the network.",
        discussion: """
            It plays through ALSA. 'elemental set synth Note=69,0.8' presses a key and 'Note=69,0' lets it go; SynthPlayer \
            plays a melody, and 'elemental dashboard' shows all faders. Ends with Ctrl-C or SIGTERM.
            """)

    @Option(help: "The name that people see.")
    var name = "Synth"

    @Option(help: "The TCP and UDP port; 0 lets the system choose.")
    var port = 0

    @Option(help: "The local address to listen on, such as 127.0.0.1. (default: all)")
    var address: String?

    @Option(
        help: ArgumentHelp(
            "ALSA's name of the sound device, such as hw:1,0.",
            discussion: "Without a sound card, file:FILE=/tmp/synth.wav,FORMAT=wav plays into a file."))
    var pcm = "default"

    @Flag(help: "Do not publish it by Zeroconf.")
    var unlisted = false

    @Flag(help: "Tell once a second when which sample leaves the device, in ns of CLOCK_MONOTONIC.")
    var clock = false

    @OptionGroup var security: ServingOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535, not \(port)") }
    }

    func run() async throws {
        let device = try PlaybackDevice(pcm, microseconds: 5400)
        let milliseconds = Double(device.bufferSize) * 1000 / Double(PlaybackDevice.sampleRate)
        say("plays to '\(pcm)': 48000 Hz, a buffer of \(device.bufferSize) samples in periods of \(device.periodSize)")
        say(String(format: "that is %.2f ms from the computer to the ear", milliseconds))
        if milliseconds > 6 { say("which is more than 6 ms: a name that begins with hw: leaves out the sound server") }

        var configuration = ServiceConfiguration()
        configuration.port = port
        configuration.address = address
        configuration.isPublished = !unlisted
        let pairing = try security.apply(to: &configuration)
        let service = ElementalService(
            Synth.service, displayName: name, elements: Synth.all, configuration: configuration)
        let synthesizer = Synthesizer(sampleRate: Double(PlaybackDevice.sampleRate))
        try connect(service, to: synthesizer.controls)
        pairing.prepare(service, say: say)

        let audio = AudioThread(device, synthesizer)
        let readings = Readings(service, synthesizer.controls, audio, tellsClock: clock)
        var logger = Logger(label: "SynthServer", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = .error
        let group = ServiceGroup(
            services: [audio, readings, service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }

    /// Every handler runs on the service's event loop, where it only leaves a number for the audio thread.
    private func connect(_ service: ElementalService, to controls: Controls) throws {
        // All clients get what one of them sets.
        for parameter in Parameter.allCases {
            guard let fader = parameter.fader else { continue }
            try service.send(fader.start, to: fader.element)
            service.relay(fader.element) { value, _ in
                controls.set(parameter, to: value)
                return value
            }
        }
        try service.send(2, to: Synth.waveform)
        service.relay(Synth.waveform) { value, _ in
            controls.choose(waveform: value)
            return value
        }
        try service.send(0, to: Synth.filter)
        service.relay(Synth.filter) { value, _ in
            controls.choose(filter: value)
            return value
        }
        // A note that is refused is told to who sent it, with the reason.
        service.relay(Synth.note) { note, _ in
            try controls.play(note)
            return note
        }
        service.onValue(of: Synth.motion) { motion, _ in controls.move(motion) }
        service.onValue(of: Synth.allNotesOff) { _, _ in controls.releaseAll() }
        service.onEvent { event in
            switch event {
            case .listening(let port): say("listening on port \(port)")
            case .published(let name): say("published as '\(name)'")
            case .failedToPublish(let error, let delay): say("not published: \(error); next attempt in \(delay)")
            case .deviceConnected(let device): say("connected: \(device)")
            case .deviceDisconnected(let device, let reason):
                say("disconnected: \(device), \(reason)")
                // Nobody is left who could let the keys go.
                if service.devices.isEmpty { controls.releaseAll() }
            case .pairing: break
            case .stopped: say("stopped")
            }
        }
    }
}

/// Tells the clients how many voices sound, and how often the sound was interrupted.
private struct Readings: Service {
    let service: ElementalService
    let controls: Controls
    let audio: AudioThread
    let tellsClock: Bool

    init(_ service: ElementalService, _ controls: Controls, _ audio: AudioThread, tellsClock: Bool) {
        (self.service, self.controls, self.audio, self.tellsClock) = (service, controls, audio, tellsClock)
    }

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            var (voices, underruns, number) = (-1, -1, 0)
            while !Task.isCancelled {
                if voices != controls.voices {
                    voices = controls.voices
                    try service.send(UInt8(voices), to: Synth.voices)
                }
                if underruns != audio.underruns {
                    underruns = audio.underruns
                    try service.send(UInt32(clamping: underruns), to: Synth.underruns)
                }
                if tellsClock, let newest = audio.mark, newest.number != number {
                    number = newest.number
                    say("clock: sample \(newest.mark.frame) leaves at \(newest.mark.time)")
                }
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
    }
}

/// Prints a line and flushes it, also into a pipe.
private func say(_ line: String) {
    print(line)
    fflush(nil)
}
