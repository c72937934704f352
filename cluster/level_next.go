//go:build nextlevel

package cluster

import "time"

// levelAfter is short in the build that stands for the next version.
const levelAfter = 10 * time.Second
