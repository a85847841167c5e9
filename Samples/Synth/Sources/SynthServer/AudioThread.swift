import CALSA
import Foundation
import SampleSecurity
import ServiceLifecycle
import Synchronization
import SynthEngine

/// Renders on a thread of its own into a playback device, a period at a time.
// Unchecked because of the device and the synthesizer: the thread that run() starts is the only one that uses them.
final class AudioThread: Service, @unchecked Sendable {
    private let device: PlaybackDevice
    private var synthesizer: Synthesizer
    private let isOver = Atomic(false)
    /// How often the device ran out of samples.
    let underruns = Atomic(0)

    init(_ device: PlaybackDevice, _ synthesizer: consuming Synthesizer) {
        self.device = device
        self.synthesizer = synthesizer
    }

    func run() async throws {
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await withCheckedThrowingContinuation { done in
                Thread { [self] in done.resume(with: Result { try play() }) }.start()
            }
        } onCancelOrGracefulShutdown: {
            self.isOver.store(true, ordering: .relaxed)
        }
    }

    private func play() throws {
        let samples = UnsafeMutableBufferPointer<Float>.allocate(capacity: 2 * device.periodSize)
        let integers = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 2 * device.periodSize)
        integers.initialize(repeating: 0)
        defer {
            device.close()
            samples.deallocate()
            integers.deallocate()
        }
        // Real-time priority, which not everybody may have.
        var priority = sched_param(sched_priority: 60)
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority)

        let lead = nanoseconds(device.bufferSize - device.periodSize)
        let origin = now + lead
        if !device.hasClock { say("sample 0 leaves at \(origin) ns of CLOCK_MONOTONIC") }
        var frame = 0
        while !isOver.load(ordering: .relaxed) {
            var isInTime = true
            if !device.hasClock {
                // As if it were a card: there is room for a period as soon as one has been played.
                let due = origin + nanoseconds(frame)
                sleep(until: due - lead)
                isInTime = now <= due
            }
            // What comes too late for a file is silence in it, as it would be from a card.
            if isInTime { synthesizer.render(into: samples) } else { samples.update(repeating: 0) }
            for index in samples.indices { integers[index] = Int16(samples[index] * 32767) }
            if try !device.write(integers) || !isInTime { underruns.add(1, ordering: .relaxed) }
            frame += device.periodSize
        }
        say("played \(frame) samples; the device ran out of them \(underruns.load(ordering: .relaxed)) times")
    }

    /// How long so many frames last, of 62,500 / 3 ns each.
    private func nanoseconds(_ frames: Int) -> Int { frames * 62_500 / 3 }

    private var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private func sleep(until time: Int) {
        var time = timespec(tv_sec: time / 1_000_000_000, tv_nsec: time % 1_000_000_000)
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}
