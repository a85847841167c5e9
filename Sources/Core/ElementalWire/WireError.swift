/// An error in a definition, in a text or in bytes of the wire.
public struct WireError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error. Later versions may add kinds; give a `switch` a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Value: String, CaseIterable {
            case invalidDefinition, duplicateElement, invalidText, invalidCatalogue, valueTooLarge, invalidPiece
        }
        let value: Value

        /// The kind as one word, such as `invalidText`.
        public var description: String { value.rawValue }

        /// An element's identifier, name, range, step or choices are not allowed.
        public static let invalidDefinition = Code(value: .invalidDefinition)
        /// Two elements of a catalogue share an identifier or a name.
        public static let duplicateElement = Code(value: .duplicateElement)
        /// A text is not a value of the type.
        public static let invalidText = Code(value: .invalidText)
        /// The bytes are not a catalogue.
        public static let invalidCatalogue = Code(value: .invalidCatalogue)
        /// A frame announces a value longer than the limit.
        public static let valueTooLarge = Code(value: .valueTooLarge)
        /// A piece of a large value does not follow the piece before it.
        public static let invalidPiece = Code(value: .invalidPiece)
    }

    /// The kind of error.
    public let code: Code
    /// What happened and what to do, for a person.
    public let message: String

    /// An error of this kind.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
