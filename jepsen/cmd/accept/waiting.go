package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// What waiting-messages does.
const (
	waitingMessages = 10_000_000
	waitingBatch    = 100
	waitingBody     = 4 << 10
	waitingClients  = 8
	waitingSample   = 997     // of so many messages one is read back, at every node
	waitingMemory   = 8 << 30 // the most resident memory of a node
	waitingLimit    = time.Hour
)

// waitingBodyOf is the body of a message, of size bytes, rounded down to a multiple of four: text that does not compress below
// three quarters.
func waitingBodyOf(n, size int) string {
	seed := sha256.Sum256([]byte(strconv.Itoa(n)))
	raw := make([]byte, size/4*3)
	rand.NewChaCha8(seed).Read(raw)
	return base64.StdEncoding.EncodeToString(raw)
}

// waitingRun is messages that wait while nodes are lost.
type waitingRun struct {
	c     *testcluster.Cluster
	count int
	body  int // bytes
	// to is the node that messages are published to, nil for all in turn.
	to *testcluster.Node
	// sample is the number of messages of which one is read back; 0 means waitingSample.
	sample int

	mu  sync.Mutex
	ids map[int]string // of the sample
}

// waiting is waiting-messages: messages with bodies of 4 KiB wait, the leader is killed while the last of them come, and another
// node loses its disk and is replaced. Then every node has all of them.
func waiting(ctx context.Context, s *session) error {
	ctx, cancel := context.WithTimeout(ctx, waitingLimit)
	defer cancel()
	c, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	r := &waitingRun{c: c, count: waitingMessages, body: waitingBody, ids: map[int]string{}}
	if s.messages > 0 {
		r.count = s.messages
	}
	if s.body > 0 {
		r.body = s.body
	}
	began := time.Now()
	if err := r.publish(ctx, 0, r.count/10*9); err != nil {
		return err
	}
	killed := make(chan error, 1)
	go func() { killed <- r.loseLeader(ctx) }()
	err = errors.Join(r.publish(ctx, r.count/10*9, r.count), <-killed)
	if err != nil {
		return err
	}
	s.printf("%d messages with bodies of %d bytes published in %v, the leader killed meanwhile", r.count, r.body, time.Since(began).Round(time.Second))
	began = time.Now()
	if err := r.replace(ctx); err != nil {
		return err
	}
	s.printf("a node without a disk replaced in %v", time.Since(began).Round(time.Second))
	for _, n := range c.Nodes {
		now, most, err := memoryOf(n.Pid())
		if err != nil {
			return err
		}
		s.printf("%s: resident memory %d MiB, at most %d MiB", n.ID, now>>20, most>>20)
		if most > waitingMemory {
			err = fmt.Errorf("%s had %d MiB of resident memory, at most %d MiB are allowed", n.ID, most>>20, int64(waitingMemory)>>20)
		}
		if err = errors.Join(err, r.verify(ctx, n)); err != nil {
			return err
		}
	}
	s.printf("each node has all messages, and the right body of each of %d that were read", len(r.ids))
	return nil
}

// publish publishes messages with the numbers from to to, less one.
func (r *waitingRun) publish(ctx context.Context, from, to int) error {
	batches := make(chan int)
	errs := make([]error, waitingClients)
	var all sync.WaitGroup
	for i := range waitingClients {
		all.Go(func() {
			for first := range batches {
				if errs[i] == nil {
					errs[i] = r.publishBatch(ctx, i, first, min(first+waitingBatch, to))
				}
			}
		})
	}
	for first := from; first < to; first += waitingBatch {
		batches <- first
	}
	close(batches)
	all.Wait()
	return errors.Join(errs...)
}

// publishBatch publishes messages in one request, which it sends again until it is answered. The last tenth, while the leader is
// killed, has ids of deduplication; nodes would need memory for the ids of all of them, which are not what is measured.
func (r *waitingRun) publishBatch(ctx context.Context, at, from, to int) error {
	type item struct {
		Destination string            `json:"destination"`
		Headers     map[string]string `json:"headers"`
		Body        string            `json:"body"`
	}
	var items []item
	for n := from; n < to; n++ {
		headers := map[string]string{"Upstash-Delay": "7d", "Content-Type": "text/plain"}
		if from >= r.count/10*9 {
			headers["Upstash-Deduplication-Id"] = strconv.Itoa(n)
		}
		items = append(items, item{"http://127.0.0.1:9/", headers, waitingBodyOf(n, r.body)})
	}
	body, err := json.Marshal(items)
	if err != nil {
		return err
	}
	var refused error
	err = testcluster.Poll(ctx, 100*time.Millisecond, func() error {
		at++
		n := r.to
		if n == nil {
			n = r.c.Nodes[at%r.c.Size()]
		}
		status, _, reply, err := n.Messages().Call(ctx, http.MethodPost, "/v2/batch", nil, body)
		var receipts []struct{ MessageID string }
		if err == nil && status == http.StatusOK {
			err = json.Unmarshal(reply, &receipts)
		}
		if status == http.StatusBadRequest {
			refused = fmt.Errorf("publish messages from %d: %.200s", from, reply)
			return nil
		}
		if err != nil || len(receipts) != to-from {
			return fmt.Errorf("publish messages from %d: status %d, %.200s: %w", from, status, reply, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for i, one := range receipts {
			if (from+i)%cmp.Or(r.sample, waitingSample) == 0 {
				r.ids[from+i] = one.MessageID
			}
		}
		return nil
	})
	return errors.Join(err, refused)
}

// loseLeader kills the leader and starts it again.
func (r *waitingRun) loseLeader(ctx context.Context) error {
	leader, err := r.c.WaitLeader(ctx)
	if err != nil {
		return err
	}
	n := r.c.Nodes[leader.Node]
	if err := n.Kill(); err != nil {
		return err
	}
	if err := n.Start(); err != nil {
		return err
	}
	return r.c.WaitNodeReady(ctx, n)
}

// replace has a node that does not lead lose its disk, and another take its place.
func (r *waitingRun) replace(ctx context.Context) error {
	leader, err := r.c.WaitLeader(ctx)
	if err != nil {
		return err
	}
	n := r.c.Nodes[(leader.Node+1)%r.c.Size()]
	if err := r.c.LoseDisk(n); err != nil {
		return err
	}
	return r.c.Replace(ctx, n)
}

// verify counts the messages of a node, and reads the sample there.
func (r *waitingRun) verify(ctx context.Context, n *testcluster.Node) error {
	err := testcluster.Poll(ctx, 100*time.Millisecond, func() error {
		status, body, err := n.Admin().Get(ctx, "/metrics")
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("metrics of %s: status %d: %w", n.ID, status, err)
		}
		if want := fmt.Sprintf("\ntrireme_messages %v\n", float64(r.count)); !strings.Contains(string(body), want) {
			_, rest, _ := strings.Cut(string(body), "\ntrireme_messages ")
			have, _, _ := strings.Cut(rest, "\n")
			return fmt.Errorf("%s has %s messages, want %v", n.ID, have, float64(r.count))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for number, id := range r.ids {
		status, _, body, err := n.Messages().Call(ctx, http.MethodGet, "/v2/messages/"+id, nil, nil)
		var m struct{ Body string }
		if err == nil && status == http.StatusOK {
			err = json.Unmarshal(body, &m)
		}
		if err != nil || m.Body != waitingBodyOf(number, r.body) {
			return fmt.Errorf("%s: message %d (%s): status %d, a body of %d bytes: %w", n.ID, number, id, status, len(m.Body), err)
		}
	}
	return nil
}

// memoryOf is the resident memory of a process in bytes, now and at most.
func memoryOf(pid int) (now, most int64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(b)) {
		for name, v := range map[string]*int64{"VmRSS:": &now, "VmHWM:": &most} {
			if rest, ok := strings.CutPrefix(line, name); ok {
				kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				if err != nil {
					return 0, 0, err
				}
				*v = kib << 10
			}
		}
	}
	if now == 0 {
		err = fmt.Errorf("process %d has no resident memory", pid)
	}
	return now, most, err
}
