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
    var port: UInt16 = 0

    @Option(help: "The local address to listen on, such as 127.0.0.1. (default: all)")
    var address: String?

    @Option(
        help: ArgumentHelp(
            "ALSA's name of the sound device, such as hw:1,0.",
            discussion: "Without a sound card, file:FILE=/tmp/synth.wav,FORMAT=wav plays into a file."))
    var device = "default"

    @Flag(help: "Do not publish it by Zeroconf.")
    var unlisted = false

    @OptionGroup var security: ServingOptions

    func run() async throws {
        let playback = try PlaybackDevice(device, microseconds: 5400)
        let milliseconds = 1000 * Double(playback.bufferSize) / Double(PlaybackDevice.sampleRate)
        say(
            "plays to '\(device)' with a buffer of \(playback.bufferSize) samples, \((milliseconds * 10).rounded() / 10) ms"
        )
        if milliseconds > 6 { say("that is long: a name that begins with hw: goes round the desktop's sound server") }

        var configuration = ServiceConfiguration(port: Int(port), address: address, isPublished: !unlisted)
        let pairing = try security.apply(to: &configuration)
        let service = ElementalService(
            Synth.service, displayName: name, elements: Synth.all, configuration: configuration)
        let synthesizer = Synthesizer(sampleRate: Float(PlaybackDevice.sampleRate))
        let controls = synthesizer.controls
        try connect(service, to: controls)
        pairing.prepare(service, say: say)

        let audio = AudioThread(playback, synthesizer)
        let readings = Readings(service: service, controls: controls, audio: audio)
        var logger = Logger(label: "SynthServer", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = .error
        let group = ServiceGroup(
            services: [audio, readings, service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }

    /// Every handler runs on the service's event loop, where it only leaves a number for the audio thread.
    private func connect(_ service: ElementalService, to controls: Controls) throws {
        for (element, start) in Synth.faders {
            guard let parameter = Parameter(rawValue: Int(element.id)) else { continue }
            try service.send(start, to: element)
            service.onValue(of: element) { value in controls.set(parameter, to: value) }
            // All clients get what one of them sets.
            service.relay(element)
        }
        // Whoever sends a note that is refused gets the reason.
        service.relay(Synth.note) { note, _ in
            try controls.play(note)
            return note
        }
        service.onValue(of: Synth.motion) { motion in controls.move(motion) }
        service.onValue(of: Synth.allNotesOff) { _, _ in controls.releaseAll() }
        service.onEvent { event in
            // What happens about pairing is told by the sample's options.
            if case .pairing = event { return }
            say("\(event)")
            // Nobody is left who could let the keys go.
            if case .deviceDisconnected = event, service.devices.isEmpty { controls.releaseAll() }
        }
    }
}

/// Tells the clients how many voices sound, and how often the sound was interrupted.
private struct Readings: Service {
    let service: ElementalService
    let controls: Controls
    let audio: AudioThread

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try service.send(UInt8(controls.voices), to: Synth.voices)
                try service.send(UInt32(clamping: audio.underruns.load(ordering: .relaxed)), to: Synth.underruns)
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
    }
}
