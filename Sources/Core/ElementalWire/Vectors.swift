/// Two floats: 8 bytes on the wire, `x` first.
public typealias Vector2 = SIMD2<Float>

/// Three floats: 12 bytes on the wire, `x` first.
public typealias Vector3 = SIMD3<Float>

/// Four floats: 16 bytes on the wire, `x` first.
public typealias Vector4 = SIMD4<Float>

/// Sixteen floats: 64 bytes on the wire, one column after the other.
///
/// The columns come in the order of `simd_float4x4`, so that a matrix of that type can be sent as it lies in memory.
public struct Matrix4x4: Sendable, Hashable {
    /// The four columns, left to right.
    public var columns: (Vector4, Vector4, Vector4, Vector4)

    /// A matrix of four columns, left to right.
    @inlinable
    public init(_ c0: Vector4, _ c1: Vector4, _ c2: Vector4, _ c3: Vector4) {
        columns = (c0, c1, c2, c3)
    }

    /// The identity matrix.
    public static let identity = Matrix4x4([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1])

    /// A matrix from its sixteen elements in the order of the wire: column by column.
    ///
    /// - Precondition: there are exactly 16.
    public init(_ elements: [Float]) {
        precondition(elements.count == 16, "a Matrix4x4 has 16 elements, not \(elements.count)")
        self.init(
            Vector4(elements[0..<4]), Vector4(elements[4..<8]), Vector4(elements[8..<12]), Vector4(elements[12..<16])
        )
    }

    /// The sixteen elements in the order of the wire: column by column.
    public var elements: [Float] {
        [columns.0, columns.1, columns.2, columns.3].flatMap { column in (0..<4).map { column[$0] } }
    }

    /// Whether all sixteen elements are equal.
    public static func == (a: Matrix4x4, b: Matrix4x4) -> Bool {
        a.columns.0 == b.columns.0 && a.columns.1 == b.columns.1 && a.columns.2 == b.columns.2
            && a.columns.3 == b.columns.3
    }

    /// Hashes the sixteen elements.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(columns.0)
        hasher.combine(columns.1)
        hasher.combine(columns.2)
        hasher.combine(columns.3)
    }
}
