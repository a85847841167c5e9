import CALSA
import Foundation
import ServiceLifecycle
import SynthEngine
import Synchronization

/// Renders on a thread of its own, a period at a time, into a playback device.
// Unchecked because of the device and the synthesizer: after run() has started the thread, that thread alone uses them.
final class AudioThread: Service, @unchecked Sendable {
    /// That a frame leaves the device at a time.
    struct Mark: Sendable {
        var frame = 0
        /// Nanoseconds of CLOCK_MONOTONIC.
        var time = 0
    }

    private static let rate = Int(PlaybackDevice.sampleRate)
    private let device: PlaybackDevice
    private let synthesizer: Synthesizer
    private let isOver = Atomic(false)
    private let underrunCount = Atomic(0)
    // The newest mark; its two numbers are read again if they were changed between.
    private let version = Atomic(0), markFrame = Atomic(0), markTime = Atomic(0)

    init(_ device: PlaybackDevice, _ synthesizer: Synthesizer) {
        self.device = device
        self.synthesizer = synthesizer
    }

    /// How often the device ran out of samples.
    var underruns: Int { underrunCount.load(ordering: .relaxed) }

    /// The newest mark, of which there is one a second and one after each underrun, and its number; `nil` before the first.
    var mark: (number: Int, mark: Mark)? {
        while true {
            let before = version.load(ordering: .acquiring)
            let mark = Mark(frame: markFrame.load(ordering: .acquiring), time: markTime.load(ordering: .acquiring))
            if before == version.load(ordering: .acquiring), before % 2 == 0 { return before == 0 ? nil : (before, mark) }
        }
    }

    func run() async throws {
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                let thread = Thread { [self] in done.resume(with: Result { try play() }) }
                thread.name = "audio"
                thread.start()
            }
        } onCancelOrGracefulShutdown: {
            self.isOver.store(true, ordering: .relaxed)
        }
    }

    private func play() throws {
        let count = 2 * device.periodSize
        let samples = UnsafeMutableBufferPointer<Float>.allocate(capacity: count)
        let integers = UnsafeMutableBufferPointer<Int16>.allocate(capacity: count)
        integers.initialize(repeating: 0)
        samples.initialize(repeating: 0)
        defer {
            samples.deallocate()
            integers.deallocate()
        }
        _ = calsa_hurry(60)

        // A sound card takes its time; a file does not, so that the clock has to keep the pace.
        let start = Self.now
        let silent = 4 * device.bufferSize / device.periodSize
        for _ in 0..<silent { _ = try device.write(UnsafeBufferPointer(integers)) }
        let paces = Self.now - start > Self.nanoseconds(2 * device.bufferSize)
        var frame = silent * device.periodSize
        var epoch = Mark(frame: frame, time: Self.now + Self.nanoseconds(device.bufferSize - device.periodSize))
        var nextMark = frame

        while !isOver.load(ordering: .relaxed) {
            var isInTime = true
            if !paces {
                // As if it were a card: when a period has been heard, there is room for one.
                let heard = epoch.time + Self.nanoseconds(frame - epoch.frame)
                Self.sleep(until: heard - Self.nanoseconds(device.bufferSize - device.periodSize))
                isInTime = Self.now <= heard
                if !isInTime {
                    epoch = Mark(frame: frame, time: Self.now + Self.nanoseconds(device.bufferSize - device.periodSize))
                }
            }
            synthesizer.render(into: samples)
            for index in 0..<count { integers[index] = Int16(samples[index] * 32767) }
            isInTime = try device.write(UnsafeBufferPointer(integers)) && isInTime
            frame += device.periodSize
            if !isInTime { underrunCount.add(1, ordering: .relaxed) }
            if frame >= nextMark || !isInTime {
                nextMark = frame + Self.rate
                publish(paces ? Mark(frame: frame, time: Self.now + Self.nanoseconds(device.delay)) : epoch)
            }
        }
    }

    private func publish(_ mark: Mark) {
        version.add(1, ordering: .acquiringAndReleasing)
        markFrame.store(mark.frame, ordering: .releasing)
        markTime.store(mark.time, ordering: .releasing)
        version.add(1, ordering: .acquiringAndReleasing)
    }

    private static func nanoseconds(_ frames: Int) -> Int { frames * 1_000_000_000 / rate }

    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private static func sleep(until time: Int) {
        var time = timespec(tv_sec: time / 1_000_000_000, tv_nsec: time % 1_000_000_000)
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}
