//go:build !nextlevel

package cluster

import "time"

// levelAfter is the time for which every server must have reported a feature level before the leader raises the cluster to it.
const levelAfter = 10 * time.Minute
