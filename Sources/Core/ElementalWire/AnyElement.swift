#if !hasFeature(Embedded)
/// Anything that has an ``ElementDefinition``: a typed ``Element`` or the definition itself.
public protocol AnyElement: Sendable {
    /// The element's definition.
    var definition: ElementDefinition { get }
}

extension ElementDefinition: AnyElement {}

extension ElementCatalogue {
    /// A catalogue of elements known at run time.
    ///
    /// - Throws: ``WireError`` with the code ``WireError/Code/duplicateElement``, naming both elements.
    public init(_ elements: [any AnyElement]) throws(WireError) {
        try self.init(elements.map(\.definition) as [ElementDefinition])
    }
}
#endif
