package resp

import (
	"errors"
	"time"

	"github.com/trireme-dev/trireme/internal/connlimit"
	"github.com/trireme-dev/trireme/resp/protocol"
)

// Limits bound what clients may use of one node. 0 selects the default below, except for
// the counts of connections, where 0 = unlimited.
type Limits struct {
	// Connections is the most open connections, ConnectionsPerIP those from one address but
	// loopback: -1 is a quarter of Connections.
	Connections, ConnectionsPerIP int
	// RequestBytes is the most bytes of a command, and of a transaction that is being
	// queued. A larger one could not be a log entry.
	RequestBytes int
	// Rows is the most commands of a transaction.
	Rows int
	// OutputBytes bounds the replies that are queued for a client that reads slowly. While more
	// are queued, its commands wait.
	OutputBytes int
	// TransactionReplyBytes bounds the memory of the replies of a transaction that only reads.
	// They come from one view, so all are held until the last.
	TransactionReplyBytes int
	// UnauthenticatedBytes bounds the memory for the input of all connections without a user
	// together, beyond 4 KiB each.
	UnauthenticatedBytes int
	// TrackedKeys bounds the keys that CLIENT TRACKING remembers. Beyond it, a new key invalidates
	// another one.
	TrackedKeys int
	// CommandTime bounds the time from a command's first byte to its last, LoginTime the time
	// that a connection stays open without a user, ReplyTime the time in which a client reads
	// none of its replies.
	CommandTime, LoginTime, ReplyTime time.Duration
}

// Defaults of Limits.
const (
	// DefaultConnections is the default of --resp-max-connections.
	DefaultConnections  = 10_000
	DefaultRequestBytes = 10 << 20
	DefaultRows         = 10_000
	DefaultOutputBytes  = 32 << 20
	// DefaultTransactionReplyBytes is the default of Limits.TransactionReplyBytes.
	DefaultTransactionReplyBytes = 256 << 20
	// DefaultUnauthenticatedBytes is the default of Limits.UnauthenticatedBytes.
	DefaultUnauthenticatedBytes = 32 << 20
	// DefaultTrackedKeys is the default of --resp-tracked-keys.
	DefaultTrackedKeys = 1_000_000
	DefaultCommandTime = time.Minute
	DefaultLoginTime   = time.Minute
	DefaultReplyTime   = time.Minute
)

func (l *Limits) complete() {
	setDefault(&l.RequestBytes, DefaultRequestBytes)
	setDefault(&l.Rows, DefaultRows)
	setDefault(&l.OutputBytes, DefaultOutputBytes)
	setDefault(&l.TransactionReplyBytes, DefaultTransactionReplyBytes)
	setDefault(&l.UnauthenticatedBytes, DefaultUnauthenticatedBytes)
	setDefault(&l.TrackedKeys, DefaultTrackedKeys)
	setDefault(&l.CommandTime, DefaultCommandTime)
	setDefault(&l.LoginTime, DefaultLoginTime)
	setDefault(&l.ReplyTime, DefaultReplyTime)
}

func setDefault[T int | time.Duration](limit *T, value T) {
	if *limit <= 0 {
		*limit = value
	}
}

// Check returns an error if a limit has no meaning.
func (l Limits) Check() error {
	if l.Connections < 0 || l.ConnectionsPerIP < connlimit.QuarterOfTotal {
		return errors.New("resp-max-connections must not be negative (0 = unlimited), nor resp-max-connections-per-ip be less than -1 (a quarter of the former)")
	}
	return nil
}

// The most words of a command, and the most bytes of an inline one.
const (
	maxWords  = 1 << 20
	maxInline = 64 << 10
)

// connections are the limits of the connection limiter. The reserve is for loopback.
func (l *Limits) connections() connlimit.Limits {
	return connlimit.Limits{Total: l.Connections, PerAddress: l.ConnectionsPerIP, Reserve: connlimit.ReserveFor(l.Connections)}
}

func (l *Limits) protocol() protocol.Limits {
	return protocol.Limits{Words: maxWords, Bulk: l.RequestBytes, Total: l.RequestBytes, Inline: maxInline}
}
