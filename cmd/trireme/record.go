package main

import (
	"fmt"

	"trireme/audit"
)

// started records the start of this node. One that is refused its place tells why, and
// leaves no record: it was no part of the cluster.
func (n *process) started() {
	n.recorded = true
	n.audit.Write(audit.Record{Act: "start", Target: n.NodeID, Detail: fmt.Sprintf("version %s, commit %s", version, commit), Who: audit.Process, Outcome: audit.Done})
}

// ended records its end in order, and closes the record.
func (n *process) ended() {
	if n.recorded {
		n.audit.Write(audit.Record{Act: "stop", Target: n.NodeID, Who: audit.Process, Outcome: audit.Done})
	}
	if err := n.audit.Close(); err != nil {
		n.log.Warn("the audit log did not close cleanly", "error", err)
	}
}
