import Elemental
import Foundation
import TestSupport
import Testing

@testable import Dashboard

/// What the list of services shows of each.
@Suite(.backstop)
struct TellingTests {
    private static let load = Element<Double>(1, "Load", unit: "%", access: .read)
    private static let speed = Element<Float>(2, "Speed", range: 0...1)
    private static let light = Element<Bool>(3, "Light")
    private static let mode = Element<UInt8>(4, "Mode", choices: [0: "off", 1: "on"])
    private static let note = Element<String>(5, "Note")
    private static let count = Element<Int32>(6, "Count")

    @Test(
        arguments: [
            ([light, speed, load, note], ["Load", "Light", "Speed", "Note"]),
            ([note, count, speed, mode, light, load], ["Load", "Mode", "Light", "Count", "Speed", "Note"]),
            ([speed, Element<Double>(7, "Level", access: .read), count, load], ["Load", "Level", "Speed", "Count"]),
            (
                [count, note, Element<Vector3>(7, "Aim"), Element<Data>(8, "Picture", access: .read)],
                ["Count", "Note"]
            ),
            ([Element<Bool>(9, "Horn").momentary, Element<Float>(10, "Secret", unit: "m", access: .write)], []),
            ([Element<Bool>(9, "Stop").urgent, load, light, mode, speed], ["Stop", "Load", "Light", "Mode", "Speed"]),
        ] as [([ElementDefinition], [String])])
    func readingsThenSwitchesThenNumbersThenTexts(_ elements: [ElementDefinition], _ names: [String]) throws {
        #expect(try ElementCatalogue(elements).summary.map(\.name) == names)
    }

    @Test
    func aPageThatShowsTheListIsToldWhatChanges() async throws {
        try await DashboardFixture.with([Self.load, Self.speed, Self.light, Self.note]) { fixture in
            try fixture.service.send(12.5, to: Self.load)
            let page = try await fixture.page()
            let listed = try #require(page.service["telling"] as [[String: Any]]?)
            #expect(listed.map { $0["name"] as? String } == ["Load", "Light", "Speed", "Note"])
            try page.send(#"{"t":"list","on":true}"#)
            _ = try await page.socket.next("telling") { page.value($0, 1) as? Double == 12.5 }
            try fixture.service.send(0.25, to: Self.speed)
            _ = try await page.socket.next("telling") { page.value($0, 2) as? Double == 0.25 }
            try page.socket.send(#"{"t":"list","on":false}"#, #"{"t":"ping","n":1}"#)
            _ = try await page.socket.next("pong")
            let other = try await fixture.page()
            try other.send(#"{"t":"list","on":true}"#)
            try fixture.service.send(0.5, to: Self.speed)
            _ = try await other.socket.next("telling") { other.value($0, 2) as? Double == 0.5 }
            // Asked again, it gets all of it.
            try page.send(#"{"t":"list","on":true}"#)
            let all = try await page.socket.next("telling")
            #expect(page.value(all, 1) as? Double == 12.5 && page.value(all, 2) as? Double == 0.5)
        }
    }

    @Test
    func aLongTextIsNotInTheList() {
        let service = BoardService(.init(service: "robot", name: "Rover"), number: 1)
        service.take(.string(String(repeating: "x", count: 253)), of: 5)
        #expect(service.tellingText(of: 5).readableBytes == 255)
        service.take(.string(String(repeating: "x", count: 255)), of: 5)
        #expect(String(buffer: service.tellingText(of: 5)) == "null")
    }
}
