import Dashboard
import Elemental
import ElementalFollowing
import Foundation
import Support
import TestSupport
import Testing

/// Much for a page, and little from it: what waits is bounded, and nothing is lost or told twice.
@Suite(.backstop)
struct BoardBoundTests {
    @Test
    func dataGoesAsBytesAndTooMuchByItsLength() async throws {
        try await DashboardFixture.with(BoardTests.elements) { fixture in
            let page = try await fixture.openPage()
            try fixture.service.send(Data([0xFF, 0xD8, 0xFF]), to: BoardTests.picture)
            let bytes = try await page.nextBinary()
            #expect(bytes.prefix(1) == [1])
            #expect(bytes.dropFirst(5) == [4, 0xFF, 0xD8, 0xFF])
            let length = (2 << 20) + 1
            try fixture.service.send(Data(count: length), to: BoardTests.picture)
            let values = try await page.socket.next("values") { page.value($0, 4) != nil }
            #expect((page.value(values, 4) as? [String: Int])?["bytes"] == length)
            try fixture.service.send(String(repeating: "x", count: 65537), to: BoardTests.note)
            let texts = try await page.socket.next("values") { page.value($0, 3) != nil }
            #expect((page.value(texts, 3) as? [String: Int])?["bytes"] == 65537)
        }
    }

    /// A page that does not read what it is sent costs the others nothing, and gets the newest when it reads again.
    @Test
    func aSlowPageGetsTheNewest() async throws {
        try await DashboardFixture.with(BoardTests.elements) { fixture in
            let slow = try await fixture.openPage(receiveBuffer: 4096)
            let page = try await fixture.openPage()
            let filler = String(repeating: "x", count: 60_000)
            // Far more than the system takes for a socket.
            for number in 1...200 {
                try fixture.service.send("\(number) \(filler)", to: BoardTests.note)
                _ = try await page.socket.next("values") {
                    (page.value($0, 3) as? String)?.hasPrefix("\(number) ") == true
                }
            }
            var texts: [String] = []
            _ = try await slow.socket.next("values") { values in
                guard let text = slow.value(values, 3) as? String else { return false }
                texts.append(String(text.prefix { $0 != " " }))
                return texts.last == "200"
            }
            #expect(texts.count < 200, "\(texts)")
        }
    }

    /// What is too much for a socket at once is sent bit by bit, each value once.
    @Test
    func manyPicturesArriveOnceEach() async throws {
        let pictures = (1...6).map { Element<Data>($0, "Picture \($0)", access: .read) }
        try await DashboardFixture.with(try ElementCatalogue(pictures)) { fixture in
            for picture in pictures {
                try fixture.service.send(Data(repeating: UInt8(picture.id), count: 300_000), to: picture)
            }
            let page = try await fixture.page(receiveBuffer: 65536)
            try page.send(#"{"t":"open","keys":[\#(page.key)]}"#)
            var seen: [UInt8] = []
            while seen.count < 6 {
                let bytes = try await page.nextBinary()
                #expect(bytes.count == 6 + 300_000)
                seen.append(bytes[5])
            }
            #expect(seen.sorted() == [1, 2, 3, 4, 5, 6])
            // Nothing is sent twice: the next message that is not about the connection's quality is the answer to this.
            try page.send(#"{"t":"ping","n":1}"#)
            var next = try await page.socket.next()
            while case .text(let text) = next, text.contains(#""t":"quality""#) { next = try await page.socket.next() }
            #expect(next == .text(#"{"t":"pong","n":1}"#))
        }
    }

    /// More than a page has room for at once comes as there is room, and only once.
    @Test
    func manyLongTextsArriveOnceEach() async throws {
        let texts = (1...40).map { Element<String>($0, "Text \($0)", access: .read) }
        let silent = Element<Double>(41, "Silent", access: .read)
        try await DashboardFixture.with(try ElementCatalogue(texts + [silent] as [any AnyElement])) { fixture in
            for text in texts { try fixture.service.send(String(repeating: "x", count: 60_000), to: text) }
            let page = try await fixture.page(receiveBuffer: 4096)
            try page.send(#"{"t":"open","keys":[\#(page.key)]}"#)
            var seen: [Int] = []
            while seen.count < texts.count {
                let values = try await page.socket.next("values")
                for text in texts where page.value(values, Int(text.id)) != nil { seen.append(Int(text.id)) }
            }
            #expect(seen.sorted() == Array(1...40))
            try fixture.service.send(0.5, to: silent)
            let next = try await page.socket.next("values")
            #expect(page.value(next, 41) as? Double == 0.5)
            #expect(texts.allSatisfy { page.value(next, Int($0.id)) == nil })
        }
    }

    /// What a page opens while it is behind comes whole, not only what it has missed of it.
    @Test
    func whatAPageOpensWhileItIsBehindComesWhole() async throws {
        let lamp = DashboardFixture.makeService(BoardTests.elements)
        try await lamp.start()
        try lamp.send(0.5, to: BoardTests.speed)
        let lampPort = try #require(lamp.port)
        try await DashboardFixture.with(BoardTests.elements, others: [lampPort]) { fixture in
            let other = try await DashboardFixture.page(at: fixture.port, showing: lampPort)
            let slow = try await fixture.openPage(receiveBuffer: 4096)
            let page = try await fixture.openPage()
            for number in 1...8 {
                try fixture.service.send(Data(repeating: UInt8(number), count: 2 << 20), to: BoardTests.picture)
                while try await page.nextBinary()[6] != UInt8(number) {}
            }
            try slow.send(#"{"t":"open","keys":[\#(slow.key),\#(other.key)]}"#)
            _ = try await slow.socket.next("catalogue") { $0.number("key") == Double(other.key) }
            _ = try await slow.socket.next("values") { values in
                OpenPage(socket: slow.socket, hello: slow.hello, service: slow.service, key: other.key).value(values, 1)
                    as? Double == 0.5
            }
        }
        await lamp.stop()
    }

    /// A refusal that nobody has asked for is not passed on.
    @Test
    func refusalsOfNothingAreNotTold() async throws {
        try await DashboardFixture.with(BoardTests.elements) { fixture in
            let page = try await fixture.openPage()
            let device = try #require(fixture.service.devices.first)
            for _ in 0..<1000 { fixture.service.refuse(BoardTests.speed, from: device, ValueRefusal("for nothing")) }
            try fixture.service.send(1, to: BoardTests.load)
            while true {
                guard case .text(let text) = try await page.socket.next() else { continue }
                #expect(!text.contains("for nothing"))
                if text.contains(#""2":1"#) { break }
            }
        }
    }

    /// Sockets that never say hello leave room for pages.
    @Test
    func silentSocketsLeaveRoom() async throws {
        try await DashboardFixture.with(BoardTests.elements) { fixture in
            var silent: [PageSocket] = []
            for _ in 0...32 { silent.append(try await PageSocket.open(port: fixture.port)) }
            let first = try await silent[0].next()
            #expect(first == .close(1008, "no hello"))
            let page = try await fixture.page()
            #expect(page.hello["control"] == true)
        }
    }
}
