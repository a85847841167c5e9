internal import Support

/// One entity of a device, as Home Assistant is told of it.
struct Component: Sendable {
    /// What it is within the device: the element's identifier, of a vector with the component's number behind it.
    let key: String
    let platform: String
    /// What it says besides platform and identifier, without topics that all components have.
    var members: JSONText.Members

    /// Sets a member, in its place if there is one.
    mutating func set(_ key: String, _ value: JSONText) {
        if let position = members.firstIndex(where: { $0.key == key }) {
            members[position].value = value
        } else {
            members.append((key, value))
        }
    }
}
