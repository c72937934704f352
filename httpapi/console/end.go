package console

import (
	"context"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// end ends a session on every node: the log remembers the end until no cookie of the session could be valid any more. A
// cluster that still has nodes of an older version can't; then only the browser's cookie is removed, and a copy of it
// is valid until its idle time is over.
func (c *Console) end(ctx context.Context, s *session) error {
	able := false
	c.o.Engine.Local(func(v *fsm.View) { able = v.Level() >= env.Level2 })
	if !able {
		return nil
	}
	_, err := fsm.Do(ctx, c.o.Engine, fsm.EndSession, fsm.EndedSession{ID: s.ID, Until: s.Began + MaxAge.Milliseconds()})
	return err
}

// ended reports whether a session was ended, as this node knows it.
func (c *Console) ended(s *session) (is bool) {
	c.o.Engine.Local(func(v *fsm.View) { is = v.SessionEnded(s.ID) })
	return is
}
