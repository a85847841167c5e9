import CALSA

/// A device of ALSA that plays 16-bit stereo at 48 kHz. One thread at a time uses it.
final class PlaybackDevice {
    static let sampleRate = 48000
    private let device: OpaquePointer
    /// How many frames it holds, and how many are written at once.
    let bufferSize, periodSize: Int
    /// Whether frames take as long as they last. A file, or nothing at all, takes them at once.
    let hasClock: Bool

    /// - Parameters:
    ///   - name: as in ALSA's configuration, such as `default` or `hw:1,0`.
    ///   - microseconds: the buffer's length to ask for; the device may have another one.
    init(_ name: String, microseconds: UInt32) throws {
        calsa_be_quiet()
        var opened: OpaquePointer?
        let error = snd_pcm_open(&opened, name, SND_PCM_STREAM_PLAYBACK, 0)
        guard error == 0, let opened else {
            throw AudioError(
                description: """
                    ALSA cannot open '\(name)': \(Self.text(error)). Is there a sound card? 'cat /proc/asound/cards' lists \
                    them, and 'aplay -L' the names for --device; only the group 'audio' may use them. Without one, play into a \
                    file: --device file:FILE=/tmp/synth.wav,FORMAT=wav
                    """)
        }
        var (buffer, period): (snd_pcm_uframes_t, snd_pcm_uframes_t) = (0, 0)
        let set = snd_pcm_set_params(
            opened, SND_PCM_FORMAT_S16_LE, SND_PCM_ACCESS_RW_INTERLEAVED, 2, UInt32(Self.sampleRate), 1, microseconds)
        guard set == 0, snd_pcm_get_params(opened, &buffer, &period) == 0 else {
            snd_pcm_close(opened)
            throw AudioError(description: "'\(name)' does not play 16-bit stereo at 48 kHz: \(Self.text(set))")
        }
        (device, bufferSize, periodSize) = (opened, Int(buffer), Int(period))
        hasClock = ![SND_PCM_TYPE_FILE, SND_PCM_TYPE_NULL].contains(snd_pcm_type(opened))
    }

    /// Ends it. A file is not complete before.
    func close() { snd_pcm_close(device) }

    /// Writes frames, and waits for room.
    ///
    /// - Returns: `false` if the device had run out of frames before.
    func write(_ samples: UnsafeMutableBufferPointer<Int16>) throws -> Bool {
        var (left, isInTime) = (samples[...], true)
        while !left.isEmpty {
            let written = snd_pcm_writei(device, samples.baseAddress! + left.startIndex, UInt(left.count / 2))
            if written < 0 {
                isInTime = false
                let error = snd_pcm_recover(device, Int32(written), 1)
                guard error == 0 else { throw AudioError(description: "the sound device is gone: \(Self.text(error))") }
            } else {
                left = left.dropFirst(2 * written)
            }
        }
        return isInTime
    }

    private static func text(_ error: Int32) -> String { String(cString: snd_strerror(error)) }
}

/// Why there is no sound.
struct AudioError: Error, CustomStringConvertible {
    let description: String
}
