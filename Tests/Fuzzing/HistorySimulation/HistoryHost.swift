import ElementalHistory
import NIOCore
import NIOEmbedded
import TestSupport

@testable import Elemental

/// The machine whose service keeps histories in files: its clocks, its disk, and the programs that run there one after the other.
final class HistoryHost: @unchecked Sendable {
    /// A run of the service's program.
    private struct Program {
        let service: ElementalService
        let server: ServiceServer
        let histories: ServiceHistories
        let thread: SimulatedThread
        let began: Int64
    }

    enum End { case inOrder, killed, powerFailure }

    static let service = "weather"
    static let elements = [
        Element<UInt64>(1, "Fast", access: .read).withTimes, Element<UInt64>(2, "Slow", access: .read).withTimes,
    ]

    let loop = EmbeddedEventLoop()
    let disk: SimulatedDisk
    let account: HistoryAccount
    private(set) var failureCount = 0
    var log: (String) -> Void = { _ in }
    private let catalogue: ElementCatalogue
    private let kept: [Element<UInt64>]
    private let folder: String
    private var program: Program?
    private var isStarting = false
    private weak var lastHistories: ServiceHistories?
    /// Microseconds of the simulation.
    private var now: Int64 = 0
    /// Microseconds from the simulation to the time of day, by this machine.
    private var timeOfDay: Int64 = 1_800_000_000_000_000
    private var isTimeOfDayKnown = false
    private var startNumber: UInt8 = 0
    /// When the disk began to be full, and until when values may wait because of that.
    private var full: (began: Int64, end: Int64) = (.min, .min)

    init(_ folder: String, _ limits: [HistoryLimits?], seed: UInt64) {
        self.folder = folder
        account = HistoryAccount(limits)
        disk = SimulatedDisk(folder, seed)
        disk.use()
        kept = zip(Self.elements, limits).map { $0.withHistory($1 ?? HistoryLimits()) }
        catalogue = [kept[0], kept[1]]
        startMachine()
    }

    // MARK: The machine

    /// Microseconds since the machine's start.
    private var clock: Int64 { now - account.boots[account.boots.count - 1].began + 1_000_000 }

    private var anchor: Int64 { isTimeOfDayKnown ? timeOfDay + now - clock : 0 }

    /// Its program runs next.
    func enter() { SimulatedMachine.set(time: clock) }

    func startMachine() {
        startNumber += 1
        isTimeOfDayKnown = false
        account.boots.append(HistoryAccount.Boot(began: now))
        disk.isOnDisk()
    }

    /// Something like NTP says what time it is.
    func learnTimeOfDay() {
        isTimeOfDayKnown = true
        noteAnchor()
    }

    func setTimeOfDay(aheadBy microseconds: Int64) {
        timeOfDay += microseconds
        noteAnchor()
    }

    private func noteAnchor() {
        if isTimeOfDayKnown { account.boots[account.boots.count - 1].anchors.append((now, anchor)) }
    }

    func fillDisk(_ isFull: Bool) {
        if isFull, !disk.isFull { full = (now > full.end ? now : full.began, .max) }
        // It is tried again after a minute.
        if !isFull, disk.isFull { full.end = now + 62_000_000 }
        disk.isFull = isFull
    }

    func advance(to time: Int64) {
        now = time
        enter()
        loop.advanceTime(to: .uptimeNanoseconds(UInt64(now * 1000)))
    }

    // MARK: Programs

    var isRunning: Bool { program != nil }
    var isDown: Bool { program == nil && !isStarting }

    /// Begins to start a program, which may take some steps.
    func start() {
        check(lastHistories == nil, "the histories of a program that has ended are still there")
        isStarting = true
        disk.begin()
        let start = [UInt8](repeating: startNumber, count: 16)
        let clock = HistoryClock(time: { [self] in self.clock }, anchor: { [self] in self.anchor }, start: start)
        let thread = SimulatedThread(loop)
        Task(executorPreference: LoopExecutor(on: loop)) { [self] in
            defer { isStarting = false }
            do {
                let histories = try await ServiceHistories(
                    clock, inFilesOf: Self.service, for: catalogue, directory: folder, interval: .seconds(10),
                    on: thread)
                histories.onFailure { [self] failure in
                    if failure != nil { failureCount += 1 }
                    log(failure.map { "values are not written: \($0)" } ?? "values are written again")
                }
                var configuration = ServiceConfiguration()
                configuration.eventLoopGroup = loop
                configuration.histories = histories
                configuration.maximumDeviceCountPerAddress = 64
                let service = ElementalService(
                    Self.service, displayName: "Weather", elements: catalogue, configuration: configuration)
                program = Program(
                    service: service, server: ServiceServer(service: service.shared, eventLoop: loop),
                    histories: histories, thread: thread, began: now)
                lastHistories = histories
            } catch {
                check(isDiskFull, "the program does not start: \(error)")
            }
        }
    }

    private var isDiskFull: Bool { (full.began...full.end).contains(now) }

    func accept(_ channel: any Channel) throws { _ = try program?.server.accept(channel) }

    func send(_ element: Int) {
        guard let program else { return }
        let value = account.add(element, at: now)
        enter()
        _ = try? program.service.send(value, to: kept[element], at: nil)
    }

    /// Tells the clients, and writes everything.
    func stop(_ body: @escaping @Sendable () -> Void) {
        guard let program else { return }
        _ = program.server.stop("restarting")
        Task(executorPreference: LoopExecutor(on: loop)) { [self] in
            // The sessions have their time to end.
            await withCheckedContinuation { continuation in
                loop.scheduleTask(in: .milliseconds(300)) { continuation.resume() }
            }
            _ = await program.histories.synchronise()
            end(.inOrder)
            body()
        }
    }

    /// - Parameter began: when the program's last call of the disk failed.
    func end(_ end: End, since began: Int64? = nil) {
        guard let program else { return }
        program.thread.isOver = true
        let began = began ?? now
        var lost: Int64? =
            switch end {
            case .inOrder: nil
            // Values are written within a second, and forced onto the disk within ten more.
            case .killed: began - 1_000_000
            case .powerFailure: began - 11_000_000
            }
        let isFull = full.began <= now && began - 11_000_000 <= full.end
        if isFull {
            lost = min(lost ?? .max, full.began - 11_000_000)
            account.endsWithFullDisk.append(now)
        }
        if let lost { account.lose(since: lost) }
        noteWrittenAnchor(program, isFull)
        self.program = nil
        if end == .powerFailure { disk.failPower() }
    }

    /// A program says what time it is when it starts, and within ten seconds after it knows.
    private func noteWrittenAnchor(_ program: Program, _ isFull: Bool) {
        let last = account.boots.count - 1
        guard !isFull, let known = account.boots[last].anchors.first?.since else { return }
        if now - max(known, program.began) > 25_000_000 { account.boots[last].isAnchorWritten = true }
    }
}

/// In place of a thread: work is done at once, or by the simulation's clock, until the program ends.
final class SimulatedThread: HistoryThread, @unchecked Sendable {
    var isOver = false
    private let loop: EmbeddedEventLoop

    init(_ loop: EmbeddedEventLoop) { self.loop = loop }

    func submit(_ work: @escaping @Sendable () -> Void) { if !isOver { work() } }

    func submit(in delay: Duration, _ work: @escaping @Sendable () -> Void) {
        loop.scheduleTask(in: TimeAmount(delay)) { [self] in submit(work) }
    }

    func end() {}
}
