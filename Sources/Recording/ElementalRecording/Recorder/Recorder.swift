public import Elemental
package import ElementalFollowing
internal import ElementalWire
internal import NIOCore
internal import NIOPosix
internal import Support

/// Records values of services into an MCAP file, with the times of their arrival.
///
/// ```swift
/// let recorder = try await Recorder(path: "robot.mcap")
/// let device = try await service.connect(as: "recorder") { recorder.record($0) }
/// …
/// let summary = await recorder.finish()
/// ```
/// A value costs its sender's event loop only an entry in a queue; the recorder's own thread writes it. Every value is
/// in the file within a second. If the program is killed, the file can be read up to its last second. The format is on
/// the page "Recording and replaying" of the module Elemental.
public final class Recorder: Sendable {
    /// The file.
    public let path: String

    private struct State {
        var queue: RecordQueue
        var isArmed = false
        /// Whether an earlier write is scheduled, because much is waiting.
        var isHurrying = false
        var failure: RecordingError?
        var isFinishing = false
    }

    /// The waiting bytes that cause a write at once.
    private static let hurryByteCount = 256 << 10

    private let options: RecorderOptions
    private let state: Locked<State>
    private let writer: MCAPWriter
    private let thread: NIOThreadPool
    private let loop: any EventLoop
    private let failed = Latch()
    /// Open while another value of a history may be requested: less than half of the maximum is waiting.
    private let room = Latch()
    private let positions: PositionTracker?
    /// The outcome of the recording, once it has ended.
    private let summary = Locked<RecordingSummary?>(nil)

    /// Creates the file and starts recording.
    ///
    /// - Throws: ``RecordingError``, with the code ``RecordingError/Code/fileExists`` if the file already exists.
    public init(path: String, options: RecorderOptions = RecorderOptions()) async throws(RecordingError) {
        self.path = path
        self.options = options
        state = Locked(
            State(queue: RecordQueue(names: options.elements, limit: options.maximumPendingByteCount)))
        loop = MultiThreadedEventLoopGroup.singleton.next()
        room.open()
        positions = options.onPositions.map { PositionTracker(start: options.clock.start, $0) }
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        self.thread = thread
        let result: Result<MCAPWriter, RecordingError> = await withCheckedContinuation { continuation in
            thread.submit { _ in
                continuation.resume(
                    returning: Result { () throws(RecordingError) in try MCAPWriter(path, options) })
            }
        }
        switch result {
        case .success(let writer): self.writer = writer
        case .failure(let error):
            thread.shutdownGracefully { _ in }
            throw error
        }
    }

    deinit { thread.shutdownGracefully { _ in } }

    /// Records all values that the device receives from now on, until it ends, across lost connections.
    ///
    /// Called in the closure `configure` of a connection, it misses no value.
    public func record(_ device: ElementalDevice) {
        let key = ServiceKey(service: device.service, name: device.name)
        device.onAnyValue { [weak self] element, value, device in
            guard let self else { return }
            change { state in
                if !state.queue.follows(key, element) {
                    state.queue.connected(key, device.knownElements, at: options.clock.now)
                }
                state.queue.add(value, of: element, key, at: { options.clock.now })
            }
        }
        device.onEvent { [weak self] event in
            switch event {
            case .willReconnect(let attempt, _):
                self?.disconnected(key, .away, attempt.lastError?.message ?? attempt.reason.description)
            case .disconnected(let reason): self?.disconnected(key, .away, reason.description)
            case .didReconnect: break
            }
        }
    }

    /// Records an event of a followed service. It can be called from any thread. The events of one service must come in
    /// order.
    package func note(_ event: FollowerEvent) {
        switch event {
        case .value(let key, let element, let value, let measured):
            // The age places the time of measurement on the recording's clock.
            let age = measured.map { 1000 * (MeasurementTime.now.microseconds &- $0.time.microseconds) }
            change { $0.queue.add(value, of: element, key, measured: age, at: { options.clock.now }) }
        case .history(let key, let element, .value(let value)):
            let age = value.time.map { 1000 * (MeasurementTime.now.microseconds &- $0.time.microseconds) }
            change {
                $0.queue.add(
                    value.value, of: element, key, measured: age, position: value.position, at: { options.clock.now })
                if $0.queue.byteCount >= options.maximumPendingByteCount / 2 { room.close() }
            }
        case .history(let key, let element, .gap(let gap)):
            change { $0.queue.addGap(gap, of: element, key, at: options.clock.now) }
        case .state(let key, .connected(_, let catalogue)): noteConnected(key, catalogue)
        case .state(let key, .away(let problem, _)): disconnected(key, .away, problem.message)
        case .state(let key, .refused(let refusal)): disconnected(key, .refused, refusal.message)
        case .state(let key, .gone): disconnected(key, .away, "it is no longer listed")
        case .state(_, .connecting), .place, .refusal, .leftOut, .roundTrip, .browsingFailed, .browsingWorks, .tooMany:
            break
        }
    }

    /// Waits until there is room for another value of a history, which the recorder does not drop.
    package func waitForRoom() async { await room.wait() }

    func noteConnected(_ key: ServiceKey, _ catalogue: ElementCatalogue) {
        change { $0.queue.connected(key, catalogue, at: options.clock.now) }
    }

    private func disconnected(_ key: ServiceKey, _ kind: RecordedEvent.Kind, _ reason: String) {
        change { $0.queue.disconnected(key, kind, reason, at: options.clock.now) }
    }

    /// Changes the queue, and schedules writing it.
    private func change(_ body: (inout State) -> Void) {
        let (mustArm, mustHurry) = state.withLock { state -> (Bool, Bool) in
            guard !state.isFinishing, state.failure == nil else { return (false, false) }
            body(&state)
            guard !state.queue.isEmpty else { return (false, false) }
            let mustHurry = !state.isHurrying && state.queue.byteCount >= Self.hurryByteCount
            if mustHurry { state.isHurrying = true }
            defer { state.isArmed = true }
            return (!state.isArmed, mustHurry)
        }
        if mustHurry { thread.submit { [weak self] _ in self?.write(flushes: false) } }
        if mustArm {
            loop.scheduleTask(in: TimeAmount(options.interval)) { [weak self] in
                guard let self else { return }
                thread.submit { [weak self] _ in self?.write(flushes: true) }
            }
        }
    }

    /// Writes the waiting entries. Runs on the recorder's thread.
    private func write(flushes: Bool) {
        let entries: [RecordQueue.Entry]? = state.withLock { state in
            if flushes { state.isArmed = false }
            state.isHurrying = false
            room.open()
            return state.failure == nil ? state.queue.take() : nil
        }
        guard let entries else { return }
        do throws(RecordingError) {
            positions?.prepare(entries, of: writer)
            try writer.write(entries, flushes: flushes)
            positions?.written(by: writer, areFlushed: flushes)
        } catch {
            state.withLock { $0.failure = error }
            failed.open()
        }
    }

    /// Writes everything that was recorded so far, which otherwise happens within a second.
    public func flush() async {
        await withCheckedContinuation { continuation in
            thread.submit { _ in
                self.write(flushes: true)
                continuation.resume()
            }
        }
    }

    /// Waits until the file cannot be written any more or has reached its limit, or the task is cancelled. Then call
    /// ``finish()``.
    public func waitUntilFull() async { await failed.wait() }

    /// Ends the recording: writes the waiting values and the file's index. Later values are not recorded.
    ///
    /// It can be called several times. Cancelling the task does not cut it short.
    @discardableResult
    public func finish() async -> RecordingSummary {
        state.withLock { $0.isFinishing = true }
        return await withCheckedContinuation { continuation in
            // The thread runs one job after the other: a second call returns the first one's summary.
            thread.submit { _ in continuation.resume(returning: self.summary.withLock { $0 } ?? self.writeEnd()) }
        }
    }

    private func writeEnd() -> RecordingSummary {
        write(flushes: true)
        let (failure, taken, lost) = state.withLock { ($0.failure, $0.queue.valueCount, $0.queue.lostCount) }
        var end = failure
        // Values beyond the file's size limit do not count as lost.
        func lostCount() -> Int { lost + (end?.code == .limitReached ? 0 : taken - writer.valueCount) }
        do throws(RecordingError) {
            try writer.finish(failure, lostCount: lostCount(), options.clock)
        } catch {
            if end == nil || end?.code == .limitReached { end = error }
        }
        let new = RecordingSummary(
            path: path, end: end?.code == .limitReached ? .limitReached : end.map { .failed($0) } ?? .finished,
            valueCount: writer.valueCount, lostCount: lostCount(), byteCount: writer.byteCount,
            duration: .nanoseconds(Int64(clamping: options.clock.elapsed())))
        summary.withLock { $0 = new }
        return new
    }
}

/// The outcome of a recording.
public struct RecordingSummary: Sendable {
    /// Why a recording ended.
    public enum End: Sendable {
        /// ``Recorder/finish()`` was called.
        case finished
        /// The file has reached ``RecorderOptions/maximumByteCount``.
        case limitReached
        /// The file cannot be written any more. Everything written before can be read.
        case failed(RecordingError)
    }

    /// The file.
    public let path: String
    /// Why it ended.
    public let end: End
    /// The number of values in the file.
    public let valueCount: Int
    /// The number of values that arrived but are not in the file, because they came faster than the disk could write or
    /// writing failed.
    public let lostCount: Int
    /// The file's length in bytes.
    public let byteCount: UInt64
    /// The time from the recorder's start to its end.
    public let duration: Duration
}
