import Elemental
import NIOCore
import NIOPosix
import Support
public import VirtualCommodore

/// The Commodore 64 inside a gateway's process, running at original speed.
public final class VirtualMachine: Sendable {
    enum Event: Sendable {
        case bytes([UInt8])
        case terminalReady(Bool)
        /// The program ended.
        case stopped(String)
    }

    private final class Runner {
        let commodore: Commodore64
        let program: Program
        var pacer: RealTimePacer
        var isReady = false
        /// The frame of the newest snapshot.
        var frame: UInt64 = 0
        var tell: (@Sendable (Event) -> Void)?

        init(_ commodore: Commodore64, _ program: Program) {
            self.commodore = commodore
            self.program = program
            pacer = RealTimePacer(commodore)
        }
    }

    private struct State {
        var clock: RepeatedTask?
        /// Whether the machine is stopped and its thread is ending.
        var isOver = false
    }

    private let group: MultiThreadedEventLoopGroup
    private let eventLoop: any EventLoop
    private let runner: NIOLoopBoundBox<Runner>
    private let state = Locked(State())
    private let view = Locked(View())

    /// The state of the machine that other threads read without waiting for it.
    private struct View {
        var snapshot: VideoSnapshot?
        var keyboard = VirtualKeyboard()
    }

    /// The time slice of the machine. Its line transfers a byte every 8 ms at 1200 baud.
    private static let step = TimeAmount.milliseconds(4)

    /// - Throws: ``GatewayError`` if the program has no start address.
    init(_ program: Program, standard: VideoStandard, baud: Int) throws(GatewayError) {
        do {
            _ = try program.startAddress()
        } catch {
            throw GatewayError(.invalidProgram, "\(error)")
        }
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        eventLoop = group.next()
        runner = .makeBoxSendingValue(
            Runner(Commodore64(standard: standard, line: SerialLine(baud: baud)), program), eventLoop: eventLoop)
    }

    deinit {
        if !state.withLock({ $0.isOver }) { stop() }
    }

    /// Accesses the machine: reads its state, types on its keyboard, moves its joysticks.
    ///
    /// - Throws: any error that `body` throws; `CancellationError` when the gateway has closed the line.
    public func with<Result: Sendable>(
        _ body: @escaping @Sendable (Commodore64) throws -> Result
    ) async throws -> Result {
        // Under the lock, so that what is submitted before the thread ends is still executed.
        let future: EventLoopFuture<Result>? = state.withLock { state in
            guard !state.isOver else { return nil }
            return eventLoop.submit { [runner] in try body(runner.value.commodore) }
        }
        guard let future else { throw CancellationError() }
        return try await future.get()
    }

    func change(_ body: @escaping @Sendable (Commodore64) -> Void) {
        state.withLock { state in
            guard !state.isOver else { return }
            eventLoop.execute { [runner] in body(runner.value.commodore) }
        }
    }

    /// The state of the video chip at the end of the last frame; `nil` before the first one.
    var snapshot: VideoSnapshot? { view.withLock { $0.snapshot } }

    /// The maximum number of keys that wait to be typed. The machine types 50 or 60 a second while its program allows
    /// it.
    public static let keyCapacity = VirtualKeyboard.capacity

    /// The number of keys that can be added now; 0 while the program has ended and is restarted.
    public var roomForKeys: Int { view.withLock { $0.keyboard.room } }

    /// Types a whole text on the keyboard, or nothing. A line feed is RETURN; U+0008 and U+007F are DEL.
    ///
    /// - Parameter isLenient: whether characters without a key are replaced by similar ones, or else question marks.
    /// - Throws: a refusal that names the characters without a key, or reports that too many keys are waiting.
    public func type(_ text: String, replacingOthers isLenient: Bool = false) throws(ValueRefusal) {
        // Under the lock, so that texts are typed in the order in which they were counted.
        let outcome = view.withLock { view in
            Result { () throws(ValueRefusal) in
                let keys = try view.keyboard.keys(of: text, replacingOthers: isLenient)
                guard !keys.isEmpty else { return }
                view.keyboard.submitted += keys.count
                change { [view = self.view] commodore in
                    commodore.type(petscii: keys)
                    view.withLock {
                        $0.keyboard.submitted -= keys.count
                        $0.keyboard.waiting = commodore.untypedKeyCount
                    }
                }
            }
        }
        try outcome.get()
    }

    func start(_ tell: @escaping @Sendable (Event) -> Void) {
        guard !state.withLock({ $0.isOver }) else { return }
        view.withLock { $0.keyboard.isConnected = true }
        eventLoop.execute { [runner, view] in
            let runner = runner.value
            runner.tell = tell
            runner.isReady = false
            do {
                try runner.commodore.start(runner.program)
            } catch {
                view.withLock { $0.keyboard.isConnected = false }
                return tell(.stopped("\(error)"))
            }
            runner.commodore.line.cut()
            runner.pacer = RealTimePacer(runner.commodore)
        }
        state.withLock { state in
            guard state.clock == nil else { return }
            state.clock = eventLoop.scheduleRepeatedTask(initialDelay: Self.step, delay: Self.step) {
                [runner, view] _ in Self.run(runner.value, view)
            }
        }
    }

    func stop() {
        let clock = state.withLock { state in
            state.isOver = true
            return state.clock.take()
        }
        view.withLock { $0.keyboard.isConnected = false }
        clock?.cancel()
        group.shutdownGracefully { _ in }
    }

    private static func run(_ runner: Runner, _ view: Locked<View>) {
        guard let tell = runner.tell else { return }
        let commodore = runner.commodore
        runner.pacer.run(commodore)
        note(runner, in: view)
        if commodore.line.dtr != runner.isReady {
            runner.isReady.toggle()
            tell(.terminalReady(runner.isReady))
        }
        let bytes = commodore.line.receive()
        if !bytes.isEmpty { tell(.bytes(bytes)) }
        if let reason = commodore.stopReason {
            runner.tell = nil
            view.withLock { $0.keyboard.isConnected = false }
            tell(.stopped("\(reason)"))
        }
    }

    /// Publishes the state of the keyboard and, once a frame, the picture to other threads.
    private static func note(_ runner: Runner, in view: Locked<View>) {
        let commodore = runner.commodore
        let frame = commodore.cycle / UInt64(commodore.standard.cyclesPerFrame)
        let snapshot = frame == runner.frame ? nil : commodore.videoSnapshot()
        runner.frame = frame
        view.withLock { view in
            if let snapshot { view.snapshot = snapshot }
            view.keyboard.waiting = commodore.untypedKeyCount
            view.keyboard.characterSet = commodore.characterSet
        }
    }
}
