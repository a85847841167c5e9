import NIOCore
import Support

/// One connection to the hub's server, from its first byte to its last.
///
/// `@unchecked Sendable` because it belongs to one ``HubConnection``, and only that actor uses it: Swift 6.2 does not see that
/// a session which the actor's own methods return to each other never leaves it.
final class HubSession: @unchecked Sendable {
    /// The maximum time for closing: sending the queued messages, and the transport's own close handshake.
    static var closeTimeout: TimeAmount { .seconds(5) }

    enum Pending {
        case result(Outcome<Result<ByteBuffer?, SignalRError>>)
        case stream(ItemBuffer)
    }

    let kind: TransportKind
    let connectionID: String?
    /// Makes the requests that open the transport, and those that reopen it to resume a broken connection.
    let maker: RequestMaker
    var frames: FrameReader
    /// The numbered messages sent and received, if the connection can be resumed.
    var log: MessageLog?

    /// `nil` while a broken connection is being resumed.
    var transport: (any HubTransport)?
    /// The number of transports so far. Late events of an earlier one are ignored.
    var transports = 0
    let handshake = Outcome<Result<Void, SignalRError>>()
    var isHandshakeDone = false
    var isOpen = false
    var isEnded = false
    /// The error if the transport ended between the handshake and the opening. Messages received before that are
    /// handled first.
    var earlyLoss: SignalRError??

    private var lastID: UInt64 = 0
    var pending: [String: Pending] = [:]
    /// Streams to the hub, by stream id, each with its invocation if the hub answers it.
    var uploads: [String: (invocation: String?, task: Task<Void, Never>)] = [:]
    var answers = Answers()
    /// The estimated bytes of unsent answers to the hub's calls.
    private var unsentAnswers = 0
    private var senders: [Outcome<Void>] = []

    var lastSent = NIODeadline.uptimeNanoseconds(0)
    var lastReceived = NIODeadline.uptimeNanoseconds(0)
    var keepAlive: Scheduled<Void>?
    var timeout: Scheduled<Void>?
    var acknowledging: Scheduled<Void>?
    var resuming: Task<Void, Never>?
    /// How often it was resumed without the server sending its `Sequence`.
    var unconfirmedResumes = 0

    init(kind: TransportKind, connectionID: String?, maker: RequestMaker, frames: FrameReader, log: MessageLog?) {
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

    /// Whether senders may continue: the transport is writable, and there is room for more unacknowledged messages.
    var isWritable: Bool { (transport?.isWritable ?? true) && log?.isFull != true }

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

    /// Reading stops when more bytes of answers than this are unsent: a hub that asks without reading the answers could
    /// otherwise fill the memory with them.
    private static var maximumUnsentAnswers: Int { 1 << 20 }
    /// Bytes of memory that an answer takes besides its own.
    private static var answerOverhead: Int { 256 }

    /// Counts an answer to a call of the hub. Only answers stop reading, and only many of them: a hub may send much
    /// before it reads messages that the program sent by itself.
    func noteAnswer(_ byteCount: Int) {
        guard let transport else { return }
        guard !transport.isWritable else {
            unsentAnswers = 0
            return
        }
        unsentAnswers += byteCount + Self.answerOverhead
        if unsentAnswers > Self.maximumUnsentAnswers { transport.isReading = false }
    }

    /// Whether too many answers are unacknowledged, so that the connection must end.
    var isLogOverfull: Bool { log.map { $0.isOver(by: Self.maximumUnsentAnswers) } ?? false }

    // MARK: - Ending

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
        for upload in uploads.values { upload.task.cancel() }
        answers.cancelAll()
        releaseSenders()
    }

    /// Ends the transport and everything that depends on it, without notifying the server.
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
