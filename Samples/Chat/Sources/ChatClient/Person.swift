import ChatRoom
import Foundation
import SampleSecurity
import SignalR

/// Somebody at a terminal, or a program that writes lines and reads what is printed.
struct Person {
    private let composer: Composer?
    private let writesJSON: Bool

    init(_ options: ChatClient) {
        writesJSON = options.json
        composer = options.json ? nil : Composer()
    }

    func chat(over connection: HubConnection, in options: ChatClient) async throws {
        defer { composer?.end() }
        composer?.lock("connecting")
        let room = ChatRoom(connection, room: options.room, name: options.name, otherEvent: options.event) { show($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await room.run() }
            group.addTask { await type(in: room) }
            // Either the connection has ended, or everything that was typed has arrived.
            _ = try await group.next()
            group.cancelAll()
        }
    }

    /// Says what is typed, until its end.
    private func type(in room: ChatRoom) async {
        var line: [UInt8] = []
        for await bytes in Input.pieces() {
            if let composer {
                for key in composer.take(bytes) {
                    switch key {
                    case .line(let text): await say(text, in: room)
                    case .changed: await room.isTyping()
                    case .end: return
                    }
                }
            } else {
                for byte in bytes {
                    guard byte == UInt8(ascii: "\n") else {
                        // The hub refuses a shorter one already.
                        if line.count < 16 * 1024 { line.append(byte) }
                        continue
                    }
                    let text = String(decoding: line, as: UTF8.self)
                    if !text.isEmpty { await say(text, in: room) }
                    line = []
                }
            }
        }
        if !line.isEmpty { await say(String(decoding: line, as: UTF8.self), in: room) }
        while await room.waitingCount > 0, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(50)) }
    }

    private func say(_ text: String, in room: ChatRoom) async {
        while !(await room.say(text)), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(100)) }
    }

    private func show(_ event: ChatEvent) {
        if writesJSON { return show(json: event) }
        switch event {
        case .joined: unlock("joined")
        case .joinedWithoutHistory: unlock("joined; this hub keeps no lines, so those of earlier are not there")
        case .reconnecting(let reason):
            composer?.lock("reconnecting")
            print("* the connection is lost, reconnecting: \(reason)")
        case .closed(let reason):
            composer?.lock("closed")
            print("* the connection is closed\(reason.map { ": \($0)" } ?? "")")
        case .line(let line): print("\(line.name): \(line.text)")
        case .missed(let count): print("* \(count) lines are missing")
        case .refused(let text, let reason): print("* not said: \(text) (\(reason))")
        case .present(let names): print("* here: \(names.isEmpty ? "nobody else" : names.joined(separator: ", "))")
        case .typing(let names):
            composer?.show(status: names.isEmpty ? "" : "\(names.joined(separator: ", ").printable) is typing")
        }
    }

    private func unlock(_ text: String) {
        composer?.lock(nil)
        print("* \(text)")
    }

    private func print(_ text: String) {
        if let composer { composer.print(text.printable) } else { SampleSecurity.say(text) }
    }

    private func show(json event: ChatEvent) {
        var fields: [String: Any]
        switch event {
        case .joined: fields = ["event": "joined", "history": true]
        case .joinedWithoutHistory: fields = ["event": "joined", "history": false]
        case .reconnecting(let reason): fields = ["event": "reconnecting", "message": reason]
        case .closed(let reason): fields = ["event": "closed", "message": reason ?? ""]
        case .line(let line):
            fields = ["event": "line", "id": line.id, "name": line.name, "text": line.text]
            fields["position"] = line.position
        case .missed(let count): fields = ["event": "missed", "count": count]
        case .refused(let text, let reason): fields = ["event": "refused", "text": text, "message": reason]
        case .present(let names): fields = ["event": "present", "names": names]
        case .typing(let names): fields = ["event": "typing", "names": names]
        }
        guard
            let data = try? JSONSerialization.data(
                withJSONObject: fields, options: [.sortedKeys, .withoutEscapingSlashes])
        else { return }
        FileHandle.standardOutput.write(data + Data("\n".utf8))
    }
}

/// Standard input, in pieces as they come.
enum Input {
    static func pieces() -> AsyncStream<[UInt8]> {
        let (stream, writer) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingOldest(64))
        // A thread of its own: reading blocks.
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(0, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                var piece = Array(buffer[..<count])
                // While the reader is behind, nothing more is read.
                while case .dropped(let rest) = writer.yield(piece) {
                    piece = rest
                    usleep(20_000)
                }
            }
            writer.finish()
        }
        return stream
    }
}
