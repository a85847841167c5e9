import Foundation
public import SignalR

/// A line of a room.
public struct ChatLine: Sendable, Hashable {
    /// Its number in the room, from 1 on; `nil` of a hub that keeps no lines.
    public let position: Int?
    /// The same each time that the line comes.
    public let id: String
    public let name: String
    public let text: String
}

/// What happens in a room.
public enum ChatEvent: Sendable {
    /// The connection is open, and all lines that there were have come.
    case joined
    /// The connection is open, but the hub keeps no lines: those that were said meanwhile are missing.
    case joinedWithoutHistory
    /// The connection is lost; the room is joined again as soon as it is back.
    case reconnecting(String)
    /// The connection ended, or could not be opened.
    case closed(String?)
    /// A line that has not come before.
    case line(ChatLine)
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
    /// What was said and has not arrived yet, the oldest first.
    private var waiting: [(id: String, text: String)] = []
    private var isJoined = false
    private var keepsLines = true
    private var isSending = false
    private var lastTyping: ContinuousClock.Instant?

    /// Lines that may wait while there is no connection.
    public static let mostWaiting = 100
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
                await self?.take(ChatLine(position: position, id: id, name: name, text: text))
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
    public func say(_ text: String) async -> Bool {
        guard waiting.count < Self.mostWaiting else { return false }
        waiting.append((UUID().uuidString, text))
        await send()
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

    private func take(_ line: ChatLine) async {
        guard let place = line.position, place > 0, !line.id.isEmpty else { return await takeNote(line) }
        position = max(position, place)
        waiting.removeAll { $0.id == line.id }
        guard known.insert(line.id) else { return }
        guests.hasSaid(line.name)
        await tell(.line(line))
        await tellGuests()
    }

    private func takeOther(_ name: String, _ text: String) async {
        guard !keepsLines || !isJoined else { return }
        await tell(.line(ChatLine(position: nil, id: UUID().uuidString, name: name, text: text)))
    }

    private func takeNote(_ note: ChatLine) async {
        guard note.name != name else { return }
        let isNew = guests.note(note.text, from: note.name)
        await tellGuests()
        // Who has just come learns that this client is there too.
        if isNew { await self.note("here") }
    }

    private func tellGuests() async {
        if let names = guests.changedNames() { await tell(.present(names)) }
        if let names = guests.changedTyping() { await tell(.typing(names)) }
    }

    // MARK: To the hub

    private func join() async {
        do {
            let newest: Int = try await connection.invoke("Since", room, position)
            // A hub that was started anew counts from the beginning.
            if newest < position { position = newest }
            keepsLines = true
            isJoined = true
            await tell(.joined)
            await note("here")
        } catch  where error.code == .invocationFailed {
            keepsLines = false
            isJoined = true
            await tell(.joinedWithoutHistory)
        } catch {
            // The connection was lost again, and comes back or ends with an event.
            return
        }
        await send()
    }

    /// Sends what waits, one after the other.
    private func send() async {
        guard isJoined, !isSending else { return }
        isSending = true
        defer { isSending = false }
        while isJoined, let (id, text) = waiting.first {
            do {
                if keepsLines {
                    try await connection.invoke("Send", room, id, name, text)
                } else {
                    try await connection.invoke("Send", name, text)
                }
                waiting.removeAll { $0.id == id }
            } catch  where [.invocationFailed, .invalidArgument].contains(error.code) {
                waiting.removeAll { $0.id == id }
                await tell(.refused(text: text, reason: error.message))
            } catch {
                // A hub that keeps no lines may have it or not; twice would be worse.
                if !keepsLines {
                    waiting.removeAll { $0.id == id }
                    await tell(.refused(text: text, reason: "the connection was lost; nobody knows whether it arrived"))
                }
                return
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
