import Bridging
import Dashboard
import Elemental
import Foundation
import Support
import TestSupport
import Testing

/// What pages are told of services, and services of pages, over real sockets.
@Suite(.backstop)
struct BoardTests {
    private static let speed = Element<Float>(1, "Speed", range: 0...1)
    private static let load = Element<Double>(2, "Load", unit: "%", access: .read)
    private static let note = Element<String>(3, "Note")
    private static let picture = Element<Data>(4, "Picture", access: .read)
    private static let count = Element<UInt64>(5, "Count")
    private static let elements: ElementCatalogue = [speed, load, note, picture, count]

    @Test
    func aPageIsToldWhatThereIs() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            try fixture.service.send(0.5, to: Self.speed)
            try fixture.service.send(18_446_744_073_709_551_615, to: Self.count)
            let page = try await fixture.page()
            try page.send(#"{"t":"open","keys":[\#(page.key)]}"#)
            let catalogue = try await page.socket.next("catalogue")
            let listed: [[String: Any]] = try #require(catalogue["elements"])
            #expect(listed.map { $0["name"] as? String } == ["Speed", "Load", "Note", "Picture", "Count"])
            #expect(listed.map { $0["settable"] as? Bool } == [true, false, true, false, true])
            #expect(listed[0]["range"] as? [Double] == [0, 1])
            #expect(listed[1]["unit"] as? String == "%")
            let values = try await page.socket.next("values") { page.value($0, 5) != nil }
            #expect(page.value(values, 1) as? Double == 0.5)
            #expect(page.value(values, 5) as? String == "18446744073709551615")
        }
    }

    @Test
    func whatOnePageSetsAllAreShown() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let got = AsyncStream.makeStream(of: Float.self)
            fixture.service.onValue(of: Self.speed) { value, _ in got.continuation.yield(value) }
            let (one, other) = (try await fixture.openPage(), try await fixture.openPage())
            try one.send(#"{"t":"set","key":\#(one.key),"id":1,"value":0.75,"n":1}"#)
            for await value in got.stream {
                #expect(value == 0.75)
                break
            }
            for page in [one, other] {
                _ = try await page.socket.next("values") { page.value($0, 1) as? Double == 0.75 }
            }
        }
    }

    /// The sender by its own number, all others without; and the element is again what it was.
    @Test(arguments: [true, false])
    func whatTheServiceRefusesIsToldToAllWhoLookAtIt(_ hasEarlierValue: Bool) async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            fixture.service.relay(Self.speed) { _, _ in throw ValueRefusal("the robot is asleep") }
            if hasEarlierValue { try fixture.service.send(0.25, to: Self.speed) }
            let (one, other) = (try await fixture.openPage(), try await fixture.openPage())
            if hasEarlierValue {
                for page in [one, other] {
                    _ = try await page.socket.next("values") { page.value($0, 1) as? Double == 0.25 }
                }
            }
            try one.send(#"{"t":"set","key":\#(one.key),"id":1,"value":0.75,"n":7}"#)
            let told = try await one.socket.next("refused")
            #expect(told["why"] == "the robot is asleep")
            #expect(told.number("n") == 7)
            let others = try await other.socket.next("refused")
            #expect(others["why"] == "the robot is asleep")
            #expect(others.number("n") == nil)
            if hasEarlierValue {
                for page in [one, other] {
                    _ = try await page.socket.next("values") { page.value($0, 1) as? Double == 0.25 }
                }
            }
            // Who comes now is not shown what was refused.
            let newcomer = try await fixture.page()
            try newcomer.send(#"{"t":"open","keys":[\#(newcomer.key)]}"#)
            _ = try await newcomer.socket.next("catalogue")
            try fixture.service.send(1, to: Self.load)
            var seen: Any?
            _ = try await newcomer.socket.next("values") { values in
                seen = newcomer.value(values, 1) ?? seen
                return newcomer.value(values, 2) != nil
            }
            #expect(seen as? Double == (hasEarlierValue ? 0.25 : nil))
        }
    }

    @Test(arguments: [
        (#""id":1,"value":2"#, "takes"), (#""id":1,"value":"fast""#, "float"), (#""id":2,"value":1"#, "read"),
        (#""id":4,"value":"00""#, "read"), (#""id":9,"value":1"#, "connected"), (#""id":5,"value":-1"#, "uint64"),
    ])
    func whatCannotBeSetIsRefusedHere(_ members: String, _ word: String) async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let page = try await fixture.openPage()
            try page.send(#"{"t":"set","key":\#(page.key),"n":3,\#(members)}"#)
            let refused = try await page.socket.next("refused")
            let why: String = try #require(refused["why"])
            #expect(why.contains(word), "\(why)")
            #expect(refused.number("n") == 3)
        }
    }

    @Test
    func aPageThatOnlyReadsSaysWhy() async throws {
        let policy = BoardPolicy(allowsControl: false, allowsPairing: false, reason: "the network could listen")
        try await DashboardFixture.with(Self.elements, policy: policy) { fixture in
            let got = Locked(0)
            fixture.service.onAnyValue { _, _, _ in got.withLock { $0 += 1 } }
            let page = try await fixture.page()
            #expect(page.hello["control"] == false)
            #expect(page.hello["pairing"] == false)
            #expect(page.hello["why"] == "the network could listen")
            try page.send(#"{"t":"open","keys":[\#(page.key)]}"#)
            let catalogue = try await page.socket.next("catalogue")
            let listed: [[String: Any]] = try #require(catalogue["elements"])
            #expect(listed.allSatisfy { $0["settable"] as? Bool == false })
            try page.send(#"{"t":"set","key":\#(page.key),"id":1,"value":0.75,"n":1}"#)
            let refused = try await page.socket.next("refused")
            #expect(refused["why"] == "the network could listen")
            try page.send(#"{"t":"pair","key":\#(page.key),"code":"123456","n":2}"#)
            let notPaired = try await page.socket.next("notPaired")
            #expect(notPaired["why"] == "the network could listen")
            #expect(got.withLock { $0 } == 0)
        }
    }

    @Test
    func dataGoesAsBytesAndTooMuchByItsLength() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let page = try await fixture.openPage()
            try fixture.service.send(Data([0xFF, 0xD8, 0xFF]), to: Self.picture)
            let message = try await page.socket.next()
            guard case .binary(let bytes) = message else {
                Issue.record("\(message)")
                return
            }
            #expect(bytes.prefix(1) == [1])
            #expect(bytes.dropFirst(5) == [4, 0xFF, 0xD8, 0xFF])
            let length = (2 << 20) + 1
            try fixture.service.send(Data(count: length), to: Self.picture)
            let values = try await page.socket.next("values") { page.value($0, 4) != nil }
            #expect((page.value(values, 4) as? [String: Int])?["bytes"] == length)
        }
    }

    @Test
    func aServiceThatComesBackWithOtherElementsIsShownAnew() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let page = try await fixture.openPage()
            await fixture.service.stop()
            _ = try await page.socket.next("service") { $0["state"] != Optional("connected") }
            let height = Element<Int16>(1, "Height", unit: "m")
            let other = DashboardFixture.makeService([height], port: fixture.servicePort)
            try await other.start()
            try other.send(7, to: height)
            let catalogue = try await page.socket.next("catalogue")
            let listed: [[String: Any]] = try #require(catalogue["elements"])
            #expect(listed.map { $0["name"] as? String } == ["Height"])
            _ = try await page.socket.next("values") { page.value($0, 1) as? Int == 7 }
            await other.stop()
        }
    }

    /// A page that does not read what it is sent costs the others nothing, and gets the newest when it reads again.
    @Test
    func aSlowPageGetsTheNewest() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let slow = try await fixture.openPage(receiveBuffer: 4096)
            let page = try await fixture.openPage()
            let filler = String(repeating: "x", count: 60_000)
            // Far more than the system takes for a socket.
            for number in 1...200 {
                try fixture.service.send("\(number) \(filler)", to: Self.note)
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
                if case .binary(let bytes) = try await page.socket.next() {
                    #expect(bytes.count == 6 + 300_000)
                    seen.append(bytes[5])
                }
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

    /// Whose token is not looked at is told another reason than who has a wrong one.
    @Test
    func whoGuessesIsToldToWait() async throws {
        try await DashboardFixture.with(Self.elements, token: "the-right-token") { fixture in
            var reasons: [PageSocket.Message] = []
            for _ in 0..<11 {
                let socket = try await PageSocket.open(port: fixture.port)
                try socket.send(#"{"t":"hello","token":"wrong"}"#)
                reasons.append(try await socket.next())
            }
            #expect(reasons.prefix(10).allSatisfy { $0 == .close(1008, "token") })
            #expect(reasons.last == .close(1008, "too many tokens"))
        }
    }

    /// What a page opens while it is behind comes whole, not only what it has missed of it.
    @Test
    func whatAPageOpensWhileItIsBehindComesWhole() async throws {
        let lamp = DashboardFixture.makeService(Self.elements)
        try await lamp.start()
        try lamp.send(0.5, to: Self.speed)
        let lampPort = try #require(lamp.port)
        try await DashboardFixture.with(Self.elements, others: [lampPort]) { fixture in
            let other = try await DashboardFixture.page(at: fixture.port, showing: lampPort)
            let slow = try await fixture.openPage(receiveBuffer: 4096)
            let page = try await fixture.openPage()
            for number in 1...8 {
                try fixture.service.send(Data(repeating: UInt8(number), count: 2 << 20), to: Self.picture)
                var isThere = false
                while !isThere {
                    if case .binary(let bytes) = try await page.socket.next() { isThere = bytes[6] == UInt8(number) }
                }
            }
            try slow.send(#"{"t":"open","keys":[\#(slow.key),\#(other.key)]}"#)
            _ = try await slow.socket.next("catalogue") { $0.number("key") == Double(other.key) }
            _ = try await slow.socket.next("values") { values in
                OpenPage(socket: slow.socket, hello: slow.hello, key: other.key).value(values, 1) as? Double == 0.5
            }
        }
        await lamp.stop()
    }

    @Test
    func longTextsAreToldByTheirLength() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let page = try await fixture.openPage()
            try fixture.service.send(String(repeating: "x", count: 65537), to: Self.note)
            let values = try await page.socket.next("values") { page.value($0, 3) != nil }
            #expect((page.value(values, 3) as? [String: Int])?["bytes"] == 65537)
        }
    }

    /// A service that comes back without a value is not shown with the old one.
    @Test
    func valuesThatAreGoneAreToldToBe() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            try fixture.service.send(0.5, to: Self.speed)
            try fixture.service.send(7, to: Self.count)
            let page = try await fixture.openPage()
            _ = try await page.socket.next("values") { page.value($0, 5) != nil }
            await fixture.service.stop()
            let other = DashboardFixture.makeService(Self.elements, port: fixture.servicePort)
            try await other.start()
            try other.send(0.25, to: Self.speed)
            var speed: Any?
            let values = try await page.socket.next("values") { values in
                speed = page.value(values, 1) ?? speed
                return page.value(values, 5) is NSNull
            }
            #expect(!(page.value(values, 1) is NSNull))
            #expect(speed as? Double == 0.25)
            await other.stop()
        }
    }

    /// A refusal that nobody has asked for is not passed on.
    @Test
    func refusalsOfNothingAreNotTold() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let page = try await fixture.openPage()
            let device = try #require(fixture.service.devices.first)
            for _ in 0..<1000 { fixture.service.refuse(Self.speed, from: device, ValueRefusal("for nothing")) }
            try fixture.service.send(1, to: Self.load)
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
        try await DashboardFixture.with(Self.elements) { fixture in
            var silent: [PageSocket] = []
            for _ in 0...32 { silent.append(try await PageSocket.open(port: fixture.port)) }
            let first = try await silent[0].next()
            #expect(first == .close(1008, "no hello"))
            let page = try await fixture.page()
            #expect(page.hello["control"] == true)
        }
    }

    @Test
    func whoIsNotAdmittedIsTold() async throws {
        try await DashboardFixture.with(Self.elements, token: "a-token-of-this-test") { fixture in
            let cases = [
                (#"{"t":"hello"}"#, "token"), (#"{"t":"hello","token":"wrong"}"#, "token"),
                (#"{"t":"open","keys":[1]}"#, "no hello"), ("?", "not a message of the page"),
            ]
            for (message, reason) in cases {
                let socket = try await PageSocket.open(port: fixture.port)
                try socket.send(message)
                let answer = try await socket.next()
                #expect(answer == .close(1008, reason), "\(message)")
            }
            let page = try await fixture.page(token: "a-token-of-this-test")
            #expect(page.hello["control"] == true)
        }
    }

    @Test
    func qualityAndPingsAreAnswered() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let page = try await fixture.openPage()
            try page.send(#"{"t":"ping","n":5}"#)
            let pong = try await page.socket.next("pong")
            #expect(pong.number("n") == 5)
            let quality = try await page.socket.next("quality") { message in
                let services: [String: [String: Any]]? = message["q"]
                return services?["\(page.key)"]?["rtt"] is Double
            }
            let services: [String: [String: Any]] = try #require(quality["q"])
            #expect(services["\(page.key)"]?["lost"] as? Int == 0)
        }
    }
}
