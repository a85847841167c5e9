import Dashboard
import Elemental
import ElementalFollowing
import Foundation
import Support
import TestSupport
import Testing

/// What pages are told of services, and services of pages, over real sockets.
@Suite(.backstop)
struct BoardTests {
    static let speed = Element<Float>(1, "Speed", range: 0...1)
    static let load = Element<Double>(2, "Load", unit: "%", access: .read)
    static let note = Element<String>(3, "Note")
    static let picture = Element<Data>(4, "Picture", access: .read)
    static let count = Element<UInt64>(5, "Count")
    static let elements: ElementCatalogue = [speed, load, note, picture, count]

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
    func agesOfTimedValues() async throws {
        let pose = Element<Float>(6, "Pose", access: .read).withTimes
        try await DashboardFixture.with([Self.speed, pose]) { fixture in
            let hour = MeasurementTime(microseconds: MeasurementTime.now.microseconds - 3_600_000_000)
            try fixture.service.send(1, to: pose, at: hour)
            try fixture.service.send(0.5, to: Self.speed)
            let page = try await fixture.openPage()
            func age(of id: Int8, _ message: JSONLine) -> Double? {
                let ages: [String: Double]? = message["a"]
                return ages?["\(page.key)/\(id)"]
            }
            // Before that, a value has no age.
            try await eventually("the clock") { fixture.service.devices.first?.clock != nil }
            try fixture.service.send(2, to: pose, at: hour)
            let old = try await page.socket.next("values") { page.value($0, 6) as? Double == 2 }
            #expect((3_600_000...3_700_000).contains(try #require(age(of: 6, old))))
            #expect(age(of: 1, old) == nil)
            // What is said to be measured later than now is taken for new.
            try fixture.service.send(
                3, to: pose, at: MeasurementTime(microseconds: MeasurementTime.now.microseconds + 3_600_000_000))
            let early = try await page.socket.next("values") { page.value($0, 6) as? Double == 3 }
            #expect(age(of: 6, early) == 0)
        }
    }

    /// Both requests come before the next tick.
    @Test
    func aServiceThatIsClosedAndOpenedAgainIsToldAnew() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            try fixture.service.send(0.5, to: Self.speed)
            let page = try await fixture.openPage()
            try await page.wait(for: 1, toBe: 0.5)
            try page.socket.send(#"{"t":"open","keys":[]}"#, #"{"t":"open","keys":[\#(page.key)]}"#)
            _ = try await page.socket.next("catalogue")
            try await page.wait(for: 1, toBe: 0.5)
        }
    }

    @Test
    func whatOnePageSetsAllAreShown() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let got = Transcript<Float>()
            fixture.service.onValue(of: Self.speed) { value, _ in got.add(value) }
            let (one, other) = (try await fixture.openPage(), try await fixture.openPage())
            try one.send(#"{"t":"set","key":\#(one.key),"id":1,"value":0.75,"n":1}"#)
            #expect(try await got.next() == 0.75)
            for page in [one, other] { try await page.wait(for: 1, toBe: 0.75) }
        }
    }

    @Test
    func eachPageGetsTheValuesOfWhatItShows() async throws {
        let other = DashboardFixture.makeService(Self.elements, port: try PortLease.port())
        try await other.start()
        let otherPort = try #require(other.port)
        try await DashboardFixture.with(Self.elements, others: [otherPort]) { fixture in
            let first = try await fixture.page()
            let second = try await DashboardFixture.page(at: fixture.port, showing: otherPort)
            let both = [try await fixture.page(), try await fixture.page()]
            for page in [first, second] { try page.send(#"{"t":"open","keys":[\#(page.key)]}"#) }
            for page in both { try page.send(#"{"t":"open","keys":[\#(first.key),\#(second.key)]}"#) }
            for page in [first, second] { _ = try await page.socket.next("catalogue") }
            for page in both { for _ in 0..<2 { _ = try await page.socket.next("catalogue") } }
            func load(_ message: JSONLine, of page: OpenPage) -> Double? {
                let services: [String: [String: Any]]? = message["v"]
                return services?["\(page.key)"]?["2"] as? Double
            }
            for value in [1.0, 2, 3] {
                try fixture.service.send(value, to: Self.load)
                try other.send(-value, to: Self.load)
                let last = try await first.socket.next("values") { load($0, of: first) == value }
                #expect(load(last, of: second) == nil)
                let otherLast = try await second.socket.next("values") { load($0, of: second) == -value }
                #expect(load(otherLast, of: first) == nil)
                for page in both {
                    // In one message or in two.
                    var values: Set<Double> = []
                    while values.count < 2 {
                        let message = try await page.socket.next("values")
                        values.formUnion([load(message, of: first), load(message, of: second)].compactMap(\.self))
                    }
                    #expect(values == [value, -value])
                }
            }
        }
        await other.stop()
    }

    /// The sender by its own number, all others without; and the element is again what it was.
    @Test(arguments: [true, false])
    func whatTheServiceRefusesIsToldToAllWhoLookAtIt(_ hasEarlierValue: Bool) async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            fixture.service.relay(Self.speed) { _, _ in throw ValueRefusal("the robot is asleep") }
            if hasEarlierValue { try fixture.service.send(0.25, to: Self.speed) }
            let (one, other) = (try await fixture.openPage(), try await fixture.openPage())
            let pages = hasEarlierValue ? [one, other] : []
            for page in pages { try await page.wait(for: 1, toBe: 0.25) }
            try one.send(#"{"t":"set","key":\#(one.key),"id":1,"value":0.75,"n":7}"#)
            let told = try await one.socket.next("refused")
            #expect(told["why"] == "the robot is asleep")
            #expect(told.number("n") == 7)
            let others = try await other.socket.next("refused")
            #expect(others["why"] == "the robot is asleep")
            #expect(others.number("n") == nil)
            for page in pages { try await page.wait(for: 1, toBe: 0.25) }
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
        let policy = BoardPolicy(reason: "the network could listen")
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
    func aServiceThatComesBackWithOtherElementsIsShownAnew() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let page = try await fixture.openPage()
            // It was not connected at first either.
            page.socket.forget()
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
    func whoSaysNothingIsNotWaitedFor() async throws {
        try await DashboardFixture.with(Self.elements, helloTimeout: .milliseconds(50)) { fixture in
            let socket = try await PageSocket.open(port: fixture.port)
            #expect(try await socket.next() == .close(1008, "no hello"))
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
