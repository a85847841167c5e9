import CALSA
import Foundation

/// A device of ALSA that plays 16-bit stereo.
///
/// One thread uses it, but for its properties.
final class PlaybackDevice {
    static let sampleRate: UInt32 = 48000
    private let device: OpaquePointer
    /// How many frames the device holds, and how many are written at once.
    let bufferSize: Int
    let periodSize: Int

    /// Opens and prepares it.
    ///
    /// - Parameters:
    ///   - name: as in ALSA's configuration, such as `default` or `hw:1,0`.
    ///   - microseconds: the buffer's length to ask for; the device may have another one.
    init(_ name: String, microseconds: UInt32) throws {
        calsa_be_quiet()
        var device: OpaquePointer?
        let error = snd_pcm_open(&device, name, SND_PCM_STREAM_PLAYBACK, 0)
        guard error == 0, let device else {
            throw AudioError(
                """
                ALSA has no device '\(name)' (\(Self.text(error))). Is there a sound card? 'cat /proc/asound/cards' lists \
                them, 'aplay -L' (of alsa-utils) the names for --pcm, and who is not in the group 'audio' may not use them. \
                Without one, play into a file: --pcm file:FILE=/tmp/synth.wav,FORMAT=wav
                """)
        }
        var (buffer, period): (snd_pcm_uframes_t, snd_pcm_uframes_t) = (0, 0)
        let set = snd_pcm_set_params(
            device, SND_PCM_FORMAT_S16_LE, SND_PCM_ACCESS_RW_INTERLEAVED, 2, Self.sampleRate, 1, microseconds)
        guard set == 0, snd_pcm_get_params(device, &buffer, &period) == 0 else {
            snd_pcm_close(device)
            throw AudioError("the device '\(name)' does not play 16-bit stereo at 48 kHz: \(Self.text(set))")
        }
        self.device = device
        (bufferSize, periodSize) = (Int(buffer), Int(period))
    }

    deinit { snd_pcm_close(device) }

    /// The frames that are not heard yet.
    var delay: Int {
        var frames: snd_pcm_sframes_t = 0
        return snd_pcm_delay(device, &frames) == 0 ? frames : 0
    }

    /// Writes frames, and waits for room.
    ///
    /// - Returns: `false` if the device had run out of samples before.
    func write(_ samples: UnsafeBufferPointer<Int16>) throws -> Bool {
        var start = 0
        var isInTime = true
        while start < samples.count / 2 {
            let written = snd_pcm_writei(
                device, samples.baseAddress! + 2 * start, snd_pcm_uframes_t(samples.count / 2 - start))
            if written >= 0 {
                start += written
            } else {
                isInTime = false
                let error = snd_pcm_recover(device, Int32(written), 1)
                guard error == 0 else { throw AudioError("the sound device is gone: \(Self.text(error))") }
            }
        }
        return isInTime
    }

    private static func text(_ error: Int32) -> String { String(cString: snd_strerror(error)) }
}

/// Why there is no sound.
struct AudioError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
