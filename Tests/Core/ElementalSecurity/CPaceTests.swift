import Foundation
import Testing

@testable import ElementalSecurity

/// The official vectors of the CFRG's draft (draft-irtf-cfrg-cpace, CPACE-X25519-SHA512).
struct CPaceTests {
    private struct Vectors: Decodable {
        let G_25519: [String: String]
        let X25519_points: [String: String]
    }

    private static let vectors: Vectors = {
        do {
            return try JSONDecoder().decode(Vectors.self, from: Data(PackageResources.cpace_x25519_vectors_json))
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    private func vector(_ name: String) throws -> [UInt8] { bytes(try #require(Self.vectors.G_25519[name])) }

    private func exchange(initiator: Bool) throws -> CPace {
        CPace(
            password: try vector("PRS"), channel: try vector("CI"), session: try vector("sid"),
            associatedData: try vector(initiator ? "ADa" : "ADb"), scalar: try vector(initiator ? "ya" : "yb"))
    }

    @Test
    func thePasswordDeterminesTheGenerator() throws {
        let generator = CPace.generator(
            password: try vector("PRS"), channel: try vector("CI"), session: try vector("sid"))
        #expect(try generator == vector("g"))
    }

    @Test
    func bothEndsComeToTheKeyOfTheDraft() throws {
        let (initiator, responder) = (try exchange(initiator: true), try exchange(initiator: false))
        #expect(try initiator.message.point == vector("Ya"))
        #expect(try responder.message.point == vector("Yb"))
        let (initiation, response) = (initiator.message, responder.message)
        #expect(try initiator.key(initiatorWith: response) == vector("ISK_IR"))
        #expect(try responder.key(responderTo: initiation) == vector("ISK_IR"))
    }

    @Test(arguments: Array(vectors.X25519_points.keys).sorted())
    func pointsOfLowOrderEndTheExchange(_ name: String) throws {
        let point = bytes(try #require(Self.vectors.X25519_points[name]))
        // The draft has five among them that are not of low order: their highest bit is set, and does not count.
        let message = CPace.Message(point: point, associatedData: [])
        let isLowOrder = !["Invalid Y6", "Invalid Y8", "Invalid Y9", "Invalid Y10", "Invalid Y11"].contains(name)
        #expect((try exchange(initiator: true).key(initiatorWith: message) == nil) == isLowOrder)
        #expect((try exchange(initiator: false).key(responderTo: message) == nil) == isLowOrder)
    }

    @Test(arguments: [0, 1, 31, 33, 64])
    func pointsOfAnotherLengthEndTheExchange(_ count: Int) throws {
        let message = CPace.Message(point: [UInt8](repeating: 9, count: count), associatedData: [])
        #expect(try exchange(initiator: true).key(initiatorWith: message) == nil)
    }

    @Test(arguments: ["password", "channel", "session", "data"])
    func whatDiffersBetweenTheEndsMakesOtherKeys(_ difference: String) throws {
        func end(_ other: Bool) -> CPace {
            func text(_ name: String) -> [UInt8] { Array((other && name == difference ? "x" : name).utf8) }
            return CPace(
                password: text("password"), channel: text("channel"), session: text("session"),
                associatedData: text("data"))
        }
        let (initiator, responder) = (end(false), end(true))
        var (initiation, response) = (initiator.message, responder.message)
        if difference == "data" {
            // What one end said and the other understood otherwise.
            initiation.associatedData = Array("data".utf8)
            response.associatedData = Array("data".utf8)
        }
        let keys = (initiator.key(initiatorWith: response), responder.key(responderTo: initiation))
        #expect(keys.0 != nil && keys.0 != keys.1)
    }

    /// From the draft's appendix on its string functions.
    @Test
    func partsAreConcatenatedBehindTheirLengths() {
        #expect(CPace.concatenate([Array("1234".utf8), [], Array("678".utf8)]) == bytes("04 31323334 00 03 363738"))
        let long = [UInt8](repeating: 7, count: 300)
        #expect(CPace.concatenate([long]) == [0xAC, 0x02] + long)
    }
}
