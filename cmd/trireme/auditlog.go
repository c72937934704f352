package main

import (
	"fmt"

	"github.com/trireme-dev/trireme/node/audit"
)

// recordStart records the start of this node. A node that the cluster refuses leaves no record: it
// was never a part of it.
func (pr *process) recordStart() {
	pr.recorded = true
	pr.audit.Write(audit.Record{Act: "start", Target: pr.NodeID, Detail: fmt.Sprintf("version %s, commit %s", version, commit), Who: audit.Process, Outcome: audit.Done})
}

// recordStop records an orderly stop, and closes the audit log.
func (pr *process) recordStop() {
	if pr.recorded {
		pr.audit.Write(audit.Record{Act: "stop", Target: pr.NodeID, Who: audit.Process, Outcome: audit.Done})
	}
	if err := pr.audit.Close(); err != nil {
		pr.log.Warn("the audit log did not close cleanly", "error", err)
	}
}
