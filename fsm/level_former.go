package fsm

import (
	"fmt"

	"github.com/trireme-dev/trireme/fsm/env"
)

// FormerLevel refuses data of a level below env.Base in one sentence, which says what leads to this version. It matches
// ErrFormerLevel.
func FormerLevel(level env.Level) error {
	return fmt.Errorf("its data is of feature level %d, which %w: run version 0.2.0 on it until the feature level is %d and have that write a snapshot, or export with that version and import into a new cluster (docs/upgrading.md)",
		max(level, 1), ErrFormerLevel, env.Base)
}

// FoundedAt returns the feature level at which an entry of the log founds a cluster; founds is false for any other entry.
func FoundedAt(data []byte) (level env.Level, founds bool) {
	n, err := DecodeEntry(data)
	if err != nil {
		return 0, false
	}
	for i := range n.Requests {
		if q := &n.Requests[i]; q.Code == BootstrapState.Code {
			f, err := BootstrapState.Argument(q.Body)
			return f.Level, err == nil
		}
	}
	return 0, false
}
