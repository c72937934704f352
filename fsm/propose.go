package fsm

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/trireme-dev/trireme/fsm/command"

	"github.com/trireme-dev/trireme/fsm/env"
)

// What a Proposer says when it has no outcome.
var (
	// ErrNoLeader: there is no leader, and the request was never sent: not applied.
	ErrNoLeader = errors.New("no leader")
	// ErrTooLarge: the request can't be a log entry: not applied.
	ErrTooLarge = errors.New("request is larger than a log entry may be")
	// ErrLowSpace: this cluster's disks are nearly full: not applied.
	ErrLowSpace = errors.New("free disk space is below the floor: writes are refused")
	// ErrShare: the database has used more than its share of the cluster's time, and the request's own was over before
	// its turn came: not applied.
	ErrShare = errors.New("database has used more than its share of the cluster's time")
	// ErrFeatureLevel: the operation needs a higher feature level than the one in force, because there may be nodes that
	// can't apply it: not applied.
	ErrFeatureLevel = errors.New("this needs a higher feature level: upgrade every node of the cluster first")
	// ErrPoison: this node applies nothing, and answers nothing, because an entry of the log has ended its process twice:
	// not applied.
	ErrPoison = errors.New("this node waits for its operator before an entry of the log that has ended it twice (trireme recover)")
	// ErrStopping: the node is shutting down and never sent the request: not applied.
	ErrStopping = errors.New("node is stopping")
	// ErrUnknown: the request was sent and its outcome can't be known; it may have
	// been applied, or may still be.
	ErrUnknown = errors.New("outcome not known")
	// ErrReadShare: the node serves as many long reads of the database as it may have at once, and the request's own did
	// not have its turn in time.
	ErrReadShare = errors.New("too many long reads of the database")
	// ErrTooStale: a read that asks for a state newer than this node could reach in time.
	ErrTooStale = errors.New("this node has not caught up in time")
)

// Proposer puts a request into the log and returns its outcome: a value of the
// operation's result type, an *Error of the operation, or one of the errors above.
type Proposer interface {
	Propose(ctx context.Context, code uint16, body []byte) (any, error)
}

// Permitted is ErrFeatureLevel for an operation that must not be in the log at that level: nodes stop where they meet one
// that they don't know.
func Permitted(code uint16, level env.Level) error {
	if _, err := find(code, level); err != nil {
		return ErrFeatureLevel
	}
	return nil
}

// RevocationBarrier is a Proposer whose nodes may judge session reads for a while by a
// state that lacks what was just applied. WaitRevoked returns when none does any more.
type RevocationBarrier interface {
	WaitRevoked(ctx context.Context) error
}

// Do proposes an operation and returns its typed result. One that takes rights away is
// only acknowledged when it has settled; if it can't be, that is ErrUnknown.
func Do[A, R any](ctx context.Context, p Proposer, op *Operation[A, R], arg A) (R, error) {
	var zero R
	v, err := p.Propose(ctx, op.Code, op.body(&arg))
	if err != nil {
		return zero, err
	}
	r, ok := v.(R)
	if !ok {
		return r, fmt.Errorf("fsm: %s answered a %T", op.Name, v)
	}
	if op.revoking == nil || !op.revoking(&arg) {
		return r, nil
	}
	if s, settles := p.(RevocationBarrier); settles && s.WaitRevoked(ctx) != nil {
		return zero, ErrUnknown
	}
	return r, nil
}

// minPrecheckedWord is the least length of a word that is checked before it goes into the log, in bytes. All nodes would copy and write
// it only to refuse it then, and every other request would wait for that.
const minPrecheckedWord = 64 << 10

// Executor proposes and reads for Execute; a node implements it.
type Executor interface {
	Proposer
	Reader
}

// SubscriberBarrier is an Executor whose node has subscribers of its own. AwaitUncounted
// returns when the state counts none that has sent to leave before the call.
type SubscriberBarrier interface {
	AwaitUncounted(ctx context.Context, db string)
}

// CountsSubscribers reports whether a row may tell how many subscribers there are: it publishes,
// or is a script.
func (b *Batch) CountsSubscribers() bool {
	for _, row := range b.Rows {
		if command.MayPublish(row) {
			return true
		}
	}
	return false
}

// Execute proposes a batch. One that counts subscribers waits for those that leave. Long words that are refused whatever the state is, such as payloads of RESTORE with a wrong
// checksum, don't go into the log: the batch is proposed with words for which it has the same outcome.
func Execute(ctx context.Context, x Executor, b Batch) (Results, error) {
	if b.needsPrecheck() {
		judge := func(v *View) { b.Rows = v.substituteRefused(&b) }
		if _, err := x.Read(ctx, Reading{Long: true, Database: b.As.DB}, judge); err != nil {
			return Results{}, err
		}
	}
	if barrier, ok := x.(SubscriberBarrier); ok && b.CountsSubscribers() {
		barrier.AwaitUncounted(ctx, cmp.Or(b.As.DB, DefaultDB))
	}
	return Do(ctx, x, Exec, b)
}

// needsPrecheck reports whether a row has a word that is to be checked before it goes into the log.
func (b *Batch) needsPrecheck() bool {
	for _, row := range b.Rows {
		for _, word := range row {
			if len(word) >= minPrecheckedWord && command.MayPrecheck(row) {
				return true
			}
		}
	}
	return false
}

// substituteRefused returns the rows of a batch, with short words in place of long ones that no state accepts; see Command.Precheck.
func (v *View) substituteRefused(b *Batch) [][][]byte {
	rows, copied := b.Rows, false
	limits := v.writeLimits(b)
	for i, argv := range b.Rows {
		c, refusal := v.Check(b.As, b.Origin, argv)
		if refusal != nil || c.Precheck == nil {
			continue
		}
		at, word := c.Precheck(&limits, argv)
		if at == 0 || len(argv[at]) < minPrecheckedWord {
			continue
		}
		if !copied {
			rows, copied = append([][][]byte(nil), b.Rows...), true
		}
		rows[i] = append([][]byte(nil), argv...)
		rows[i][at] = word
	}
	return rows
}

// writeLimits are the limits that a batch has when it is applied, which are not those of a read.
func (v *View) writeLimits(b *Batch) command.Limits {
	limits := v.s.settings.Limits
	if d := v.s.database(b.As.DB); d != nil {
		e := env.Env{Level: v.Level()}
		limits = v.s.limitsIn(&e, d)
	}
	return limits
}
