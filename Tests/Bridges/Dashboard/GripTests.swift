import Dashboard
import Elemental
import Foundation
import TestSupport
import Testing

/// Elements that a page holds and moves, over real sockets.
@Suite(.backstop)
struct GripTests {
    private static let motion = Element<Vector2>(1, "Motion", transport: .udp, latest: true)
    private static let horn = Element<Bool>(2, "Horn").momentary
    private static let speed = Element<Float>(3, "Speed", range: 0...1)
    private static let elements: ElementCatalogue = [motion, horn, speed]

    private static func grip(_ page: OpenPage, _ id: Int, rest: String = "null") async throws -> JSONLine {
        try page.send(#"{"t":"grip","key":\#(page.key),"id":\#(id),"rest":\#(rest),"n":1}"#)
        return try await page.socket.next("gripped")
    }

    private static func move(_ page: OpenPage, _ id: Int, _ value: String, n: Int = 1) throws {
        try page.send(#"{"t":"move","n":\#(n),"v":[[\#(page.key),\#(id),\#(value)]]}"#)
    }

    @Test
    func whatAPageHoldsItMoves() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let got = Transcript<Vector2>()
            fixture.service.onValue(of: Self.motion) { value, _ in got.add(value) }
            let page = try await fixture.page()
            // What it does not hold it does not move.
            try Self.move(page, 1, "[9,9]", n: 3)
            #expect(try await page.socket.next("moved").number("n") == 3)
            let answer = try await Self.grip(page, 1, rest: "[0,0]")
            #expect(answer["taken"] == Optional(false))
            try Self.move(page, 1, "[0.5,-0.5]")
            #expect(try await got.next() == [0.5, -0.5])
        }
    }

    @Test
    func aPageThatFallsSilentIsTakenToHaveLetGo() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let got = Transcript<Vector2>()
            fixture.service.onValue(of: Self.motion) { value, _ in got.add(value) }
            let page = try await fixture.page()
            _ = try await Self.grip(page, 1, rest: "[0,0.25]")
            try Self.move(page, 1, "[1,1]")
            #expect(try await got.next() == [1, 1])
            #expect(try await got.next() == [0, 0.25])
            #expect(try await page.socket.next("resting").number("id") == 1)
            // Datagrams may be lost, so that it is said some times more.
            for _ in 0..<4 { #expect(try await got.next() == [0, 0.25]) }
            // It holds it all the same, and goes on.
            try Self.move(page, 1, "[0.5,0.5]")
            #expect(try await got.next() == [0.5, 0.5])
        }
    }

    @Test
    func aValueOfRestIsNotRepeatedOverANewerOne() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let (motions, speeds) = (Transcript<Vector2>(), Transcript<Float>())
            fixture.service.onValue(of: Self.motion) { value, _ in motions.add(value) }
            fixture.service.onValue(of: Self.speed) { value, _ in speeds.add(value) }
            let page = try await fixture.page()
            _ = try await Self.grip(page, 1, rest: "[0,0.25]")
            try Self.move(page, 1, "[1,1]")
            try page.socket.send(
                #"{"t":"letGo"}"#, #"{"t":"set","key":\#(page.key),"id":1,"value":[0.5,0.5]}"#)
            _ = try await motions.next { $0 == [0.5, 0.5] }
            // The silence of another element lasts longer than all repetitions.
            _ = try await Self.grip(page, 3, rest: "0.125")
            try Self.move(page, 3, "1")
            _ = try await speeds.next { $0 == 0.125 }
            #expect(motions.all.last == [0.5, 0.5])
        }
    }

    @Test
    func theNewestMoveIsAnsweredInTheEnd() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let page = try await fixture.page()
            _ = try await Self.grip(page, 3)
            // Answers are 50 ms apart at least, and nothing follows the last of these.
            for n in 1...5 { try Self.move(page, 3, "0.5", n: n) }
            _ = try await page.socket.next("moved") { $0.number("n") == 5 }
        }
    }

    @Test(arguments: [#"{"t":"rest"}"#, #"{"t":"letGo"}"#, nil])
    func atItsEndEverythingRests(_ word: String?) async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let (speeds, horns) = (Transcript<Float>(), Transcript<Bool>())
            fixture.service.onValue(of: Self.speed) { value, _ in speeds.add(value) }
            fixture.service.onValue(of: Self.horn) { value, _ in horns.add(value) }
            let page = try await fixture.page()
            _ = try await Self.grip(page, 3, rest: "0.125")
            try Self.move(page, 3, "1")
            try page.send(#"{"t":"set","key":\#(page.key),"id":2,"value":true,"rest":false}"#)
            #expect(try await speeds.next() == 1)
            #expect(try await horns.next())
            if let word { try page.send(word) } else { page.socket.close() }
            #expect(try await speeds.next() == 0.125)
            // A page that only rests still has its finger on the horn.
            if word != #"{"t":"rest"}"# { #expect(try await horns.next() == false) }
        }
    }

    @Test
    func aDashboardThatEndsLetsGo() async throws {
        let service = DashboardFixture.makeService(Self.elements, port: try PortLease.port())
        try await service.start()
        let speeds = Transcript<Float>()
        service.onValue(of: Self.speed) { value, _ in speeds.add(value) }
        // The page stays open.
        let open = Transcript<OpenPage>()
        try await DashboardFixture.with([try #require(service.port)]) { port in
            let page = try await DashboardFixture.page(at: port)
            open.add(page)
            _ = try await Self.grip(page, 3, rest: "0.125")
            try Self.move(page, 3, "1")
            #expect(try await speeds.next() == 1)
        }
        #expect(try await speeds.next() == 0.125)
        await service.stop()
    }

    @Test
    func anotherPageTakesAnElementAndBothAreTold() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let got = Transcript<Float>()
            fixture.service.onValue(of: Self.speed) { value, _ in got.add(value) }
            let (one, other) = (try await fixture.page(), try await fixture.page())
            _ = try await Self.grip(one, 3)
            try Self.move(one, 3, "0.5")
            #expect(try await got.next() == 0.5)
            #expect(try await Self.grip(other, 3, rest: "0")["taken"] == Optional(true))
            #expect(try await one.socket.next("released")["why"] == "taken")
            try Self.move(one, 3, "0.75")
            try one.socket.send(#"{"t":"ping","n":1}"#)
            _ = try await one.socket.next("pong")
            one.socket.close()
            try Self.move(other, 3, "1")
            // Not what the first one moved.
            #expect(try await got.next() == 1)
        }
    }

    @Test
    func whatCannotBeHeldIsRefused() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let page = try await fixture.page()
            for (request, reason) in [
                (#""id":9"#, "not connected"), (#""id":3,"rest":7"#, "range"), (#""id":3,"rest":"x""#, "x"),
            ] {
                try page.send(#"{"t":"grip","key":\#(page.key),"# + request + "}")
                let told: String? = try await page.socket.next("refused")["why"]
                #expect(told?.contains(reason) == true, "\(request): \(told ?? "")")
            }
        }
        let readings = try ElementCatalogue((1...17).map { Element<Float>($0, "E\($0)") })
        try await DashboardFixture.with(readings) { fixture in
            let page = try await fixture.page()
            for id in 1...16 { _ = try await Self.grip(page, id) }
            try page.send(#"{"t":"grip","key":\#(page.key),"id":17}"#)
            #expect(try await page.socket.next("refused")["why"] == "the page holds too many elements; let go of some")
            _ = try await Self.grip(page, 16)
        }
    }
}
