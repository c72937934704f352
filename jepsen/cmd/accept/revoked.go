package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	revokedRounds = 8 // of each way to lose a node
	// revokedAlone is the time for which a node that was stopped runs without the others: longer than it
	// may serve stale reads.
	revokedAlone = 8 * time.Second
	// staleLimit bounds the time for which a partitioned node answers stale reads, and staleSlack the
	// delay of an answer on a busy machine.
	staleLimit = 5 * time.Second
	staleSlack = 500 * time.Millisecond
)

// revokedRound is one reset of a database's tokens while a node is stopped.
type revokedRound struct {
	Acknowledged     time.Duration // from the order to its answer
	Before, After    int           // requests answered, requests refused after the answer
	Stale            int           // stale reads that were answered after it
	LastStale        time.Duration // and how long after the node ran again the last of them was asked
	AnsweredRevoked  int           // what must not be
	AnsweredTooStale int
}

// revokedTokens is revoked-tokens: first with nodes of one process that are cut off from each
// other, then with stopped processes.
func revokedTokens(ctx context.Context, s *session) error {
	const inProcess = "cut off by the network"
	_, err := repeat(s.progress, inProcess, 1, func(int) (struct{}, error) {
		return struct{}{}, errors.Join(s.tests(ctx, "./httpapi", "TestRevokedTokensFailEverywhere", "-full"),
			s.tests(ctx, "./cluster", "TestSessionReadsOfACutOffNodeEndWithTheReset"))
	})
	if err != nil {
		return err
	}
	var all []revokedRound
	for _, how := range []string{"follower", "leader", "alone"} {
		rounds, err := repeat(s.progress, how, s.count(revokedRounds), func(i int) (revokedRound, error) {
			return revokeWhileStopped(ctx, s, how, i)
		})
		if err != nil {
			return err
		}
		all = append(all, rounds...)
	}
	bad := total(all, func(r revokedRound) int64 { return int64(r.AnsweredRevoked + r.AnsweredTooStale) })
	s.printf("%d resets: %d requests before, %d refused after, %d stale reads of cut-off nodes answered, the last %v after the node ran again; %d answers that must not be",
		len(all), total(all, func(r revokedRound) int64 { return int64(r.Before) }), total(all, func(r revokedRound) int64 { return int64(r.After) }),
		total(all, func(r revokedRound) int64 { return int64(r.Stale) }),
		last(durations(all, func(r revokedRound) time.Duration { return r.LastStale })), bad)
	if bad > 0 {
		return fmt.Errorf("%d requests with a revoked token were answered, want 0", bad)
	}
	return nil
}

// revokeWhileStopped resets the tokens of a new database while one node is stopped. The
// node then comes back; if it is to be alone, the others are stopped meanwhile.
func revokeWhileStopped(ctx context.Context, s *session, how string, i int) (r revokedRound, err error) {
	c, err := s.nodes(ctx)
	if err != nil {
		return r, err
	}
	leader, err := c.WaitLeader(ctx)
	if err != nil {
		return r, err
	}
	victim := leader.Node
	if how != "leader" {
		victim = others(c, leader.Node)[i%2]
	}
	admin := c.Nodes[others(c, victim)[0]].Admin()
	p := &revokedProbe{cluster: c, victim: victim}
	if err := p.begin(ctx, admin, fmt.Sprintf("revoked-%s-%d-%d", how, i, leader.Term)); err != nil {
		return r, err
	}
	err = p.perform(ctx, admin, how == "alone")
	p.end()
	p.round.Acknowledged = p.acknowledged.Sub(p.ordered)
	s.printf("%s %d (n%d): acknowledged after %v; %d answers before, %d refusals after, %d stale reads answered, the last %v after it ran again; %d and %d that must not be", how, i+1,
		victim+1, p.round.Acknowledged.Round(time.Millisecond), p.round.Before, p.round.After, p.round.Stale,
		p.round.LastStale.Round(time.Millisecond), p.round.AnsweredRevoked, p.round.AnsweredTooStale)
	return p.round, errors.Join(err, ctx.Err(), waitReady(ctx, c, 30*time.Second))
}

// revokedProbe asks all nodes all the time with a token that is about to be revoked.
type revokedProbe struct {
	cluster     *testcluster.Cluster
	victim      int
	path, token string
	stop        context.CancelFunc
	wg          sync.WaitGroup

	mu                             sync.Mutex
	ordered, acknowledged, resumed time.Time // zero until it is so
	round                          revokedRound
}

// begin makes the database and starts the requests.
func (p *revokedProbe) begin(ctx context.Context, admin *testcluster.Client, name string) error {
	status, body, err := admin.PostBody(ctx, "/admin/databases", map[string]string{"name": name})
	var made struct{ Path, Token string }
	if err = errors.Join(err, json.Unmarshal(body, &made)); err != nil || status != http.StatusCreated {
		return fmt.Errorf("make database %s: %d %s: %w", name, status, body, err)
	}
	p.path, p.token = made.Path, made.Token
	ctx, p.stop = context.WithCancel(ctx)
	for node := range p.cluster.Nodes {
		for _, mode := range []string{"linearizable", "session", "stale", "write"} {
			p.wg.Go(func() { p.run(ctx, node, mode) })
		}
	}
	sleep(ctx, 200*time.Millisecond)
	return nil
}

// perform stops the victim, resets the tokens through another node and lets the victim
// go on.
func (p *revokedProbe) perform(ctx context.Context, admin *testcluster.Client, alone bool) error {
	c := p.cluster
	if err := c.Nodes[p.victim].Pause(); err != nil {
		return err
	}
	defer func() {
		for _, n := range c.Nodes {
			_ = n.Resume() // of one that runs it does nothing
		}
	}()
	p.mark(&p.ordered)
	err := testcluster.Poll(ctx, 20*time.Millisecond, func() error {
		status, body, err := admin.Post(ctx, strings.Replace(p.path, "/db/", "/admin/databases/", 1)+"/reset-password")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("reset: %d %s", status, body)
		}
		return err
	})
	if err != nil {
		return err
	}
	p.mark(&p.acknowledged)
	if !alone {
		sleep(ctx, time.Second)
		p.mark(&p.resumed)
		err := c.Nodes[p.victim].Resume()
		sleep(ctx, 2*time.Second)
		return err
	}
	for _, i := range others(c, p.victim) {
		if err := c.Nodes[i].Pause(); err != nil {
			return err
		}
	}
	p.mark(&p.resumed)
	err = c.Nodes[p.victim].Resume()
	sleep(ctx, revokedAlone)
	for _, i := range others(c, p.victim) {
		err = errors.Join(err, c.Nodes[i].Resume())
	}
	sleep(ctx, 2*time.Second)
	return err
}

func (p *revokedProbe) mark(at *time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*at = time.Now()
}

func (p *revokedProbe) end() {
	p.stop()
	p.wg.Wait()
}

// run asks one node in one mode, each request on its own, until ctx ends.
func (p *revokedProbe) run(ctx context.Context, node int, mode string) {
	client := &http.Client{Timeout: testcluster.RequestTimeout, Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		began := time.Now()
		if answered, ok := p.ask(ctx, client, node, mode); ok {
			p.judge(node, mode, began, answered)
		}
		sleep(ctx, 5*time.Millisecond)
	}
}

// ask sends one request. It is not ok if no reply came.
func (p *revokedProbe) ask(ctx context.Context, client *http.Client, node int, mode string) (answered, ok bool) {
	body := `["GET","k"]`
	if mode == "write" {
		body = `["INCR","n"]`
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.cluster.Nodes[node].HTTP+p.path, strings.NewReader(body))
	if err != nil {
		return false, false
	}
	q.Header.Set("Authorization", "Bearer "+p.token)
	if mode != "write" {
		q.Header.Set("Svc-Consistency", mode)
	}
	res, err := client.Do(q)
	if err != nil {
		return false, false
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return false, false
	}
	return res.StatusCode == http.StatusOK, true
}

// judge counts a reply to a request that began then.
func (p *revokedProbe) judge(node int, mode string, began time.Time, answered bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &p.round
	switch late := !p.acknowledged.IsZero() && began.After(p.acknowledged); {
	case !late && answered:
		r.Before++
	case late && !answered:
		r.After++
	case late && (mode != "stale" || node != p.victim):
		r.AnsweredRevoked++
	case late: // a stale read of the node that was cut off
		r.Stale++
		// One that was asked while the node was stopped is read when it goes on.
		if after := began.Sub(p.resumed); !p.resumed.IsZero() && after > 0 {
			r.LastStale = max(r.LastStale, after)
			if after > staleLimit+staleSlack {
				r.AnsweredTooStale++
			}
		}
	}
}
