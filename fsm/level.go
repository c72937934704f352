//go:build !nextlevel

package fsm

import "github.com/trireme-dev/trireme/fsm/env"

// MaxLevel is the highest feature level this binary knows (docs/upgrading.md).
const MaxLevel = env.Latest
