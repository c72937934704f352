package main

import (
	"fmt"

	"github.com/trireme-dev/trireme/node/audit"
)

// recordStart records the start of this node. A node that the cluster refuses leaves no record: it
// was never a part of it.
func (n *process) recordStart() {
	n.recorded = true
	n.audit.Write(audit.Record{Act: "start", Target: n.NodeID, Detail: fmt.Sprintf("version %s, commit %s", version, commit), Who: audit.Process, Outcome: audit.Done})
}

// recordStop records an orderly stop, and closes the audit log.
func (n *process) recordStop() {
	if n.recorded {
		n.audit.Write(audit.Record{Act: "stop", Target: n.NodeID, Who: audit.Process, Outcome: audit.Done})
	}
	if err := n.audit.Close(); err != nil {
		n.log.Warn("the audit log did not close cleanly", "error", err)
	}
}
