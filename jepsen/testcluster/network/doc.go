// Package network sits between the nodes of a cluster under test, and between them and
// their clients, and changes the traffic of each direction as a test asks.
//
// With root it is a switch: each node is a host of its own (a network namespace), and
// every frame passes through this process, so that frames can be lost, delayed, doubled,
// corrupted or thinned out below TCP. Without root it is a relay of TCP connections, which
// can cut, delay and slow down, but cannot do what only frames allow.
package network
