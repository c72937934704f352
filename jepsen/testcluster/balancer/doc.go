// Package balancer is a small reverse proxy in front of the nodes of a cluster under test, as an
// operator runs one: requests over HTTP and connections over TCP (RESP, or HTTP again) go in turn
// to the nodes whose /readyz was 200 when it was polled last, and that no operator has taken out.
//
// It sends nothing twice: a request or a connection that fails at the chosen node fails for the
// client too, so that a run through it counts what a node did to its clients.
package balancer
