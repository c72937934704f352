package quota

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// Meter counts the commands of one node, for all its origins.
type Meter struct {
	proposer fsm.Proposer

	now func() time.Time

	mu      sync.Mutex
	held    map[uint64]*block
	buckets map[uint64]*bucket
}

// New is a meter that holds no quota yet.
func New(p fsm.Proposer) *Meter {
	return &Meter{proposer: p, now: time.Now, held: map[uint64]*block{}, buckets: map[uint64]*bucket{}}
}

// block is the quota that this node holds of one database, under the meter's lock.
type block struct {
	day  int64
	left int64
	// spent is the limit at which the day's quota was used up, or 0; limit and taken are the values of the last entry.
	spent, limit, taken int64
	// wanted is the number of commands of all callers that wait in Take.
	wanted int64
	asking *asking // more is being asked for
}

// asking is an entry that all who wait for quota share.
type asking struct {
	done chan struct{}
	err  error
}

// blocks is the number of blocks in which a daily limit is taken.
const blocks = 1000

// Exceeded is the refusal of commands beyond the daily limit, or, with a Wait, beyond the rate of requests.
type Exceeded struct {
	Limit, Usage int64
	Wait         time.Duration
}

// RetryAfter is Wait in whole seconds, as the header of that name has it.
func (e *Exceeded) RetryAfter() string {
	return strconv.FormatInt(int64((e.Wait+time.Second-1)/time.Second), 10)
}

func (e *Exceeded) Error() string {
	if e.Wait > 0 {
		return fmt.Sprintf("ERR max request rate exceeded. Limit: %d a second on each node, try again in %s. Setting: requestRate", e.Limit, e.Wait.Round(time.Millisecond))
	}
	return fmt.Sprintf("ERR max daily request limit exceeded. Limit: %d, Usage: %d. Setting: dailyRequestLimit", e.Limit, e.Usage)
}

// Take takes the quota of n commands on a database (empty: default), whose quota this node knows as now, and returns how many of
// them may run: of a batch that is all or nothing n or 0, otherwise as many as are left. If that is fewer than n, the error is an
// Exceeded; any other error is the proposer's, and nothing may run.
func (m *Meter) Take(ctx context.Context, db string, now fsm.Quota, n int64, whole bool) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked := n
	var fast *Exceeded
	if now.Rate > 0 {
		if n, fast = m.pour(now, n, whole); n == 0 {
			return 0, fast
		}
	}
	granted, err := m.takeDaily(ctx, db, now, n, whole)
	if b := m.buckets[now.Database]; b != nil && granted < n {
		b.level += float64(n - granted)
	}
	if err == nil && granted < asked {
		return granted, fast
	}
	return granted, err
}

// takeDaily takes n commands of the daily limit; the lock is held.
func (m *Meter) takeDaily(ctx context.Context, db string, now fsm.Quota, n int64, whole bool) (int64, error) {
	if now.Limit == 0 {
		return n, nil
	}
	b := m.block(now.Database)
	b.wanted += n
	defer func() { b.wanted -= n }()
	limit := now.Limit
	for b.turn(now.Day); b.left < n && b.spent != limit; b.turn(now.Day) {
		if err := m.more(ctx, b, db, limit); err != nil {
			return 0, err
		}
		if limit = b.limit; limit == 0 {
			return n, nil
		}
	}
	granted := min(n, b.left)
	if granted < n && whole {
		granted = 0
	}
	b.left -= granted
	if granted < n {
		return granted, &Exceeded{Limit: limit, Usage: b.taken - b.left}
	}
	return n, nil
}

// Return returns n commands that Take granted and that did not run. now is the quota that was passed
// to Take. Commands of a past day are not returned.
func (m *Meter) Return(now fsm.Quota, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.held[now.Database]; b != nil && b.day == now.Day && now.Limit != 0 {
		b.left += n
	}
}

func (m *Meter) block(database uint64) *block {
	b := m.held[database]
	if b == nil {
		b = &block{}
		m.held[database] = b
	}
	return b
}

// turn forgets what was held of an earlier day. This node's time may lag behind, but never runs ahead of the cluster's.
func (b *block) turn(day int64) {
	if day > b.day {
		b.day, b.left, b.spent = day, 0, 0
	}
}

// more waits until quota that was asked for has come, for this request or another. The lock is held, but let go meanwhile.
func (m *Meter) more(ctx context.Context, b *block, db string, limit int64) error {
	if a := b.asking; a != nil {
		m.mu.Unlock()
		defer m.mu.Lock()
		select {
		case <-a.done:
			return a.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	a := &asking{done: make(chan struct{})}
	b.asking = a
	claim := fsm.QuotaClaim{DB: db, Want: max(b.wanted-b.left, limit/blocks, 1)}
	m.mu.Unlock()
	// Others wait for this entry too: it doesn't end with this request's client.
	q, err := fsm.Do(context.WithoutCancel(ctx), m.proposer, fsm.TakeQuota, claim)
	m.mu.Lock()
	if err == nil {
		b.turn(q.Day)
		b.left += q.Granted
		b.limit, b.taken = q.Limit, q.Taken
		if q.Granted < claim.Want {
			b.spent = q.Limit
		}
	}
	b.asking, a.err = nil, err
	close(a.done)
	return err
}
