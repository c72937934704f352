package scenario

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/trireme-dev/trireme/bench/internal/peer"
)

// profile measures s once more, outside the pairs, while n's processor profile
// is recorded into b.Profile; without that setting it does nothing.
func (b *Bench) profile(ctx context.Context, s *subject, n *peer.Node, name string) {
	if b.Profile == "" || s.err != nil {
		return
	}
	path := filepath.Join(b.Profile, name+".pprof")
	failed := make(chan error, 1)
	go func() { failed <- record(ctx, n, int(max(1, b.Duration.Seconds())), path) }()
	_, err := s.measure(ctx)
	if err := errors.Join(err, <-failed); err != nil {
		b.Log("  profile of %s: %v", s.name, err)
		return
	}
	b.Log("  profile of %s on %s: %s", s.name, n.ID, path)
}

// record writes a processor profile to path.
func record(ctx context.Context, n *peer.Node, seconds int, path string) error {
	p, err := n.Profile(ctx, seconds)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, p, 0o644)
}
