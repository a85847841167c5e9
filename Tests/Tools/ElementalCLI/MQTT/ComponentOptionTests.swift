import Testing

@testable import ElementalCLI

/// `--map ELEMENT=COMPONENT[,key=value]…`.
struct ComponentOptionTests {
    @Test(arguments: [
        ("Brightness=light", "Brightness", "light", [:]),
        ("Humidity=sensor,device_class=humidity", "Humidity", "sensor", ["device_class": "humidity"]),
        ("a=b=switch", "a=b", "switch", [:]),
        // Settings may have the names of components as their values.
        (
            "Bell=event,device_class=button,event_types=pressed|held", "Bell", "event",
            ["device_class": "button", "event_types": "pressed|held"]
        ),
        ("Note=text,mode=text", "Note", "text", ["mode": "text"]),
    ])
    func isRead(text: String, element: String, kind: String, settings: [String: String]) throws {
        let option = try ComponentOption(parsing: text)
        #expect(option.element == element)
        #expect(option.component.kind.rawValue == kind)
        #expect(option.component.settings == settings)
    }

    @Test(arguments: [
        "", "Brightness", "Brightness=", "=light", "Brightness=lamp", "A=light,x", "A=light,=x", "A=light,cmd_t=x",
    ])
    func isRefused(text: String) {
        #expect(throws: (any Error).self) { try ComponentOption(parsing: text) }
    }
}
