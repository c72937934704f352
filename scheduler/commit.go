package scheduler

import (
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
