package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	channelSubscribers = 200
	channelMessages    = 10_000
	channelPublishers  = 24
	channelKills       = 2
	channelLast        = "last"
	// channelQuiet bounds the wait for messages that are still under way to the streams.
	channelQuiet = 30 * time.Second
)

// channels is subscribers: subscribers on all nodes, publishers on all nodes, two leaders
// killed meanwhile.
func channels(ctx context.Context, s *session) error {
	c, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	streams, err := subscribeAll(ctx, c)
	if err != nil {
		return err
	}
	p := &publishers{cluster: c, acked: map[string]int{}}
	if err := p.run(ctx, s, channelMessages); err != nil {
		return err
	}
	if err := waitReady(ctx, c, channelQuiet); err != nil {
		return err
	}
	if r := c.Do(ctx, 0, "PUBLISH", "accept", channelLast); r.Outcome != history.OK {
		return fmt.Errorf("the last message: %s", r.Error)
	}
	return judgeStreams(s, streams, p)
}

// stream is one subscriber.
type stream struct {
	node int
	got  []string
	done chan struct{} // closes at the last message, or when the connection ends
}

// stayed reports whether the stream was there to the end.
func (s *stream) stayed() bool { return len(s.got) > 0 && s.got[len(s.got)-1] == channelLast }

func subscribeAll(ctx context.Context, c *testcluster.Cluster) ([]*stream, error) {
	all := make([]*stream, channelSubscribers)
	errs := make([]error, channelSubscribers)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i], errs[i] = subscribe(ctx, c.Nodes[i%c.Size()].HTTP, i%c.Size()) })
	}
	wg.Wait()
	return all, errors.Join(errs...)
}

// subscribe opens a stream and returns when it stands.
func subscribe(ctx context.Context, addr string, node int) (*stream, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/subscribe/accept", strings.NewReader("[]"))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+testcluster.Token)
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(res.Body)
	if !lines.Scan() || lines.Text() != "data: subscribe,accept,1" {
		res.Body.Close()
		return nil, fmt.Errorf("subscribe: %d %q %w", res.StatusCode, lines.Text(), errors.Join(lines.Err()))
	}
	m := &stream{node: node, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		defer res.Body.Close()
		for lines.Scan() {
			message, is := strings.CutPrefix(lines.Text(), "data: message,accept,")
			if !is {
				continue
			}
			if m.got = append(m.got, message); message == channelLast {
				return
			}
		}
	}()
	return m, nil
}

// publishers send numbered messages through all nodes.
type publishers struct {
	cluster *testcluster.Cluster
	next    atomic.Int64
	unknown atomic.Int64

	mu    sync.Mutex
	acked map[string]int // with how many receivers
	kills int
}

// run sends n messages, each by one publisher, and kills a leader on the way as often as
// the line asks.
func (p *publishers) run(ctx context.Context, s *session, n int) error {
	var wg sync.WaitGroup
	for w := range channelPublishers {
		wg.Go(func() {
			for i := p.next.Add(1); i <= int64(n) && ctx.Err() == nil; i = p.next.Add(1) {
				p.publish(ctx, w%p.cluster.Size(), fmt.Sprint(i))
			}
		})
	}
	defer wg.Wait()
	for k := range channelKills {
		for p.next.Load() < int64((k+1)*n/(channelKills+1)) && ctx.Err() == nil {
			sleep(ctx, 5*time.Millisecond)
		}
		leader, err := p.cluster.WaitLeader(ctx)
		if err != nil {
			return err
		}
		node := p.cluster.Nodes[leader.Node]
		if err := node.Kill(); err != nil {
			return err
		}
		s.printf("killed the leader %d after %d messages", leader.Node+1, p.next.Load())
		if err := node.Start(); err != nil {
			return err
		}
		if err := waitReady(ctx, p.cluster, channelQuiet); err != nil {
			return err
		}
	}
	return nil
}

func (p *publishers) publish(ctx context.Context, node int, message string) {
	r := p.cluster.Do(ctx, node, "PUBLISH", "accept", message)
	var receivers int
	if r.Outcome != history.OK || json.Unmarshal(r.Result, &receivers) != nil {
		p.unknown.Add(1) // the node is down, or can't say
		return
	}
	p.mu.Lock()
	p.acked[message] = receivers
	p.mu.Unlock()
}

// judgeStreams compares the streams that stayed: one order, every acknowledged message,
// none twice, and no publisher was told of fewer receivers.
func judgeStreams(s *session, streams []*stream, p *publishers) error {
	limit := time.After(channelQuiet)
	var stayed []*stream
	for _, m := range streams {
		select {
		case <-m.done:
		case <-limit:
			return fmt.Errorf("a stream of node %d brought neither the last message nor an end", m.node+1)
		}
		if m.stayed() {
			stayed = append(stayed, m)
		}
	}
	s.printf("%d of %d streams stayed; %d messages acknowledged, %d not", len(stayed), len(streams), len(p.acked), p.unknown.Load())
	if len(stayed) == 0 {
		return errors.New("no stream stayed")
	}
	order := strings.Join(stayed[0].got, " ")
	for _, m := range stayed[1:] {
		if strings.Join(m.got, " ") != order {
			return fmt.Errorf("streams of nodes %d and %d differ", stayed[0].node+1, m.node+1)
		}
	}
	seen := map[string]bool{}
	for _, m := range stayed[0].got {
		if seen[m] {
			return fmt.Errorf("message %s came twice", m)
		}
		seen[m] = true
	}
	for m, receivers := range p.acked {
		if !seen[m] {
			return fmt.Errorf("message %s was acknowledged and did not come", m)
		}
		if receivers < len(stayed) || receivers > len(streams) {
			return fmt.Errorf("message %s was said to have %d receivers, %d streams stayed", m, receivers, len(stayed))
		}
	}
	return nil
}
