import struct Foundation.Data

typealias Data = Foundation.Data
