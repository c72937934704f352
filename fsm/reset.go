package fsm

import (
	"github.com/trireme-dev/trireme/fsm/dedup"
	"github.com/trireme-dev/trireme/fsm/env"
)

// reset empties what clients have made: keys, messages, queues, schedules, groups, events,
// runs, kept replies. Databases, users, tokens, signing keys and settings stay, and so does
// time. Only a development server whose clock belongs to a test proposes it, between two
// tests.
func (s *State) reset(e *env.Env, _ Empty) (Ack, error) {
	s.changeAll(func(d *database) {
		d.keys.Flush(e)
		if d.search.Used() {
			d.search.Reset()
			e.Notifications = append(e.Notifications, env.Notification{Kind: env.SearchChanged, DB: d.name})
		}
		if d.messages != nil {
			d = s.openWork(d)
			d.messages.Reset()
			d.workflows.Reset()
		}
	})
	s.retries = dedup.New()
	return Ack{}, nil
}
