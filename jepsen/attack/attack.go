package attack

import (
	"context"
	"time"
)

// Attack is one attack.
type Attack struct {
	// Name is for the command line and reports, About what is tried.
	Name, About string
	// Before, if set, prepares it while no victim is served.
	Before func(ctx context.Context, t *Target) error
	// Try tries all of it once. It returns what came of it, and an error if anything succeeded.
	Try func(ctx context.Context, t *Target) (outcome string, err error)
	// After, if set, looks once more when the victims have ended, at what would disturb them.
	After func(ctx context.Context, t *Target) (outcome string, err error)
	// Least, if set, is for how long victims have to wait whatever is done, which their p99 may be even if that is more
	// than its limit.
	Least func(t *Target) time.Duration
	// Once says that Try takes long enough by itself and is not repeated.
	Once bool
}

// All are the attacks. Those that measure the memory of a node come before those that leave much of it unused.
func All() []Attack {
	return []Attack{
		{Name: "connections", About: "10,000 connections that say nothing, half a head, half a body or half a login", Try: connections, Once: true},
		{Name: "bombs", About: "payloads of RESTORE, MessagePack and JSON that say they unpack to gigabytes", Try: bombs},
		{Name: "costly-writes", About: "1 kB requests whose work is a minute of every node: BITOP of 20 MiB 200 times and its like, then a restart", Try: costlyWrites, After: restarts(2)},
		{Name: "whole-budget", About: "scripts and transactions that do as much work as one request may, from twelve clients at all nodes", Try: wholeBudget, Least: budgets},
		{Name: "costly-reads", About: "scripts that only read, sorts, intersections and counts of bits, from twelve clients at all nodes", Try: costlyReads},
		{Name: "forged-hellos", About: "hellos in a node's name on the cluster ports, plain and under another authority, then a restart of that node", Try: forgedHellos, After: restarts(1)},
		{Name: "proposals", About: "calls over the cluster port that propose an ACL user, without a certificate of the cluster", Try: proposals},
		{Name: "walls", About: "a database's owner at another one's URL, messages, users, channels, pauses and request ids", Try: walls},
		{Name: "trickle", About: "heads, bodies and logins that come byte by byte", Try: trickle, Once: true},
		{Name: "rights", About: "read-only tokens at signing keys, scripts and RANDOMKEY; /metrics behind a proxy; requests before a login", Try: rights},
		{Name: "forged-headers", About: "service headers among those that a message forwards", Try: forgedHeaders},
		{Name: "headless-requests", About: "requests without headers after one with Authorization on the same connection", Try: headless},
		{Name: "process-list", About: "secrets in the arguments that every user of the machine sees", Try: processList},
		{Name: "overshoot", About: "commands of 30 MiB each at --max-memory", Try: overshoot},
		{Name: "large-replies", About: "200 rows of GET of 8 MiB, over HTTP and RESP, by clients that don't read", Try: largeReplies},
	}
}

// tryPause is between two tries of an attack: a flood of requests is another matter.
const tryPause = 100 * time.Millisecond

// Repeat tries the attack again and again for so long, at least once, and returns the last outcome and how often it
// was tried.
func (a Attack) Repeat(ctx context.Context, t *Target, long time.Duration) (outcome string, tries int, err error) {
	for end := time.Now().Add(long); err == nil && (tries == 0 || !a.Once && time.Now().Before(end)); tries++ {
		if tries > 0 {
			_ = pause(ctx, tryPause) // the next try fails if it is over
		}
		outcome, err = a.Try(ctx, t)
	}
	return outcome, tries, err
}
