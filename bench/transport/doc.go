// Command transport compares the calls between nodes (cluster/transport) with yamux and gRPC: one process, one TCP
// connection on loopback, both sides, callers that each wait for the answer to a call before the next. It is a module of
// its own so that the dependencies of the peers never meet those of the product.
//
//	go run . -seconds 2 -rounds 3
//
// It prints the calls a second and the processor time of one call, both sides together: medians of the rounds, which
// take turns. With yamux each caller keeps a stream for its calls, as net/rpc over yamux does, which is its fastest form.
package main
