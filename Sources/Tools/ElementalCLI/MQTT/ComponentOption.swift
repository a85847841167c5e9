import ArgumentParser
import MQTTBridge

/// `ELEMENT=COMPONENT[,key=value]…` from the command line: the component of an element in Home Assistant.
struct ComponentOption: Sendable {
    let element: String
    let component: MQTTComponent

    init(parsing text: String) throws(ValidationError) {
        // An element's name may contain '=', and so do the settings: the first one that a component's name follows counts.
        guard let (name, rest) = Self.split(text) else {
            let kinds = MQTTComponent.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError(
                "write it as ELEMENT=COMPONENT, as in Brightness=light or Humidity=sensor,device_class=humidity; a "
                    + "COMPONENT is one of \(kinds)")
        }
        let parts = rest.split(separator: ",", omittingEmptySubsequences: false)
        guard let kind = parts.first.flatMap({ MQTTComponent.Kind(rawValue: String($0)) }) else {
            throw ValidationError("'\(rest.excerpt)' is not a component")
        }
        var settings: [String: String] = [:]
        for part in parts.dropFirst() {
            guard let sign = part.firstIndex(of: "="), sign != part.startIndex else {
                throw ValidationError("'\(part.excerpt)' is not a setting; write it as in device_class=humidity")
            }
            settings[String(part[..<sign])] = String(part[part.index(after: sign)...])
        }
        element = name
        component = try checked { try MQTTComponent(kind, settings: settings) }
    }

    /// The element's name and the text after it. They are separated at the first `=` with a component's name after it.
    private static func split(_ text: String) -> (name: String, rest: Substring)? {
        for sign in text.indices where text[sign] == "=" && sign != text.startIndex {
            let rest = text[text.index(after: sign)...]
            let word = rest.prefix { $0 != "," }
            if MQTTComponent.Kind(rawValue: String(word)) != nil { return (String(text[..<sign]), rest) }
        }
        return nil
    }
}
