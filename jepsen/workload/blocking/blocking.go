package blocking

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Options say where the nodes are and how much is done.
type Options struct {
	// Addrs are the nodes' RESP ports; Token opens their database.
	Addrs []string
	Token string
	// Waiters is the number of clients that wait, spread over the nodes; Elements is the number of
	// elements that are pushed while they take them.
	Waiters, Elements int
	// Rounds is the number of times that the waiters wait in a known order, for one element each.
	Rounds int
	// Seed is the chance of the pushers.
	Seed uint64
}

// Report counts the results.
type Report struct {
	// Taken is the number of elements that were taken; Most and Fewest are the most and the fewest of one client.
	Taken, Most, Fewest int
	// Ordered is the number of elements that were taken in the rounds.
	Ordered int
}

// ErrWrong matches every error that reports elements as lost, taken twice or given out of
// turn.
var ErrWrong = errors.New("blocking")

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrWrong, fmt.Sprintf(format, args...))
}

// pool is the waiting clients, each a connection of its own, and one client a node for
// everything else.
type pool struct {
	Options
	key     string
	waiters []*waiter
	nodes   []*redis.Client
}

// waiter is a connection that waits.
type waiter struct {
	*redis.Conn
	node int
	id   int64
	took []string
}

// Run has the clients take elements, first as they come and then in turn.
func Run(ctx context.Context, o Options) (r Report, err error) {
	c := &pool{Options: o, key: fmt.Sprintf("blocking:%x", o.Seed)}
	defer c.close()
	if err := c.connect(ctx); err != nil {
		return r, err
	}
	if r, err = c.free(ctx); err != nil {
		return r, err
	}
	for round := range o.Rounds {
		if err := c.round(ctx, round); err != nil {
			return r, err
		}
		r.Ordered += o.Waiters
	}
	return r, nil
}

func (p *pool) connect(ctx context.Context) error {
	for _, addr := range p.Addrs {
		// A command is sent once: one sent again might take twice.
		p.nodes = append(p.nodes, redis.NewClient(&redis.Options{
			Addr: addr, Password: p.Token, MaxRetries: -1, PoolSize: p.Waiters + 16, ReadTimeout: -1, ContextTimeoutEnabled: true,
		}))
	}
	for i := range p.Waiters {
		w := &waiter{node: i % len(p.nodes)}
		w.Conn = p.nodes[w.node].Conn()
		p.waiters = append(p.waiters, w)
		var err error
		if w.id, err = w.ClientID(ctx).Result(); err != nil {
			return err
		}
	}
	return nil
}

func (p *pool) close() {
	for _, w := range p.waiters {
		w.Close()
	}
	for _, n := range p.nodes {
		n.Close()
	}
}

// last ends a waiter.
const last = "last"

// free has every waiter take until it gets a last element, while pushers on all nodes push.
func (p *pool) free(ctx context.Context) (Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, p.Waiters+len(p.nodes))
	var takers, pushers sync.WaitGroup
	for _, w := range p.waiters {
		takers.Go(func() {
			if err := w.takeAll(ctx, p.key); err != nil {
				failed <- err
				cancel()
			}
		})
	}
	var next atomic.Int64
	for i, n := range p.nodes {
		pushers.Go(func() {
			if err := p.push(ctx, n, &next, rand.New(rand.NewPCG(p.Seed, uint64(i)))); err != nil {
				failed <- err
				cancel()
			}
		})
	}
	pushers.Wait()
	for range p.waiters {
		if err := p.nodes[0].RPush(ctx, p.key, last).Err(); err != nil {
			cancel()
			break
		}
	}
	takers.Wait()
	select {
	case err := <-failed:
		return Report{}, err
	default:
	}
	return p.judge(ctx)
}

// takeAll takes elements until the last.
func (w *waiter) takeAll(ctx context.Context, key string) error {
	for {
		v, err := w.BLPop(ctx, 0, key).Result()
		if err != nil {
			return fmt.Errorf("a waiter of node %d: %w", w.node+1, err)
		}
		if v[1] == last {
			return nil
		}
		w.took = append(w.took, v[1])
	}
}

// push pushes elements until there are enough, up to mostAtOnce at a time.
func (p *pool) push(ctx context.Context, n *redis.Client, next *atomic.Int64, chance *rand.Rand) error {
	const mostAtOnce = 5
	for {
		count := 1 + chance.IntN(mostAtOnce)
		end := int(next.Add(int64(count)))
		var elements []any
		for i := end - count; i < min(end, p.Elements); i++ {
			elements = append(elements, i)
		}
		if len(elements) == 0 {
			return nil
		}
		push := n.RPush
		if chance.IntN(2) == 0 {
			push = n.LPush
		}
		if err := push(ctx, p.key, elements...).Err(); err != nil {
			return fmt.Errorf("a push: %w", err)
		}
	}
}

// judge compares what was taken with what was pushed.
func (p *pool) judge(ctx context.Context) (Report, error) {
	r := Report{Fewest: p.Elements}
	seen := map[string]bool{}
	for _, w := range p.waiters {
		for _, e := range w.took {
			if seen[e] {
				return r, wrong("element %s was taken twice", e)
			}
			seen[e] = true
		}
		r.Taken, r.Most, r.Fewest = r.Taken+len(w.took), max(r.Most, len(w.took)), min(r.Fewest, len(w.took))
	}
	if r.Taken != p.Elements {
		return r, wrong("%d of %d elements were taken", r.Taken, p.Elements)
	}
	if left, err := p.nodes[0].LLen(ctx, p.key).Result(); err != nil || left != 0 {
		return r, wrong("%d elements are left over, %v", left, err)
	}
	return r, nil
}

// round has the waiters begin to wait one after the other, pushes an element for each, one
// by one or several at once, and looks whether those of a node were served in turn.
func (p *pool) round(ctx context.Context, round int) error {
	chance := rand.New(rand.NewPCG(p.Seed, 1<<32+uint64(round)))
	order := chance.Perm(len(p.waiters))
	got := make([]int, len(order))
	errs := make([]error, len(order))
	var takers sync.WaitGroup
	ctx, cancel := context.WithTimeout(ctx, roundTime)
	defer takers.Wait()
	defer cancel()
	for place, i := range order {
		takers.Go(func() { got[place], errs[place] = p.waiters[i].takeOne(ctx, p.key) })
		if err := p.blocked(ctx, p.waiters[i]); err != nil {
			return err
		}
	}
	for at := 0; at < len(order); {
		var elements []any
		for n := 1 + chance.IntN(3); n > 0 && at < len(order); n-- {
			elements = append(elements, at)
			at++
		}
		if err := p.nodes[chance.IntN(len(p.nodes))].RPush(ctx, p.key, elements...).Err(); err != nil {
			return fmt.Errorf("a push: %w", err)
		}
	}
	takers.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return p.inTurn(order, got)
}

// roundTime bounds a round.
const roundTime = time.Minute

// inTurn judges a round: those who waited longer on a node have an earlier element, and
// nobody has the same.
func (p *pool) inTurn(order, got []int) error {
	before := map[int]int{} // the last element of each node, plus 1
	seen := map[int]bool{}
	for place, i := range order {
		node := p.waiters[i].node
		if seen[got[place]] {
			return wrong("element %d was taken twice", got[place])
		}
		seen[got[place]] = true
		if got[place] < before[node] {
			return wrong("on node %d a client got element %d before one that had waited longer: in the order of their waiting clients %v got %v", node+1, got[place], order, got)
		}
		before[node] = got[place] + 1
	}
	return nil
}

func (w *waiter) takeOne(ctx context.Context, key string) (int, error) {
	v, err := w.BLPop(ctx, 0, key).Result()
	if err != nil {
		return 0, fmt.Errorf("a waiter of node %d: %w", w.node+1, err)
	}
	var n int
	_, err = fmt.Sscan(v[1], &n)
	return n, err
}

// blocked returns when the node says that the client waits.
func (p *pool) blocked(ctx context.Context, w *waiter) error {
	for ctx.Err() == nil {
		line, err := p.nodes[w.node].Do(ctx, "CLIENT", "LIST", "ID", w.id).Text()
		if err != nil {
			return err
		}
		_, flags, _ := strings.Cut(line, " flags=")
		if flags, _, _ = strings.Cut(flags, " "); strings.Contains(flags, "b") {
			return nil
		}
	}
	return wrong("a client of node %d does not wait: %v", w.node+1, ctx.Err())
}
