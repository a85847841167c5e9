import NIOCore
import NIOPosix
import Support

/// Reads a store's files again soon after they change, and once a minute besides; once a second where the system does
/// not report changes.
final class StoreWatch<Contents: Sendable> {
    /// The time between two reads of files whose changes are reported. A renamed parent directory is not reported.
    private static var backstop: TimeAmount { .minutes(1) }
    /// The delay before a read: a change is several steps, each of them reported.
    private static var quietTime: TimeAmount { .milliseconds(50) }

    private let eventLoop: any EventLoop
    private let interval: TimeAmount
    private let directories: @Sendable () -> [String]?
    private let read: () -> @Sendable () throws -> Contents
    private let report: (Result<Contents, any Error>) -> Void
    private var changes: DirectoryChanges?
    private var channel: (any Channel)?
    private var timer: Scheduled<Void>?
    private var isReading = false
    private var hasChanged = false
    private var hasStopped = false

    /// - Parameters:
    ///   - interval: the time between two reads of files whose changes are not reported, and before the first read.
    ///   - directories: returns the directories of the files, or `nil` if they are not known. It may block.
    ///   - read: returns the function that reads the files. That function may block.
    init(
        on eventLoop: any EventLoop, interval: TimeAmount = .seconds(1),
        directories: @escaping @Sendable () -> [String]?,
        read: @escaping () -> @Sendable () throws -> Contents,
        report: @escaping (Result<Contents, any Error>) -> Void
    ) {
        self.eventLoop = eventLoop
        self.interval = interval
        self.directories = directories
        self.read = read
        self.report = report
        openChannel()
        schedule(in: interval)
    }

    func stop() {
        hasStopped = true
        timer?.cancel()
        channel?.close(promise: nil)
        channel = nil
        changes = nil
    }

    private func openChannel() {
        guard let bootstrap = NIOPipeBootstrap(validatingGroup: eventLoop), let changes = DirectoryChanges(),
            let descriptor = changes.duplicate()
        else { return }
        let handler = NIOLoopBound(ChangeHandler { [weak self] in self?.readSoon() }, eventLoop: eventLoop)
        bootstrap
            // The system delivers whole reports only, and each may contain a file's name.
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4096))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler.value) }
            }
            .takingOwnershipOfDescriptor(input: descriptor).assumeIsolated().whenComplete { [weak self] result in
                switch result {
                case .success(let channel):
                    guard let self, !hasStopped else { return channel.close(promise: nil) }
                    (self.channel, self.changes) = (channel, changes)
                    // Without reports, the files are read once per `interval` again.
                    channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in
                        self?.changes = nil
                        self?.readSoon()
                    }
                case .failure: close(descriptor)
                }
            }
    }

    func readSoon() {
        guard !hasStopped else { return }
        if isReading {
            hasChanged = true
        } else if !hasChanged {
            hasChanged = true
            schedule(in: Self.quietTime)
        }
    }

    private func schedule(in delay: TimeAmount) {
        timer?.cancel()
        timer = eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in self?.look() }
    }

    private func look() {
        (isReading, hasChanged) = (true, false)
        let read = read()
        NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { [changes, directories] in
            // Before the files are read, so that no change is missed.
            (directories().flatMap { changes?.watch($0) } ?? false, Result { try read() })
        }.assumeIsolated().whenComplete { [weak self] result in
            guard let self, !hasStopped else { return }
            isReading = false
            let (isWatched, contents) = (try? result.get()) ?? (false, result.flatMap { $0.1 })
            schedule(in: hasChanged ? Self.quietTime : isWatched ? Self.backstop : interval)
            report(contents)
        }
    }
}

extension [String]? {
    func merging(_ others: [String]?) -> [String]? {
        guard let self, let others else { return nil }
        return self + others.filter { !self.contains($0) }
    }
}

private final class ChangeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let note: () -> Void

    init(_ note: @escaping () -> Void) { self.note = note }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { note() }
}

/// Reports changes in directories, with inotify.
final class DirectoryChanges: Sendable {
    private let descriptor: CInt

    /// - Returns: `nil` if this system does not report changes.
    init?() {
        #if os(Linux)
        descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        #else
        return nil
        #endif
    }

    deinit { close(descriptor) }

    /// Returns a copy of the descriptor, which the caller closes.
    func duplicate() -> CInt? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy < 0 ? nil : copy
    }

    /// Watches the directories, also those that were replaced. Blocks. Returns whether all are watched.
    func watch(_ directories: [String]) -> Bool {
        #if os(Linux)
        let events =
            IN_CREATE | IN_DELETE | IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
        return directories.allSatisfy { inotify_add_watch(descriptor, $0, UInt32(events)) >= 0 }
        #else
        return false
        #endif
    }
}
