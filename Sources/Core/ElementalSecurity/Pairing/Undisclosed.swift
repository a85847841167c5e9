/// A type that contains a secret and shows none of it: not in a description, a log, an error or a debugger's dump.
package protocol Undisclosed: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Undisclosed {
    /// The name of the type, without contents.
    public var description: String { "\(Self.self) (not shown)" }
    /// The name of the type, without contents.
    public var debugDescription: String { description }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
