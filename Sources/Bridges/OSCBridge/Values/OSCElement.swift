import Elemental
internal import ElementalFollowing

/// An element of a bridged service with its address.
struct OSCElement: BridgedElement {
    let definition: ElementDefinition
    let address: String
    /// The last level of that.
    let level: String

    /// What is known of an element's value.
    struct Reading: Sendable {
        var newest: ElementValue?
        /// Problems that were told, each once until it is over.
        var told: Set<String> = []
    }
}
