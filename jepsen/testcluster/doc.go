// Package testcluster runs the product's binary as real processes on loopback and injects
// faults: kill -9, SIGSTOP, SIGTERM, restart, damaged disks, broken links.
//
// Cluster is a set of Nodes, Client a client that never retries and classifies each
// outcome. Every process is addressed by its pid and ends with the program that started
// it. With root each node has its own network namespace and disk; without root a TCP relay
// joins the nodes and faults of disks are left out.
package testcluster
