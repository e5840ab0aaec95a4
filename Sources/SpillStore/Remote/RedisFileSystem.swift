#if Redis
package import PressureSystem
package import SystemPackage

/// A file that is on a server: what a disk does and a server has no part in.
package protocol RedisFileSystem: FileSystem {}

extension RedisFileSystem {
    package func openNameless(in directory: String) throws(Errno) -> CInt { throw .notSupported }

    package func openExclusive(_ path: String) throws(Errno) -> CInt { throw .notSupported }

    /// There is no cache between us and it.
    package func openDirect(_ descriptor: CInt) throws(Errno) -> CInt { throw .notSupported }

    package func expectRandomReads(_ descriptor: CInt) {}

    package func unlink(_ path: String) throws(Errno) {}

    package func punchHole(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {}

    package func truncate(_ descriptor: CInt, to size: Int64) throws(Errno) {}

    package func startWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {}

    package func finishWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {}

    package func dropCached(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {}

    /// Room on a server is known when it says that there is none.
    package func freeSpace(_ descriptor: CInt) throws(Errno) -> UInt64 { .max }

    package func directoryFacts(_ path: String) throws(Errno) -> DirectoryFacts { throw .notSupported }

    package var maximumFileSize: Int64 { .max }

    package var effectiveUser: UInt32 { 0 }
}
#endif
