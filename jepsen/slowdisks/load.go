package slowdisks

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// keysOfClient bounds the state: each client writes to as many keys, in turn.
const keysOfClient = 500

// write is one acknowledged write.
type write struct {
	replied time.Time
	took    time.Duration
}

// load is clients that write as fast as they are answered, spread over all nodes.
type load struct {
	stop context.CancelFunc
	all  sync.WaitGroup

	mu     sync.Mutex
	writes []write
	failed int
	first  string // of the failures
}

// startLoad starts clients whose values have so many bytes.
func startLoad(ctx context.Context, c *testcluster.Cluster, clients, bytes int) *load {
	ctx, stop := context.WithCancel(ctx)
	l := &load{stop: stop}
	for id := range clients {
		l.all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				l.write(c, id, fmt.Sprintf("slow:%d:%d", id, i%keysOfClient), value(id, i, bytes))
			}
		})
	}
	return l
}

// value returns a text that does not compress well, another one for each write.
func value(id, i, bytes int) string {
	x := uint64(id)<<32 + uint64(i) + 1
	b := make([]byte, bytes)
	for k := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[k] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"[x>>58]
	}
	return string(b)
}

func (l *load) write(c *testcluster.Cluster, id int, key, value string) {
	sent := time.Now()
	r := c.Do(context.Background(), id%c.Size(), "SET", key, value)
	w := write{replied: time.Now()}
	w.took = w.replied.Sub(sent)
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Outcome == history.OK {
		l.writes = append(l.writes, w)
		return
	}
	if l.failed++; l.first == "" {
		l.first = fmt.Sprintf("SET through n%d after %v: %s %s", id%c.Size()+1, w.took, r.Outcome, r.Error)
	}
}

// end lets the clients finish their requests. The error says that some failed.
func (l *load) end() error {
	l.stop()
	l.all.Wait()
	if l.failed > 0 {
		return fmt.Errorf("%d writes failed, the first: %s", l.failed, l.first)
	}
	return nil
}

// Phase sums up the writes that were acknowledged in some time.
type Phase struct {
	Rate              float64 // acknowledged writes a second
	P50, P99, Longest time.Duration
}

func (p Phase) String() string {
	return fmt.Sprintf("%.0f writes/s, p50 %v, p99 %v, longest %v", p.Rate, ms(p.P50), ms(p.P99), ms(p.Longest))
}

func ms(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// between returns the phase from one moment to another.
func (l *load) between(from, to time.Time) (p Phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var took []time.Duration
	for _, w := range l.writes {
		if !w.replied.Before(from) && w.replied.Before(to) {
			took = append(took, w.took)
		}
	}
	if len(took) == 0 {
		return p
	}
	slices.Sort(took)
	return Phase{float64(len(took)) / to.Sub(from).Seconds(), took[len(took)/2], took[len(took)*99/100], took[len(took)-1]}
}
