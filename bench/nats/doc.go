// Command nats is the peer of benchmark row 12: a NATS server with JetStream, and clients
// that publish to a replicated stream and wait for each acknowledgement. It is a module of
// its own so that NATS's dependencies never meet those of the product.
//
//	nats serve -name s1 -dir D -client 127.0.0.1:P -route 127.0.0.1:Q -routes nats://…,nats://…
//	nats publish -servers nats://…,nats://… -clients 64 -for 3s
//
// The servers sync every message (sync_interval: always). The stream has three replicas.
// publish prints the messages acknowledged a second.
package main
