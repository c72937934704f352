//go:build !nextlevel

package cluster

import "time"

// levelAfter is how long every server must have answered a feature level before the leader raises it.
const levelAfter = 10 * time.Minute
