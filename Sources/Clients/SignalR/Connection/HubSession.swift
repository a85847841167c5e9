import NIOCore
import Support

/// One connection to the hub's server, from its first byte to its last. The ``HubConnection`` that made it alone uses it.
final class HubSession {
    /// The longest that saying goodbye may take: what is unsent, and the transport's own farewell.
    static var closeTimeout: TimeAmount { .seconds(5) }

    /// A call that waits for the hub.
    enum Pending {
        case result(Outcome<Result<ByteBuffer?, SignalRError>>)
        case stream(ItemBuffer)
    }

    let number: UInt64
    let kind: TransportKind
    let connectionID: String?
    /// What the transport is opened with, and opened again when a broken connection is taken up.
    let maker: RequestMaker
    var frames: FrameReader
    /// Sent and received messages by number, if a broken connection can be taken up again.
    var log: MessageLog?

    /// Missing while a broken connection is being taken up again.
    var transport: (any HubTransport)?
    /// How many transports it has had; what an earlier one still has to tell does not count.
    var transports = 0
    /// Decided when the hub has answered the handshake.
    let handshake = Outcome<Result<Void, SignalRError>>()
    var isShaken = false
    var isOpen = false
    var isEnded = false
    /// The transport has ended, with that error, between the handshake and the opening: what came before is handled first.
    var earlyLoss: SignalRError??

    private var lastID: UInt64 = 0
    var pending: [String: Pending] = [:]
    /// Streams to the hub, by their own ids.
    var uploads: [String: Upload] = [:]
    /// Handlers that run for the hub.
    var answers = Answers()
    /// Bytes of answers that the hub wanted and that have not left, as far as it is known.
    private var unsentAnswers = 0
    /// Senders that wait until what was sent has left.
    private var senders: [Outcome<Void>] = []

    var lastSent = NIODeadline.now()
    var lastReceived = NIODeadline.now()
    var keepAlive: Scheduled<Void>?
    var timeout: Scheduled<Void>?
    var acknowledging: Scheduled<Void>?
    var resuming: Task<Void, Never>?
    /// How often it was taken up since the server last said where it goes on.
    var fruitlessResumes = 0

    init(
        number: UInt64, kind: TransportKind, connectionID: String?, maker: RequestMaker, frames: FrameReader,
        log: MessageLog?
    ) {
        self.number = number
        self.kind = kind
        self.connectionID = connectionID
        self.maker = maker
        self.frames = frames
        self.log = log
    }

    func nextID() -> String {
        lastID += 1
        return String(lastID)
    }

    // MARK: - Sending

    /// Whether senders may go on: what they sent before has left, and there is room to keep more until it is
    /// acknowledged.
    var isWritable: Bool { (transport?.isWritable ?? true) && log?.isFull != true }

    /// Waits until the session is writable or over.
    ///
    /// - Returns: `false` if the task was cancelled.
    func waitUntilWritable(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        let sender = Outcome<Void>()
        senders.append(sender)
        return await sender.value() != nil
    }

    func releaseSenders() {
        if transport?.isWritable == true {
            unsentAnswers = 0
            transport?.isReading = true
        }
        guard isWritable || isEnded || !isOpen else { return }
        let senders = senders
        self.senders = []
        for sender in senders { sender.resolve(()) }
    }

    /// Bytes of unsent answers from which on nothing more is read: a hub that asks and does not take the answers could
    /// otherwise fill the memory with them.
    private static var maximumUnsentAnswers: Int { 1 << 20 }
    /// Each answer takes so much besides its bytes.
    private static var answerOverhead: Int { 256 }

    /// Counts an answer that was sent because the hub wanted one. Only these hold reading up, and only a lot of them: a
    /// hub may well send much before it takes what a program has sent of its own accord.
    func noteAnswer(_ byteCount: Int) {
        guard let transport else { return }
        guard !transport.isWritable else {
            unsentAnswers = 0
            return
        }
        unsentAnswers += byteCount + Self.answerOverhead
        if unsentAnswers > Self.maximumUnsentAnswers { transport.isReading = false }
    }

    /// Whether so many answers wait for the hub's acknowledgement that it cannot be waited for.
    var isLogOverfull: Bool { log.map { $0.isOver(by: Self.maximumUnsentAnswers) } ?? false }

    // MARK: - Ending

    /// Fails all that waits.
    func fail(_ error: SignalRError) {
        let (pending, uploads) = (pending, uploads)
        self.pending = [:]
        self.uploads = [:]
        for call in pending.values {
            switch call {
            case .result(let outcome): outcome.resolve(.failure(error))
            case .stream(let items): items.finish(error)
            }
        }
        for upload in uploads.values { upload.task?.cancel() }
        answers.cancelAll()
        releaseSenders()
    }

    /// Ends the transport and what goes with it, without a word.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        isOpen = false
        keepAlive?.cancel()
        timeout?.cancel()
        acknowledging?.cancel()
        resuming?.cancel()
        transport?.abort()
        transport = nil
        handshake.resolve(.failure(SignalRError(.stopped, "the connection was stopped")))
        fail(SignalRError(.stopped, "the connection was stopped"))
    }
}

/// A stream to the hub.
struct Upload {
    /// The invocation that it belongs to, if that is answered.
    let invocation: String?
    var task: Task<Void, Never>?
}
