package fsm

import (
	"cmp"
	"context"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
)

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
