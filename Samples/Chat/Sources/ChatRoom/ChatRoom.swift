import Foundation
public import SignalR

/// A line of a room.
public struct ChatLine: Sendable, Hashable {
    /// Its number in the room, from 1 on; `nil` at a hub that keeps no lines.
    public let position: Int?
    /// The same each time that the line comes.
    public let id: String
    public let name: String
    public let text: String
    /// Whether this client has said it.
    public let isOwn: Bool
}

/// What happens in a room.
public enum ChatEvent: Sendable {
    /// The connection is open; the lines that were said meanwhile come before newer ones.
    case joined
    /// The connection is open, but the hub keeps no lines: those that were said meanwhile are missing.
    case joinedWithoutHistory
    /// The connection is lost; the room is joined again as soon as it is back.
    case reconnecting(String)
    /// The connection ended, or could not be opened.
    case closed(String?)
    /// A line that has not come before.
    case line(ChatLine)
    /// So many lines were said while the connection was lost, and the hub has them no more.
    case missed(Int)
    /// A line of this client's that the hub refused, and why.
    case refused(text: String, reason: String)
    /// Who is there, without this client.
    case present([String])
    /// Who is typing, without this client.
    case typing([String])
}

/// A client in a room: each line comes once and in order, and each that is said is there once, however often the connection is
/// lost meanwhile.
///
/// A line has an identifier of its own. It waits here until the hub has answered, or until it has come as everybody else's do;
/// after a loss the room is joined again from the last position on, and what is still waiting is said once more. The hub does not
/// say a line twice whose identifier it knows.
public actor ChatRoom {
    public nonisolated let name: String

    private let connection: HubConnection
    private let room: String
    private let otherEvent: String
    private let tell: @Sendable (ChatEvent) async -> Void
    private var guests = Guests()
    private var position = 0
    private var known = RecentIdentifiers()
    /// Lines of this client that have not arrived yet, the oldest first.
    private var waiting: [(id: String, text: String)] = []
    private var own = RecentIdentifiers()
    private var isJoined = false
    private var wasJoined = false
    private var keepsLines = true
    private var lastTyping: ContinuousClock.Instant?
    /// Wakes what sends.
    private let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Lines that may wait while there is no connection.
    public static let mostWaiting = 100
    /// Bytes of an identifier or a name; a longer one is not taken.
    private static let longestName = 256
    private static let noteInterval = Duration.seconds(10)

    /// - Parameters:
    ///   - connection: not started, and with a policy for reconnecting.
    ///   - room: its name, at most 64 characters.
    ///   - name: this client's, at most 32 characters.
    ///   - otherEvent: what a hub calls that has no method `Since`, with a name and a text.
    ///   - tell: called with what happens. The next line is taken when it has returned.
    public init(
        _ connection: HubConnection, room: String, name: String, otherEvent: String = "ReceiveMessage",
        tell: @escaping @Sendable (ChatEvent) async -> Void
    ) {
        self.connection = connection
        self.room = room
        self.name = name
        self.otherEvent = otherEvent
        self.tell = tell
    }

    /// Joins the room and stays until the task is cancelled or the connection ends.
    ///
    /// - Throws: `SignalRError` if the first connection cannot be opened.
    public func run() async throws {
        let changes = connection.events
        let handlers = [
            connection.on("Line") { [weak self] (position: Int, id: String, name: String, text: String) in
                await self?.take(position, id, name, text)
            },
            connection.on(otherEvent) { [weak self] (name: String, text: String) in
                await self?.takeOther(name, text)
            },
        ]
        defer { for handler in handlers { handler.cancel() } }
        do {
            try await connection.start()
        } catch {
            await tell(.closed("\(error)"))
            throw error
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in await sayHello() }
            // A task of its own: whoever says a line may be cancelled.
            group.addTask { [self] in for await _ in wakes { await send() } }
            await join()
            for await change in changes {
                switch change {
                case .opened, .failedToOpen: break
                case .willReconnect(let error):
                    isJoined = false
                    await tell(.reconnecting(error.map { "\($0)" } ?? "closed by the hub"))
                case .didReconnect: await join()
                case .closed(let error):
                    isJoined = false
                    await tell(.closed(error.map { "\($0)" }))
                    group.cancelAll()
                    return
                }
            }
            group.cancelAll()
        }
        await connection.stop()
    }

    /// Says a line. It is sent now, or when the connection is back.
    ///
    /// - Returns: whether there was room for it.
    public func say(_ text: String) -> Bool {
        guard waiting.count < Self.mostWaiting else { return false }
        let id = UUID().uuidString
        _ = own.insert(id)
        waiting.append((id, text))
        wake.yield()
        return true
    }

    /// Lets the others know that this client is typing, at most every few seconds.
    public func isTyping() async {
        let now = ContinuousClock.now
        guard keepsLines, isJoined, lastTyping.map({ now - $0 > .seconds(2) }) ?? true else { return }
        lastTyping = now
        await note("typing")
    }

    /// Lines that have not reached the hub yet.
    public var waitingCount: Int { waiting.count }

    // MARK: From the hub

    private func take(_ place: Int, _ id: String, _ name: String, _ text: String) async {
        // What is remembered of a hostile hub stays small.
        guard max(id.utf8.count, name.utf8.count) <= Self.longestName else { return }
        guard place > 0, !id.isEmpty else { return await takeNote(text, from: name) }
        if position > 0, place > position + 1 { await tell(.missed(place - position - 1)) }
        position = max(position, place)
        waiting.removeAll { $0.id == id }
        guard known.insert(id) else { return }
        guests.hasSaid(name)
        await tell(.line(ChatLine(position: place, id: id, name: name, text: text, isOwn: own.contains(id))))
        await tellGuests()
    }

    private func takeOther(_ name: String, _ text: String) async {
        guard !keepsLines else { return }
        await tell(
            .line(ChatLine(position: nil, id: UUID().uuidString, name: name, text: text, isOwn: name == self.name)))
    }

    private func takeNote(_ text: String, from name: String) async {
        guard name != self.name else { return }
        let isNew = guests.note(text, from: name)
        await tellGuests()
        // Who has just come learns that this client is there too.
        if isNew { await note("here") }
    }

    private func tellGuests() async {
        if let names = guests.changedNames() { await tell(.present(names)) }
        if let names = guests.changedTyping() { await tell(.typing(names)) }
    }

    // MARK: To the hub

    private func join() async {
        do {
            if keepsLines {
                let newest: Int = try await connection.invoke("Since", room, position)
                // A hub that was started anew counts from the beginning.
                if newest < position { position = newest }
            }
            await hasJoined()
        } catch {
            // A hub that answers something else does not know the method.
            switch error.code {
            case .invocationFailed where wasJoined, .invalidResult where wasJoined:
                await tell(.closed(error.message))
                await connection.stop()
            case .invocationFailed, .invalidResult:
                keepsLines = false
                await hasJoined()
            default: break  // The connection was lost again, and comes back or ends with an event.
            }
        }
    }

    private func hasJoined() async {
        (isJoined, wasJoined) = (true, true)
        await tell(keepsLines ? .joined : .joinedWithoutHistory)
        await note("here")
        wake.yield()
    }

    /// Sends what waits, one after the other.
    private func send() async {
        while isJoined, let (id, text) = waiting.first {
            do {
                if keepsLines {
                    let place: Int = try await connection.invoke("Send", room, id, name, text)
                    // The hub has had it for so long that it does not come any more.
                    if place <= position, !known.contains(id) { await take(place, id, name, text) }
                } else {
                    try await connection.invoke("Send", name, text)
                }
                waiting.removeAll { $0.id == id }
            } catch {
                switch error.code {
                case .invocationFailed, .invalidArgument, .invalidResult:
                    waiting.removeAll { $0.id == id }
                    await tell(.refused(text: text, reason: error.message))
                default:
                    // A hub that keeps no lines may have it or not; twice would be worse.
                    guard !keepsLines else { return }
                    waiting.removeAll { $0.id == id }
                    let reason = "the connection was lost; nobody knows whether it arrived"
                    await tell(.refused(text: text, reason: reason))
                    return
                }
            }
        }
    }

    private func note(_ text: String) async {
        guard keepsLines else { return }
        try? await connection.send("Send", room, "", name, text)
    }

    private func sayHello() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.noteInterval)
            if isJoined { await note("here") }
            await tellGuests()
        }
    }
}
