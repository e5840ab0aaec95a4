#if Redis
import PressureSystem
import Testing

@testable import PressureKit
@testable import SpillStore

/// A real cluster of a test's own, of three nodes with a third of the slots each. Ends with this.
struct TestCluster {
    private static let slots = 16_384

    private(set) var nodes: [TestServer]

    /// Starts the nodes, and waits until each knows all and serves.
    ///
    /// - Parameter certificates: for nodes that speak TLS with each other and with clients.
    init(_ certificates: TestCertificates? = nil) throws {
        nodes = try (0..<3).map { _ in try Self.node(certificates) }
        for (index, node) in nodes.enumerated() {
            node.run("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
            let range = Self.slots * index / 3..<Self.slots * (index + 1) / 3
            #expect(node.run("CLUSTER", "ADDSLOTSRANGE", "\(range.lowerBound)", "\(range.upperBound - 1)") == "OK")
            meet(node)
        }
        for node in nodes {
            TestServer.waitUntil { node.run("CLUSTER", "INFO")?.contains("cluster_state:ok") == true }
            Self.waitUntilAllAreKnown(to: node)
        }
    }

    /// Waits until a node knows of all slots.
    private static func waitUntilAllAreKnown(to node: TestServer) {
        TestServer.waitUntil { (try? RedisNodes.ask(node.connect()))??.count == 3 }
    }

    private static func node(_ certificates: TestCertificates? = nil) throws -> TestServer {
        let port = TestServer.freePort()
        guard let certificates else { return try TestServer("--cluster-enabled", "yes", port: port) }
        let options = ["--cluster-enabled", "yes", "--tls-cluster", "yes"] + certificates.options(port: port)
        return try TestServer(options, port: 0, tlsPort: port)
    }

    private func meet(_ node: TestServer) {
        for other in nodes where other !== node {
            node.run("CLUSTER", "MEET", "127.0.0.1", "\(max(other.port, other.tlsPort))")
        }
    }

    /// Starts another, which has what a node has, and waits until it has.
    mutating func addReplica(of node: TestServer) throws -> TestServer {
        let replica = try Self.node()
        meet(replica)
        Self.waitUntilAllAreKnown(to: replica)
        let name = id(of: node)
        TestServer.waitUntil { replica.run("CLUSTER", "REPLICATE", name) == "OK" }
        TestServer.waitUntil { replica.info("replication", "master_link_status") == "up" }
        replica.waitUntilReplicated(from: node)
        nodes.append(replica)
        return replica
    }

    func id(of node: TestServer) -> String { node.run("CLUSTER", "MYID") ?? "" }

    /// The node that has a key's slot, as far as the first says.
    func owner(of key: String) throws -> TestServer {
        try #require(nodes.first { $0.run("SET", key, "", "PX", "1") == "OK" })
    }

    func slot(of key: String) -> String { nodes[0].run("CLUSTER", "KEYSLOT", key) ?? "" }

    /// The nodes that hold values.
    var holders: [TestServer] { nodes.filter { !$0.segments.isEmpty } }

    /// In place of a disk; one node is named, and the others are heard of.
    func remote(_ node: TestServer? = nil) -> RemoteSpill {
        var remote = RemoteSpill.redis(host: "127.0.0.1", port: (node ?? nodes[0]).port)
        remote.replacesDisk = true
        remote.commandTimeout = .seconds(10)
        return remote
    }
}
#endif
