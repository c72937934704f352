package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"trireme/jepsen/history"
	"trireme/jepsen/lab"
)

const (
	operateClients = 16
	operateRounds  = 3
	operateWarm    = time.Second
	operatePause   = 500 * time.Millisecond
	operateLimit   = 2 * time.Minute // of one round
)

// operateRound is one cluster whose nodes come and go under load.
type operateRound struct {
	Steps                 []operateStep
	Writes, Reads, Failed int64
	Longest               time.Duration
	Problems              []string
}

// operateStep is one act of the operator, and the longest time without an acknowledged
// write while it was under way.
type operateStep struct {
	Name        string
	Took, Pause time.Duration
}

// operate is operate.1 as far as it is built: under load a fourth node joins, the first
// is removed, the disk of the second is lost and a fifth node takes its place, and all
// certificates are renewed. No version announces a higher feature level yet, so nothing
// is upgraded.
func operate(ctx context.Context, s *session) error {
	rounds, err := repeat(s.progress, "operate", s.count(operateRounds), func(i int) (operateRound, error) { return operateOnce(ctx, s) })
	if err != nil {
		return err
	}
	var worst operateStep
	for _, r := range rounds {
		for _, step := range r.Steps {
			if step.Pause > worst.Pause {
				worst = step
			}
		}
	}
	failed := total(rounds, func(r operateRound) int64 { return r.Failed })
	s.printf("%d times: %d writes and %d reads on nodes that stay, %d failed or wrong; longest pause %v (%s, aim %v)", len(rounds),
		total(rounds, func(r operateRound) int64 { return r.Writes }), total(rounds, func(r operateRound) int64 { return r.Reads }),
		failed, worst.Pause.Round(time.Millisecond), worst.Name, operatePause)
	s.printf("not performed: the upgrade to a build that announces a higher level, for there is none yet")
	if failed > 0 {
		return fmt.Errorf("%d requests failed or were wrong on nodes that stay, want 0", failed)
	}
	return atMost("longest pause", worst.Pause, operatePause)
}

func operateOnce(ctx context.Context, s *session) (r operateRound, err error) {
	ctx, cancel := context.WithTimeout(ctx, operateLimit)
	defer cancel()
	binary, err := s.product()
	if err != nil {
		return r, err
	}
	dir, err := s.scratch()
	if err != nil {
		return r, err
	}
	c, err := lab.NewCluster(lab.Options{Binary: binary, Dir: filepath.Join(dir, "nodes"), Secure: true})
	if err != nil {
		return r, err
	}
	defer c.Close()
	if err := errors.Join(c.Start(), waitReady(ctx, c, 30*time.Second)); err != nil {
		return r, err
	}
	o := &operator{c: c, stays: c.Nodes[2], load: startLoad(c, []int{2}, operateClients, "operate"), guest: &guest{}}
	sleep(ctx, operateWarm)
	err = o.perform(ctx)
	sleep(ctx, operateWarm)
	o.load.end()
	o.guest.end()
	if err != nil {
		return r, err
	}
	o.verify(ctx)
	for _, crash := range c.Crashes() {
		o.load.fail("%s ended by itself with exit code %d: %s", crash.Node, crash.ExitCode, crash.Log)
	}
	r = operateRound{
		Steps: o.steps(), Writes: int64(len(o.load.samples)) + o.guest.done.Load(), Reads: o.load.reads.Load(),
		Failed: o.load.failed.Load(), Longest: o.load.longest, Problems: o.load.problems,
	}
	for _, step := range r.Steps {
		s.printf("%-45s took %5d ms, longest pause %4d ms", step.Name, step.Took.Milliseconds(), step.Pause.Milliseconds())
	}
	for _, p := range r.Problems {
		s.printf("  %s", p)
	}
	return r, ctx.Err()
}

// operator does what an operator does.
type operator struct {
	c      *lab.Cluster
	stays  *lab.Node // n3, which takes load from the beginning to the end
	load   *load
	guest  *guest // load on the fourth node, from when it is ready
	fourth *lab.Node
	fifth  *lab.Node
	acts   []act
}

// act is when a step was under way.
type act struct {
	name       string
	begin, end time.Time
}

func (o *operator) perform(ctx context.Context) error {
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"a fourth node joins", o.join},
		{"the first is removed, as the leader", o.remove},
		{"the second's disk is lost, a fifth replaces it", o.replace},
		{"all certificates are renewed", o.renew},
	} {
		a := act{name: step.name, begin: time.Now()}
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		sleep(ctx, operateWarm)
		a.end = time.Now()
		o.acts = append(o.acts, a)
	}
	return ctx.Err()
}

func (o *operator) join(ctx context.Context) (err error) {
	if o.fourth, err = o.c.Join("n4", ""); err != nil {
		return err
	}
	if err := o.c.WaitNodeReady(ctx, o.fourth); err != nil {
		return err
	}
	o.guest.begin(o.fourth, o.load)
	return nil
}

func (o *operator) remove(ctx context.Context) error {
	first := o.c.Nodes[0]
	if err := o.lead(ctx, first); err != nil {
		return err
	}
	return o.c.Remove(ctx, o.stays, first)
}

// lead has a node lead.
func (o *operator) lead(ctx context.Context, n *lab.Node) error {
	return lab.Poll(ctx, 20*time.Millisecond, func() error {
		status, body, err := o.stays.Admin().PostBody(ctx, "/admin/cluster/transfer-leader", map[string]string{"to": n.ID})
		if err != nil || status != http.StatusOK {
			return errors.Join(err, fmt.Errorf("transfer leadership to %s: status %d: %.200s", n.ID, status, body))
		}
		return nil
	})
}

func (o *operator) replace(ctx context.Context) (err error) {
	if err := o.c.Nodes[1].Lose(); err != nil {
		return err
	}
	if o.fifth, err = o.c.Join("n5", "n2"); err != nil {
		return err
	}
	return lab.Poll(ctx, 20*time.Millisecond, func() error {
		got, err := o.c.Suffrages(ctx, o.stays)
		if want := "n3 voter, n4 voter, n5 voter"; err == nil && got != want {
			err = fmt.Errorf("the servers are %s, want %s", got, want)
		}
		return err
	})
}

// renew has every node take its new certificate, and then makes the nodes call each other
// anew: with the former ones that fails once the former authority is out.
func (o *operator) renew(ctx context.Context) error {
	nodes := []*lab.Node{o.stays, o.fourth, o.fifth}
	err := o.c.RenewCertificates(func() error {
		sleep(ctx, 1500*time.Millisecond) // files are looked at once a second, when somebody calls
		for _, n := range nodes {
			if err := o.lead(ctx, n); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	// The former authority is out. A node that restarts calls everybody, and everybody it.
	if err := o.fifth.Stop(15 * time.Second); err != nil {
		return err
	}
	if err := o.fifth.Start(); err != nil {
		return err
	}
	if err := o.c.WaitNodeReady(ctx, o.fifth); err != nil {
		return err
	}
	for _, n := range nodes[:2] {
		if n.Logged("a renewed certificate is in use") == 0 {
			return fmt.Errorf("%s never took its new certificate", n.ID)
		}
	}
	return nil
}

func (o *operator) verify(ctx context.Context) {
	for _, n := range []*lab.Node{o.stays, o.fourth, o.fifth} {
		for id, want := range o.load.own {
			o.equal(ctx, n, o.load.ownKey(id), want)
		}
		o.equal(ctx, n, o.load.sharedKey(), o.load.shared.Load())
		o.equal(ctx, n, guestKey, o.guest.done.Load())
	}
}

func (o *operator) equal(ctx context.Context, n *lab.Node, key string, want int64) {
	if got, err := count(n.Client().Do(ctx, "GET", key)); err != nil || got != want {
		o.load.fail("%s through %s is %d (%v), acknowledged were %d", key, n.ID, got, err, want)
	}
}

// steps are the acts with the longest pause of each. Only after the load's end.
func (o *operator) steps() (all []operateStep) {
	for _, a := range o.acts {
		step := operateStep{Name: a.name, Took: a.end.Sub(a.begin) - operateWarm}
		for i := 1; i < len(o.load.samples); i++ {
			from, to := o.load.samples[i-1].replied, o.load.samples[i].replied
			if to.After(a.begin) && from.Before(a.end) {
				step.Pause = max(step.Pause, to.Sub(from))
			}
		}
		all = append(all, step)
	}
	return all
}

// guest is load on a node that joined.
type guest struct {
	stop context.CancelFunc
	all  sync.WaitGroup
	done atomic.Int64
}

const guestKey = "operate:guest"

// begin starts one client; what fails is told to the load of the others.
func (g *guest) begin(n *lab.Node, l *load) {
	ctx, stop := context.WithCancel(context.Background())
	g.stop = stop
	g.all.Go(func() {
		for ctx.Err() == nil {
			r := n.Client().Do(context.Background(), "INCR", guestKey)
			got, err := strconv.ParseInt(string(r.Result), 10, 64)
			if r.Outcome != history.OK || err != nil || got != g.done.Load()+1 {
				l.fail("%s: INCR %s: %s %s %s after %d additions", n.ID, guestKey, r.Outcome, r.Result, r.Error, g.done.Load())
				return
			}
			g.done.Add(1)
		}
	})
}

func (g *guest) end() {
	if g.stop != nil {
		g.stop()
	}
	g.all.Wait()
}
