package cluster

import (
	"errors"

	"github.com/trireme-dev/trireme/cluster/transport"
)

// Why another node rejects this one, or this one another. Their texts say what to do.
var (
	// ErrArchitecture says that two nodes run on different kinds of processor: their floating-point results may differ,
	// and so their states.
	ErrArchitecture = errors.New("all nodes of a cluster run on one processor architecture")
	// ErrLevel says that a node's binary is older than what the cluster's log asks for.
	ErrLevel = errors.New("the node's version is too old for this cluster")
	// ErrAnotherNode says that a call was meant for another node than the one that now has that address.
	ErrAnotherNode = errors.New("another node has this address now")

	errNotRunning  = transport.ErrNotReady
	errUnknownCall = errors.New("cluster: unknown call")
)
