#if Redis
/// A server, and how a space on it is kept.
package struct RedisSpaceOptions: Sendable {
    package var server: RedisServer
    /// What all keys begin with.
    package var keyPrefix: String
    /// How long keys outlive the last sign of life.
    package var lease: Duration
    /// Replicas that must have what nobody can make again before it leaves memory.
    package var requiredReplicas = 0
    /// For tests: whether signs of life are given.
    package var renews: Bool

    package init(
        server: RedisServer,
        keyPrefix: String = "pk",
        lease: Duration = .seconds(60),
        renews: Bool = true
    ) {
        self.server = server
        self.keyPrefix = keyPrefix
        self.lease = lease
        self.renews = renews
    }
}
#endif
