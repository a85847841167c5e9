import Elemental
import NIOCore
import NIOPosix
import Support
public import VirtualCommodore

/// The Commodore 64 inside a gateway's process, running at original speed.
public final class VirtualMachine: Sendable {
    /// Its activity on the user port.
    enum Event: Sendable {
        case bytes([UInt8])
        case terminalReady(Bool)
        /// The program ended.
        case stopped(String)
    }

    /// The machine on its loop.
    private final class Runner {
        let commodore: Commodore64
        let program: Program
        var pacer: RealTimePacer
        var isReady = false
        var tell: (@Sendable (Event) -> Void)?

        init(_ commodore: Commodore64, _ program: Program) {
            self.commodore = commodore
            self.program = program
            pacer = RealTimePacer(commodore)
        }
    }

    private struct State {
        var clock: RepeatedTask?
        /// Whether its thread has ended.
        var isOver = false
    }

    private let group: MultiThreadedEventLoopGroup
    private let eventLoop: any EventLoop
    private let runner: NIOLoopBoundBox<Runner?>
    private let state = Locked(State())

    /// The time slice of the machine. Its line transfers a byte every 8 ms at 1200 baud.
    private static let step = TimeAmount.milliseconds(4)

    /// A machine that runs the program once a gateway has started it.
    ///
    /// - Throws: ``GatewayError`` if the program has no start address.
    init(_ program: Program, standard: VideoStandard, baud: Int) throws(GatewayError) {
        do {
            _ = try program.startAddress()
        } catch {
            throw GatewayError(.invalidProgram, "\(error)")
        }
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        eventLoop = group.next()
        runner = .makeBoxSendingValue(nil, eventLoop: eventLoop)
        eventLoop.execute { [runner] in
            runner.value = Runner(Commodore64(standard: standard, line: SerialLine(baud: baud)), program)
        }
    }

    deinit {
        if !state.withLock({ $0.isOver }) { stop() }
    }

    /// Accesses the machine: reads its state, types on its keyboard, moves its joysticks.
    ///
    /// - Throws: what `body` throws, and `CancellationError` when the gateway has closed the line.
    public func with<Result: Sendable>(
        _ body: @escaping @Sendable (Commodore64) throws -> Result
    ) async throws -> Result {
        // Under the lock, so that what is submitted before the thread ends is still executed.
        let future: EventLoopFuture<Result>? = state.withLock { state in
            guard !state.isOver else { return nil }
            return eventLoop.submit { [runner] in
                guard let runner = runner.value else { throw CancellationError() }
                return try body(runner.commodore)
            }
        }
        guard let future else { throw CancellationError() }
        return try await future.get()
    }

    /// Runs a closure on the machine, in the order of the calls.
    func change(_ body: @escaping @Sendable (Commodore64) -> Void) {
        state.withLock { state in
            guard !state.isOver else { return }
            eventLoop.execute { [runner] in
                if let runner = runner.value { body(runner.commodore) }
            }
        }
    }

    /// Switches the machine on and starts the program.
    func start(_ tell: @escaping @Sendable (Event) -> Void) {
        guard !state.withLock({ $0.isOver }) else { return }
        eventLoop.execute { [runner] in
            guard let runner = runner.value else { return }
            runner.tell = tell
            runner.isReady = false
            do {
                try runner.commodore.start(runner.program)
            } catch {
                return tell(.stopped("\(error)"))
            }
            runner.commodore.line.cut()
            runner.pacer = RealTimePacer(runner.commodore)
        }
        state.withLock { state in
            guard state.clock == nil else { return }
            state.clock = eventLoop.scheduleRepeatedTask(initialDelay: Self.step, delay: Self.step) { [runner] task in
                if let runner = runner.value { Self.run(runner) }
            }
        }
    }

    /// Switches the machine off.
    func stop() {
        let clock = state.withLock { state in
            state.isOver = true
            return state.clock.take()
        }
        clock?.cancel()
        group.shutdownGracefully { _ in }
    }

    private static func run(_ runner: Runner) {
        guard let tell = runner.tell else { return }
        let commodore = runner.commodore
        runner.pacer.run(commodore)
        if commodore.line.dtr != runner.isReady {
            runner.isReady.toggle()
            tell(.terminalReady(runner.isReady))
        }
        let bytes = commodore.line.receive()
        if !bytes.isEmpty { tell(.bytes(bytes)) }
        if let reason = commodore.stopReason {
            runner.tell = nil
            tell(.stopped("\(reason)"))
        }
    }
}
