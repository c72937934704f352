package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	bankAccounts = 8
	bankEach     = 1000
	bankClients  = 8
	bankRounds   = 10 // leaders killed
	bankWarm     = 1500 * time.Millisecond
	bankAfter    = 2 * time.Second
)

// bankRound is one leader killed while amounts move.
type bankRound struct {
	Moves, Looks, Unknown, Refused int64
	Wrong                          int64 // looks that saw another total
	Problems                       []string
}

// bank is bank: clients on three nodes move amounts between accounts, in
// transactions, while leaders are killed; every transaction that reads all accounts sees
// the same total.
func bank(ctx context.Context, s *session) error {
	rounds, err := repeat(s.progress, "kill", s.count(bankRounds), func(i int) (bankRound, error) { return bankKill(ctx, s, i) })
	if err != nil {
		return err
	}
	wrong := total(rounds, func(r bankRound) int64 { return r.Wrong })
	s.printf("%d leaders killed: %d moves, %d looks at all accounts, %d unknown, %d refused; %d looks saw another total", len(rounds),
		total(rounds, func(r bankRound) int64 { return r.Moves }), total(rounds, func(r bankRound) int64 { return r.Looks }),
		total(rounds, func(r bankRound) int64 { return r.Unknown }), total(rounds, func(r bankRound) int64 { return r.Refused }), wrong)
	if wrong > 0 {
		return fmt.Errorf("%d looks saw another total, want 0", wrong)
	}
	return nil
}

// bankLoad is the state that the clients of a round share.
type bankLoad struct {
	cluster                        *testcluster.Cluster
	prefix                         string
	moves, looks, unknown, refused atomic.Int64
	wrong                          atomic.Int64

	mu       sync.Mutex
	problems []string
}

func (l *bankLoad) account(i int) string { return fmt.Sprint(l.prefix, ":", i) }

func (l *bankLoad) problem(format string, args ...any) {
	l.wrong.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.problems) < 5 {
		l.problems = append(l.problems, fmt.Sprintf(format, args...))
	}
}

// bankKill opens accounts, lets the clients work, and kills the leader among them.
func bankKill(ctx context.Context, s *session, i int) (r bankRound, err error) {
	c, err := s.nodes(ctx)
	if err != nil {
		return r, err
	}
	leader, err := c.WaitLeader(ctx)
	if err != nil {
		return r, err
	}
	b := &bankLoad{cluster: c, prefix: fmt.Sprintf("bank:%d:%d", i, leader.Term)}
	var open [][]string
	for a := range bankAccounts {
		open = append(open, []string{"SET", b.account(a), strconv.Itoa(bankEach)})
	}
	if _, reply := c.Nodes[0].Client().Transaction(ctx, open); reply.Outcome != history.OK {
		return r, fmt.Errorf("open the accounts: %s", reply.Error)
	}
	running, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	for id := range bankClients {
		all.Go(func() { b.work(running, ctx, rand.New(rand.NewPCG(uint64(i), uint64(id)))) })
	}
	sleep(ctx, bankWarm)
	err = c.Nodes[leader.Node].Kill()
	sleep(ctx, bankAfter)
	err = errors.Join(err, c.Nodes[leader.Node].Start(), waitReady(ctx, c, 30*time.Second))
	stop()
	all.Wait()
	for node := range c.Nodes {
		if !b.look(ctx, node, false) {
			err = errors.Join(err, fmt.Errorf("n%d can't be read after all", node+1))
		}
	}
	r = bankRound{b.moves.Load(), b.looks.Load(), b.unknown.Load(), b.refused.Load(), b.wrong.Load(), b.problems}
	s.printf("kill %d (n%d): %d moves, %d looks, %d unknown, %d refused, %d wrong", i+1, leader.Node+1, r.Moves, r.Looks, r.Unknown, r.Refused, r.Wrong)
	for _, p := range r.Problems {
		s.printf("  %s", p)
	}
	return r, errors.Join(err, ctx.Err())
}

// work moves amounts and looks until running ends; requests under way are finished.
func (l *bankLoad) work(running, ctx context.Context, rng *rand.Rand) {
	for running.Err() == nil {
		node := rng.IntN(l.cluster.Size())
		if rng.IntN(3) == 0 {
			l.look(ctx, node, rng.IntN(2) == 0)
			continue
		}
		from, to, amount := l.account(rng.IntN(bankAccounts)), l.account(rng.IntN(bankAccounts)), strconv.Itoa(rng.IntN(50))
		_, reply := l.cluster.Nodes[node].Client().Transaction(ctx, [][]string{{"DECRBY", from, amount}, {"GET", from}, {"INCRBY", to, amount}})
		l.count(reply, &l.moves)
		if reply.Outcome != history.OK {
			sleep(running, 10*time.Millisecond) // the node may be the one that is down
		}
	}
}

func (l *bankLoad) count(reply testcluster.Reply, done *atomic.Int64) {
	switch reply.Outcome {
	case history.OK:
		done.Add(1)
	case history.Unknown:
		l.unknown.Add(1)
	default:
		l.refused.Add(1)
	}
}

// look reads all accounts in one transaction, which a write makes go through the log,
// and says whether it was answered.
func (l *bankLoad) look(ctx context.Context, node int, write bool) bool {
	var rows [][]string
	for i := range bankAccounts {
		rows = append(rows, []string{"GET", l.account(i)})
	}
	if write {
		rows = append(rows, []string{"SET", l.prefix + ":looked", "1"})
	}
	replies, reply := l.cluster.Nodes[node].Client().Transaction(ctx, rows)
	l.count(reply, &l.looks)
	if reply.Outcome != history.OK {
		return false
	}
	sum := 0
	for i := range bankAccounts {
		var text string
		if err := json.Unmarshal(replies[i].Result, &text); err != nil {
			l.problem("account %d through n%d: %s %s", i, node+1, replies[i].Result, replies[i].Error)
			return true
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			l.problem("account %d through n%d: %v", i, node+1, err)
			return true
		}
		sum += n
	}
	if sum != bankAccounts*bankEach {
		l.problem("n%d saw %d in all accounts, not %d", node+1, sum, bankAccounts*bankEach)
	}
	return true
}
