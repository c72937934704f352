package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/internal/failpoint"
	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// What clocks does.
const (
	clockSettle = 40 * time.Second // for a leader to learn of clocks that were set, and to come up by a tenth
	clockSlack  = 1500 * time.Millisecond
	clockEarly  = 50 * time.Millisecond // the most by which a time of day may come before the median
	clockLock   = 3 * time.Second
)

// clockRun is a cluster whose nodes believe in wall clocks that are wrong.
type clockRun struct {
	c *testcluster.Cluster
	s *session
}

// clocks is the run of that name: wall clocks of one node, and of all, are set forward and back. Cluster time never stands, durations
// last as long as they should, and no key with a time of day is gone before the wall clocks say so.
func clocks(ctx context.Context, s *session) error {
	c, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	r := &clockRun{c, s}
	if err := r.one(ctx); err != nil {
		return err
	}
	if err := r.forward(ctx); err != nil {
		return err
	}
	return r.back(ctx)
}

// set has nodes believe in wall clocks that are wrong by offset.
func (r *clockRun) set(offset time.Duration, nodes ...*testcluster.Node) error {
	for _, n := range nodes {
		if err := n.Arm(fmt.Sprintf("%s=offset(%v)", failpoint.WallClock, offset)); err != nil {
			return err
		}
	}
	return nil
}

// ahead is how far cluster time is ahead of this machine's wall clock.
func (r *clockRun) ahead(ctx context.Context) (time.Duration, error) {
	reply := r.c.Do(ctx, 0, "TIME")
	var words []string
	if err := json.Unmarshal(reply.Result, &words); reply.Outcome != history.OK || err != nil || len(words) != 2 {
		return 0, fmt.Errorf("TIME: %s %s %v", reply.Outcome, reply.Error, err)
	}
	seconds, _ := strconv.ParseInt(words[0], 10, 64)
	micros, _ := strconv.ParseInt(words[1], 10, 64)
	return time.Until(time.Unix(seconds, micros*1000)), nil
}

// await waits until cluster time is ahead of the machine's clock by want.
func (r *clockRun) await(ctx context.Context, want time.Duration) (took time.Duration, err error) {
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		ahead, err := r.ahead(ctx)
		if off := ahead - want; err == nil && off.Abs() < clockSlack {
			return time.Since(began), nil
		}
		if time.Since(began) > clockSettle {
			return 0, fmt.Errorf("cluster time is %v ahead, not %v: %w", ahead, want, err)
		}
	}
}

// lasts gives a key a time by the words and returns when it was gone, and how long that took.
func (r *clockRun) lasts(ctx context.Context, words ...string) (gone time.Time, took time.Duration, err error) {
	began := time.Now()
	if reply := r.c.Do(ctx, 1, append([]string{"SET", "lock", "me"}, words...)...); reply.Outcome != history.OK {
		return gone, 0, fmt.Errorf("SET: %s %s", reply.Outcome, reply.Error)
	}
	for n := 0; ; n++ {
		asked := time.Now()
		reply := r.c.Do(ctx, n%3, "EXISTS", "lock")
		switch {
		case reply.Outcome == history.OK && string(reply.Result) == "0":
			return asked, time.Since(began), nil
		case time.Since(began) > time.Minute:
			return gone, 0, fmt.Errorf("a key with %v is there after a minute", words)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// lock checks how long a lock lasts.
func (r *clockRun) lock(ctx context.Context, where string, least, most time.Duration) error {
	_, took, err := r.lasts(ctx, "NX", "PX", strconv.FormatInt(clockLock.Milliseconds(), 10))
	if err == nil && (took < least || took > most) {
		err = fmt.Errorf("%s: a lock of %v lasted %v, want %v to %v", where, clockLock, took, least, most)
	}
	r.s.printf("%s: a lock of %v lasted %v", where, clockLock, took.Round(10*time.Millisecond))
	return err
}

// one sets the clock of one node.
func (r *clockRun) one(ctx context.Context) error {
	for _, offset := range []time.Duration{8 * time.Hour, -8 * time.Hour} {
		lead, err := r.c.WaitLeader(ctx)
		if err != nil {
			return err
		}
		if err := r.set(offset, r.c.Nodes[lead.Node]); err != nil {
			return err
		}
		worst := time.Duration(0)
		for began := time.Now(); time.Since(began) < 8*time.Second; time.Sleep(20 * time.Millisecond) {
			ahead, err := r.ahead(ctx)
			if err != nil {
				return err
			}
			worst = max(worst, ahead.Abs())
		}
		r.s.printf("the leader's clock is wrong by %v: cluster time was off by at most %v", offset, worst.Round(time.Millisecond))
		if worst > clockSlack {
			return fmt.Errorf("one wrong clock has put cluster time off by %v", worst)
		}
		if err := r.set(0, r.c.Nodes...); err != nil {
			return err
		}
	}
	return r.lock(ctx, "one clock was wrong", clockLock-100*time.Millisecond, clockLock+clockSlack)
}

// forward sets all clocks forward by eight hours.
func (r *clockRun) forward(ctx context.Context) error {
	if err := r.set(8*time.Hour, r.c.Nodes...); err != nil {
		return err
	}
	took, err := r.await(ctx, 8*time.Hour)
	r.s.printf("all clocks eight hours ahead: cluster time has come up after %v", took.Round(10*time.Millisecond))
	if err != nil {
		return err
	}
	return r.lock(ctx, "eight hours ahead", clockLock-100*time.Millisecond, clockLock+clockSlack)
}

// back sets all clocks back by an hour, and changes the leader.
func (r *clockRun) back(ctx context.Context) error {
	at := time.Now().Add(8*time.Hour + 5*time.Second) // by the wall clocks as they are; later they say so after an hour
	if reply := r.c.Do(ctx, 0, "SET", "noon", "x", "PXAT", strconv.FormatInt(at.UnixMilli(), 10)); reply.Outcome != history.OK {
		return fmt.Errorf("SET PXAT: %s", reply.Error)
	}
	if err := r.set(7*time.Hour, r.c.Nodes...); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	if err := r.c.TransferLeadership(ctx); err != nil {
		return err
	}
	if _, err := r.c.WaitLeader(ctx); err != nil {
		return err
	}
	first, err := r.ahead(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := r.lock(ctx, "all clocks an hour back, another leader", clockLock-100*time.Millisecond, clockLock*115/100+clockSlack); err != nil {
		return err
	}
	soon := time.Now().Add(7*time.Hour + 5*time.Second)
	gone, _, err := r.lasts(ctx, "PXAT", strconv.FormatInt(soon.UnixMilli(), 10))
	if err != nil {
		return err
	}
	early := soon.Sub(gone.Add(7 * time.Hour))
	r.s.printf("all clocks an hour back: a key with a time of day was gone %v after it", (-early).Round(time.Millisecond))
	if early > clockEarly {
		return fmt.Errorf("a key with a time of day was gone %v early", early)
	}
	time.Sleep(5 * time.Second)
	last, err := r.ahead(ctx)
	if err != nil {
		return err
	}
	pace := 1 + (last-first).Seconds()/time.Since(began).Seconds()
	r.s.printf("all clocks an hour back: cluster time runs at %.3f", pace)
	if pace < 0.88 || pace > 0.95 {
		return fmt.Errorf("cluster time runs at %.3f, want 0.9", pace)
	}
	if reply := r.c.Do(ctx, 2, "EXISTS", "noon"); string(reply.Result) != "1" {
		return fmt.Errorf("a key with a time of day is gone an hour early: EXISTS %s %s", reply.Result, reply.Error)
	}
	for _, n := range r.c.Nodes {
		status, body, err := n.Admin().Get(ctx, "/readyz")
		if err != nil || status != 200 || !strings.Contains(string(body), "ahead of the wall clocks") {
			return fmt.Errorf("/readyz of %s does not tell the difference: %d %s %w", n.ID, status, body, err)
		}
	}
	// The clocks are right again: the key goes when they say so, and not before.
	if err := r.set(8*time.Hour, r.c.Nodes...); err != nil {
		return err
	}
	if _, err := r.await(ctx, 8*time.Hour); err != nil {
		return err
	}
	next := time.Now().Add(8*time.Hour + 4*time.Second)
	gone, _, err = r.lasts(ctx, "PXAT", strconv.FormatInt(next.UnixMilli(), 10))
	if err != nil {
		return err
	}
	early = next.Sub(gone.Add(8 * time.Hour))
	r.s.printf("the clocks are right again: a key with a time of day was gone %v after it", (-early).Round(time.Millisecond))
	if early > clockEarly {
		return fmt.Errorf("a key with a time of day was gone %v early", early)
	}
	return nil
}
