package resp

import (
	"errors"
	"time"

	"trireme/resp/protocol"
)

// Limits bound what clients may take of one node. Fields that are 0 have the defaults
// below, except the counts of connections, of which 0 is none.
type Limits struct {
	// Connections is the most open connections, ConnectionsPerIP those from one address.
	Connections, ConnectionsPerIP int
	// RequestBytes is the most bytes of a command, and of a transaction that is being
	// queued. A larger one could not be a log entry.
	RequestBytes int
	// Rows is the most commands of a transaction.
	Rows int
	// OutputBytes is how much may wait for a client that reads slowly; beyond it, its
	// commands wait.
	OutputBytes int
	// TrackedKeys is how many keys of what clients have read are remembered for
	// CLIENT TRACKING; beyond it some count as changed.
	TrackedKeys int
	// CommandTime is how long a command may take to arrive once it has begun, LoginTime how
	// long a connection may be without a user, ReplyTime how long a client may take
	// nothing of what is sent to it.
	CommandTime, LoginTime, ReplyTime time.Duration
}

// Defaults of Limits.
const (
	// DefaultConnections is for --resp-max-connections.
	DefaultConnections  = 10_000
	DefaultRequestBytes = 10 << 20
	DefaultRows         = 10_000
	DefaultOutputBytes  = 32 << 20
	// DefaultTrackedKeys is for --resp-tracked-keys.
	DefaultTrackedKeys = 1_000_000
	DefaultCommandTime = time.Minute
	DefaultLoginTime   = time.Minute
	DefaultReplyTime   = time.Minute
)

func (l *Limits) complete() {
	defaults := []struct {
		field *int
		value int
	}{{&l.RequestBytes, DefaultRequestBytes}, {&l.Rows, DefaultRows}, {&l.OutputBytes, DefaultOutputBytes}, {&l.TrackedKeys, DefaultTrackedKeys}}
	for _, d := range defaults {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	times := []struct {
		field *time.Duration
		value time.Duration
	}{{&l.CommandTime, DefaultCommandTime}, {&l.LoginTime, DefaultLoginTime}, {&l.ReplyTime, DefaultReplyTime}}
	for _, d := range times {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
}

// Check tells whether the limits can be kept.
func (l Limits) Check() error {
	if min(l.Connections, l.ConnectionsPerIP) < 0 {
		return errors.New("resp-max-connections and resp-max-connections-per-ip can't be negative, 0 is none")
	}
	return nil
}

// The most words of a command, and the most bytes of an inline one.
const (
	maxWords  = 1 << 20
	maxInline = 64 << 10
)

func (l *Limits) protocol() protocol.Limits {
	return protocol.Limits{Words: maxWords, Bulk: l.RequestBytes, Total: l.RequestBytes, Inline: maxInline}
}
