package scheduler

import (
	"context"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// The header by which an answer brings commands, after a prefix of service headers: the commands as JSON, or commitInBody if the
// body is them.
const (
	commitHeader = "-Commit"
	commitInBody = "body"
)

// commitOf returns the commands that an answer brings, nil if it has none or its message has not asked for any.
func (s *Sender) commitOf(p *reply, c *queue.Content) []byte {
	if s.commitsBody(p, c) {
		return p.body
	}
	return []byte(s.commitIn(p, c))
}

func (s *Sender) commitsBody(p *reply, c *queue.Content) bool {
	return strings.EqualFold(s.commitIn(p, c), commitInBody)
}

func (s *Sender) commitIn(p *reply, c *queue.Content) string {
	if c.CommitAs == "" {
		return ""
	}
	for _, prefix := range s.options.Prefixes {
		if v := strings.TrimSpace(p.asked.Get(prefix + commitHeader)); v != "" {
			return v
		}
	}
	return ""
}

// commit records a result with the commands of its answer, by an entry of its own that its database pays for: a database that owes time
// to others waits here, with a sender that it has, and not with one of the recorders, which all databases have. It returns false
// if the commands were refused before they ran: the attempt has failed then, and remains to be recorded.
func (s *Scheduler) commit(one *attemptResult, commands []byte) bool {
	n := queue.Answer{Result: one.Result, Commit: commands}
	out, err := s.propose([]attemptResult{*one}, func(ctx context.Context) (queue.Dispositions, error) { return s.Claimer.Commit(ctx, n) })
	if err != nil {
		one.Error = "the commands were refused: " + err.Error()
	}
	counted := one.Result
	if len(out) == 1 && !out[0].Stale && out[0].State != queue.Delivered {
		counted.Error = "the commands were refused"
	}
	s.count(&counted)
	return err == nil
}
