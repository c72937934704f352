//go:build nextlevel

package fsm

import "github.com/trireme-dev/trireme/fsm/env"

// MaxLevel is a level that no release has: builds with the tag nextlevel stand for the next
// version, so that upgrades and refusals can be tried before there is one.
const MaxLevel = env.Latest + 1
