import Glibc
import NIOPosix
import Support
import Synchronization
import TestSupport
import Testing

@testable import Elemental

/// Writing to a connection from another thread than its event loop's.
struct DirectSocketTests {
    private static func pair() throws -> (CInt, CInt) {
        var ends: [CInt] = [-1, -1]
        // No process that another test starts may keep an end open.
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    /// `#expect` takes only what can be copied.
    private final class Socket: Sendable {
        private let direct = DirectSocket()
        private let asked = Atomic(0)

        /// How often the owner was asked to open it.
        var askedCount: Int { asked.load(ordering: .relaxed) }

        func isOpen() -> Bool { direct.isOpen { asked.add(1, ordering: .relaxed) } }

        func open(_ descriptor: CInt?) { direct.open(descriptor) }

        func withDescriptor<Result>(_ body: (CInt) -> Result) -> Result? { direct.withDescriptor(body) }

        func write(_ text: String) -> Int { withDescriptor { send($0, text, text.utf8.count, Self.flags) } ?? 0 }

        private static let flags = CInt(MSG_NOSIGNAL)

        func close() { direct.close() }
    }

    private static func read(_ descriptor: CInt) -> String? {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// A socket of which only the duplicate for threads is open, and the other end.
    private static func openedDuplicate() throws -> (Socket, other: CInt) {
        let (own, other) = try pair()
        let socket = Socket()
        _ = socket.isOpen()
        socket.open(own)
        Glibc.close(own)
        return (socket, other)
    }

    @Test
    func itIsOpenedWhenAThreadHasAskedForIt() throws {
        let (own, other) = try Self.pair()
        defer { for descriptor in [own, other] { Glibc.close(descriptor) } }
        let socket = Socket()
        #expect(socket.write("early") == 0)
        #expect(socket.askedCount == 0)
        #expect(!socket.isOpen())
        #expect(!socket.isOpen())
        #expect(socket.askedCount == 1)
        socket.open(own)
        #expect(socket.isOpen())
        #expect(socket.write("hello") == 5)
        #expect(Self.read(other) == "hello")
        socket.close()
        socket.close()
        #expect(socket.write("late") == 0)
        #expect(!socket.isOpen())
        #expect(socket.askedCount == 1)
    }

    @Test
    func itEndsWithTheChannel() throws {
        let (socket, other) = try Self.openedDuplicate()
        defer { Glibc.close(other) }
        // Still open, by the duplicate.
        #expect(Self.read(other) == nil)
        socket.close()
        #expect(Self.read(other) == "")
    }

    @Test
    func withoutASocketNobodyAsksAgain() {
        let socket = Socket()
        _ = socket.isOpen()
        socket.open(nil)
        #expect(!socket.isOpen())
        #expect(socket.askedCount == 1)
    }

    @Test
    func theLastThreadThatUsesItClosesIt() throws {
        let (socket, other) = try Self.openedDuplicate()
        defer { Glibc.close(other) }
        let count = socket.withDescriptor { descriptor in
            #expect(socket.write("a") == 1)
            socket.close()
            #expect(socket.write("b") == 0)
            return send(descriptor, "c", 1, 0)
        }
        #expect(count == 1)
        #expect(Self.read(other) == "ac")
        #expect(Self.read(other) == "")
    }

    /// Whoever comes second closes the descriptor.
    @Test
    func aThreadThatWritesWhileItIsClosedClosesIt() async throws {
        for _ in 0..<300 {
            let (socket, other) = try Self.openedDuplicate()
            defer { Glibc.close(other) }
            async let writing: Void = Task.detached { while socket.write("x") > 0 {} }.value
            while Self.read(other) == nil { await Task.yield() }
            socket.close()
            await writing
            try await eventually { Self.read(other) == "" }
        }
    }

    /// Tasks of Swift's thread pool answer each other by streams, while other threads send too: everything arrives once
    /// and in order, and answers are written by the tasks.
    @Test(.backstop)
    func tasksThatAnswerEachOtherLoseNothing() async throws {
        try await withService(Lamp.all, { _ in }) { service, port in
            let count = 1000
            let noise = Transcript<Float>()
            service.onValue(of: Lamp.brightness) { value, _ in noise.add(value) }
            service.onEvent { event in
                guard case .deviceConnected(let device) = event else { return }
                Task {
                    for await text in device.values(of: Lamp.label) { try? device.send(text, to: Lamp.label) }
                }
            }
            let device = try await connect(port)
            let sending = Task.detached {
                for number in 0..<count {
                    try await device.sendWhenReady(Float(number) / Float(count), to: Lamp.brightness)
                    if number.isMultiple(of: 16) { await Task.yield() }
                }
            }
            try await Task.detached {
                var answers = device.values(of: Lamp.label).makeAsyncIterator()
                for number in 0..<count {
                    try device.send("\(number)", to: Lamp.label)
                    let answer = await answers.next()
                    #expect(answer == "\(number)")
                }
            }.value
            try await sending.value
            try await noise.wait(for: count)
            #expect(noise.all == (0..<count).map { Float($0) / Float(count) })
            #expect(device.outbound.withLock { $0.stream.directByteCount } > 0)
            await device.close()
        }
    }
}
