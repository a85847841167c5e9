import Elemental
import ElementalFollowing
import Testing

@testable import MQTTBridge

/// Names as levels of topics.
struct TopicTests {
    @Test(arguments: [
        ("robot", "robot"), ("Rover", "rover"), ("screen_control", "screen_control"), ("a-1", "a-1"),
    ])
    func plainNamesStayAsTheyAre(name: String, level: String) {
        #expect(TopicLevel.service(name) == level)
    }

    @Test
    func whatIsReplacedIsToldApartByAHash() {
        let levels = ["Left arm", "Left-arm", "Left  arm", "Left/arm", "left arm", "Länge", "Lange", "", "+", "#"].map {
            TopicLevel.instance($0)
        }
        #expect(Set(levels).count == levels.count, "\(levels)")
        #expect(levels[1] == "left-arm")
        #expect(levels[0].hasPrefix("left-arm-") && levels[0].count == "left-arm-".count + 4)
        for level in levels {
            #expect(!level.isEmpty)
            #expect(level.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-_".utf8.contains($0) }, "\(level)")
        }
    }

    @Test
    func aNameThatLooksLikeAHashedOneIsHashedToo() {
        let hashed = TopicLevel.instance("Left arm")
        #expect(TopicLevel.instance(hashed) != hashed)
        #expect(TopicLevel.instance(hashed).hasPrefix(hashed))
    }

    @Test
    func namesOfAnyLengthAreLevelsOfBoundedLength() {
        let long = String(repeating: "ü", count: 5000)
        #expect(TopicLevel.instance(long).utf8.count <= 80)
        #expect(TopicLevel.instance(String(repeating: "x", count: 300)).utf8.count <= 80)
        #expect(TopicLevel.instance(long) != TopicLevel.instance(long + "ü"))
    }

    @Test
    func anInstanceHasNoUnderscoreSoThatIdentifiersAreUnambiguous() throws {
        let topics = try BridgeTopics(base: "elemental", id: "pi")
        let one = try topics.service(ServiceKey(service: "a", name: "b_c"))
        let other = try topics.service(ServiceKey(service: "a_b", name: "c"))
        #expect(one.id != other.id)
        #expect(other.id == "elemental_a_b_c")
    }

    @Test
    func wordsThatStandForSomethingElseAreNoNames() throws {
        #expect(TopicLevel.service("bridge") != "bridge")
        #expect(TopicLevel.service("address") != "address")
        let levels = TopicLevel.elements([(1, "Availability"), (2, "availability"), (3, "set")])
        #expect(levels[1] != "availability" && levels[2] != "availability")
        #expect(levels[3] == "set")
        #expect(Set(levels.values).count == 3)
    }

    @Test
    func elementsThatDifferInCaseOnlyHaveLevelsOfTheirOwn() {
        let levels = TopicLevel.elements([(1, "Speed"), (2, "speed"), (3, "Level")])
        #expect(Set(levels.values).count == 3)
        #expect(levels[3] == "level")
        #expect(TopicLevel.elements([(1, "Speed")])[1] == "speed")
    }

    @Test
    func topicsAreReadBack() throws {
        let topics = try BridgeTopics(base: "site/elemental", id: "pi")
        let service = try topics.service(ServiceKey(service: "robot", name: "Rover"))
        #expect(service.path == "robot/rover")
        #expect(try service.value("speed").name == "site/elemental/robot/rover/speed")
        #expect(service.config.name == "homeassistant/device/elemental_robot_rover/config")
        #expect(
            topics.place(of: service.set("speed")) == .set(service: "robot/rover", element: "speed", component: nil))
        #expect(
            topics.place(of: service.set("aim", component: 2))
                == .set(service: "robot/rover", element: "aim", component: 2))
        #expect(topics.place(of: service.availability.name) == .availability(service: "robot/rover"))
        #expect(topics.place(of: topics.bridge.name) == .bridge("site/elemental/bridge/pi/availability"))
        #expect(topics.place(of: service.config.name) == .config(id: "elemental_robot_rover"))
        #expect(topics.place(of: "homeassistant/status") == .birth)
        for other in [
            "", "/", "site/elemental", "site/elementalx/robot/rover/speed/set", "elemental/robot/rover/speed/set",
            "site/elemental/robot/rover/speed", "site/elemental/robot/rover/speed/-1/set",
            "site/elemental/robot/rover/speed/x/set", "site/elemental/a/b/c/d/e/set", "homeassistant/device/config",
            "homeassistant/device/a/b/config", "homeassistant/device//config",
        ] {
            #expect(topics.place(of: other) == nil, "\(other)")
        }
        #expect(service.isValue("site/elemental/robot/rover/speed"))
        #expect(!service.isValue("site/elemental/robot/rover/availability"))
        #expect(!service.isValue("site/elemental/robot/rover/speed/set"))
        #expect(!service.isValue("site/elemental/robot/rover2/speed"))
        let other = try BridgeTopics(base: "elemental", id: "pi", discovery: DiscoveryTopics(prefix: "ha"))
        #expect(other.place(of: "ha/device/elemental_robot_rover/config") == .config(id: "elemental_robot_rover"))
        #expect(other.place(of: service.config.name) == nil)
        // It says that it has started where it always did, unless it was told otherwise.
        #expect(other.place(of: "ha/status") == .birth && other.place(of: "homeassistant/status") == .birth)
        let address = try topics.service(ServiceKey(host: "192.168.1.7", port: 5000))
        #expect(address.path.hasPrefix("address/192-168-1-7-5000-"))
    }
}
