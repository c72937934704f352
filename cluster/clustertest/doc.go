// Package clustertest runs real nodes of package cluster in one process, with real sockets and disks, and
// partitions them (Network). Tests of any package may import it; no product package does.
package clustertest
