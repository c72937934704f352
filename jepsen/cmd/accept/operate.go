package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	operateRounds = 3
	operateWarm   = time.Second
	operatePause  = 500 * time.Millisecond
	operateLimit  = 4 * time.Minute // of one round
)

// operateRound is one cluster whose nodes come and go under load.
type operateRound struct {
	Steps                           []operateStep
	Writes, Reads, Messages, Failed int64
	Problems                        []string
}

// operateStep is one act of the operator, and the longest time in which the clients of one node had no write
// acknowledged while it was under way.
type operateStep struct {
	Name        string
	Took, Pause time.Duration
}

// operate is membership: under load a fourth node joins, the first is removed, the disk of the second is lost and a fifth
// node takes its place, all certificates are renewed, and every node is upgraded to a version that announces a higher
// feature level, which rises.
func operate(ctx context.Context, s *session) error {
	next, err := testcluster.Build(filepath.Join(s.dir, "bin", "next"), testcluster.BuildOptions{Next: true, Race: s.race})
	if err != nil {
		return err
	}
	rounds, err := repeat(s.progress, "operate", s.count(operateRounds), func(i int) (operateRound, error) { return operateOnce(ctx, s, next) })
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
	s.printf("%d times: over HTTP and RESP %d writes and %d reads on nodes that stay, %d messages delivered, %d failed or wrong; longest pause %v (%s, aim %v)", len(rounds),
		total(rounds, func(r operateRound) int64 { return r.Writes }), total(rounds, func(r operateRound) int64 { return r.Reads }),
		total(rounds, func(r operateRound) int64 { return r.Messages }), failed, worst.Pause.Round(time.Millisecond), worst.Name, operatePause)
	if failed > 0 {
		return fmt.Errorf("%d requests failed or were wrong on nodes that stay, want 0", failed)
	}
	return atMost("longest pause", worst.Pause, operatePause)
}

// operateOnce is one round. Without a binary of the next version the nodes are restarted with the one they have.
func operateOnce(ctx context.Context, s *session, next string) (r operateRound, err error) {
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
	c, err := testcluster.NewCluster(testcluster.Options{Binary: binary, Dir: filepath.Join(dir, "nodes"), Secure: true, SecureAPI: true, RESP: true, Args: deliveryFlags})
	if err != nil {
		return r, err
	}
	defer c.Close()
	if err := errors.Join(c.Start(), waitReady(ctx, c, 30*time.Second)); err != nil {
		return r, err
	}
	t, err := newTraffic()
	if err != nil {
		return r, err
	}
	defer t.close()
	o := &operator{c: c, stays: c.Nodes[2], traffic: t, next: next}
	t.start(o.stays)
	sleep(ctx, operateWarm)
	err = o.perform(ctx)
	sleep(ctx, operateWarm)
	t.end()
	if err != nil {
		for _, p := range t.problems {
			s.printf("  %s", p)
		}
		return r, err
	}
	t.verify(ctx, o.members())
	for _, crash := range c.Crashes() {
		t.fail("%s ended by itself with exit code %d: %s", crash.Node, crash.ExitCode, crash.Log)
	}
	r = operateRound{
		Steps: o.steps(), Writes: t.writes.Load(), Reads: t.reads.Load(), Messages: t.messages.Load(), Failed: t.failed.Load(), Problems: t.problems,
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
	c       *testcluster.Cluster
	stays   *testcluster.Node // n3, which takes load from the beginning to the end
	traffic *traffic
	next    string // the binary to upgrade to, or empty
	fourth  *testcluster.Node
	fifth   *testcluster.Node
	acts    []act
}

// act is the time span of a step.
type act struct {
	name       string
	begin, end time.Time
}

// members are the nodes of the cluster in the end.
func (o *operator) members() []*testcluster.Node {
	return []*testcluster.Node{o.stays, o.fourth, o.fifth}
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
		{"the fifth is upgraded", func(ctx context.Context) error { return o.upgrade(ctx, o.fifth, o.fourth) }},
		{"the fourth is upgraded", func(ctx context.Context) error { return o.upgrade(ctx, o.fourth, o.stays) }},
		{"the third is upgraded, as the leader", o.upgradeLast},
		{"the feature level rises", o.rise},
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
	o.traffic.start(o.fourth)
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
func (o *operator) lead(ctx context.Context, n *testcluster.Node) error {
	return testcluster.Poll(ctx, 20*time.Millisecond, func() error {
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
	defer func() {
		if err == nil {
			o.traffic.start(o.fifth)
		}
	}()
	return testcluster.Poll(ctx, 20*time.Millisecond, func() error {
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
	err := o.c.RenewCertificates(func() error {
		sleep(ctx, 1500*time.Millisecond) // files are looked at once a second, when somebody calls
		for _, n := range o.members() {
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
	if err := o.restart(ctx, o.fifth, o.fourth); err != nil {
		return err
	}
	for _, n := range []*testcluster.Node{o.stays, o.fourth} {
		if n.Logged("a renewed certificate is in use") == 0 {
			return fmt.Errorf("%s never took its new certificate", n.ID)
		}
	}
	return o.handshakes(ctx)
}

// handshakes has a client that trusts the new authority only make a new connection to each port of each node.
func (o *operator) handshakes(ctx context.Context) error {
	for _, n := range o.members() {
		for _, addr := range []string{n.HTTP, n.RESP} {
			conn, err := (&tls.Dialer{Config: n.TLS()}).DialContext(ctx, "tcp", addr)
			if err != nil {
				return fmt.Errorf("%s at %s shows clients its former certificate: %w", n.ID, addr, err)
			}
			conn.Close()
		}
	}
	return nil
}

// restart ends a node, whose clients go to another meanwhile, and starts it with the binary that it is to have.
func (o *operator) restart(ctx context.Context, n, refuge *testcluster.Node) error {
	defer o.traffic.evacuate(n, refuge)()
	if err := n.Stop(rollingStop); err != nil {
		return err
	}
	if err := n.Start(); err != nil {
		return err
	}
	return o.c.WaitNodeReady(ctx, n)
}

// upgrade restarts a node with the next version.
func (o *operator) upgrade(ctx context.Context, n, refuge *testcluster.Node) error {
	if o.raised() > 0 {
		return errors.New("the level has risen while a node still has the former version")
	}
	if o.next != "" {
		n.Use(o.next)
	}
	return o.restart(ctx, n, refuge)
}

func (o *operator) upgradeLast(ctx context.Context) error {
	if err := o.lead(ctx, o.stays); err != nil {
		return err
	}
	return o.upgrade(ctx, o.stays, o.fifth)
}

// rise waits until the leader has raised the level, which all nodes know now.
func (o *operator) rise(ctx context.Context) error {
	if o.next == "" {
		return nil
	}
	return testcluster.Poll(ctx, 50*time.Millisecond, func() error {
		if o.raised() == 0 {
			return errors.New("no leader has raised it")
		}
		return nil
	})
}

// raised counts how often the level was raised.
func (o *operator) raised() (count int) {
	for _, n := range o.members() {
		count += n.Logged(levelRaised)
	}
	return count
}

// steps are the acts with the longest pause of each. Only after the traffic's end.
func (o *operator) steps() (all []operateStep) {
	for _, a := range o.acts {
		all = append(all, operateStep{Name: a.name, Took: a.end.Sub(a.begin) - operateWarm, Pause: o.traffic.pause(a.begin, a.end)})
	}
	return all
}
