package console

import (
	"context"

	"github.com/trireme-dev/trireme/fsm"
)

// end ends a session on every node: the log remembers the end until no cookie of the session could be valid any more.
func (c *Console) end(ctx context.Context, s *session) error {
	_, err := fsm.Do(ctx, c.o.Engine, fsm.EndSession, fsm.EndedSession{ID: s.ID, Until: s.Began + MaxAge.Milliseconds()})
	return err
}

// ended reports whether a session was ended, as this node knows it.
func (c *Console) ended(s *session) (is bool) {
	c.o.Engine.Local(func(v *fsm.View) { is = v.SessionEnded(s.ID) })
	return is
}
