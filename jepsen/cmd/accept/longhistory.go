package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/workflow"
)

// What long-history does, and demands.
const (
	historyMessages = 20_000_000
	historyRunEvery = 40 // messages for a run: 500,000
	historyDays     = 14
	historyBatch    = 100
	historyClients  = 8
	historySample   = 9973 // of so many messages one is looked for, at every node
	historyRunning  = 64   // runs at once
	historyLimit    = 12 * time.Hour
	historyMemory   = 10 // bytes of resident memory for a message, beside historyBase
	historyBase     = 600 << 20
	historyRest     = time.Minute            // before memory is judged
	historyCompare  = time.Hour              // for backups of all nodes at one index
	historyList     = 500 * time.Millisecond // for a page, at the median
)

// historyRun is the history of two weeks, and what was made of it so far.
type historyRun struct {
	s        *session
	c        *testcluster.Cluster
	messages int
	sink     string
	arrived  atomic.Int64
	client   *workflow.Client
	appURL   string

	mu   sync.Mutex
	ids  map[int]historyRecord // of the sample
	runs map[string]bool       // that have ended
}

// historyRecord is a message of the sample.
type historyRecord struct {
	id  string
	day int
}

// longHistory is long-history: messages are delivered and runs end over two weeks of the clocks of all nodes. A leader is killed, a node
// replaced and a segment damaged on each node meanwhile; then every node finds what is looked for.
func longHistory(ctx context.Context, s *session) error {
	ctx, cancel := context.WithTimeout(ctx, historyLimit)
	defer cancel()
	s.flags = append(slices.Clone(deliveryFlags), "--event-retention", "20d", "--run-retention", "20d")
	c, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	r := &historyRun{s: s, c: c, messages: cmp.Or(s.messages, historyMessages), ids: map[int]historyRecord{}, runs: map[string]bool{}}
	end, err := r.listen()
	if err != nil {
		return err
	}
	defer end()
	return r.revived(ctx, r.live)
}

// live lives through the two weeks, and judges what there is then.
func (r *historyRun) live(ctx context.Context) error {
	began := time.Now()
	for day := range historyDays {
		if err := r.day(ctx, day); err != nil {
			return fmt.Errorf("day %d: %w", day, err)
		}
		var err error
		switch day {
		case 3:
			err = r.loseLeader(ctx)
		case 6:
			err = r.replace(ctx)
		case 9, 10, 11:
			err = r.damage(ctx, r.c.Nodes[day-9])
		}
		if err != nil {
			return fmt.Errorf("day %d: %w", day, err)
		}
	}
	r.s.printf("%d messages delivered and %d runs ended over %d days of the clocks, in %v", r.messages, len(r.runs), historyDays, time.Since(began).Round(time.Second))
	return r.judge(ctx)
}

// listen starts what takes deliveries and the workflow.
func (r *historyRun) listen() (end func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	turn := atomic.Uint64{}
	o := workflow.Options{
		Node: func() string { return "http://" + r.c.Nodes[turn.Add(1)%uint64(r.c.Size())].HTTP }, Token: testcluster.MessagesToken,
		Unsigned: true, HTTPClient: &http.Client{Timeout: testcluster.RequestTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 256}},
		OnEnd: func(run string) {
			r.mu.Lock()
			r.runs[run] = true
			r.mu.Unlock()
		},
	}
	short := workflow.New("short", func(c *workflow.Context, _ []byte) (string, error) {
		return workflow.Run(c, "step", func(context.Context) (string, error) { return "done", nil }), nil
	})
	r.client = workflow.NewClient(o)
	mux := http.NewServeMux()
	mux.HandleFunc("/sink/", func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body) // a body cut short is delivered again
		r.arrived.Add(1)
	})
	mux.Handle("/flows/", workflow.Handler(o, short))
	server := &http.Server{Handler: mux}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = server.Serve(l)
	}()
	r.sink, r.appURL = "http://"+l.Addr().String()+"/sink/", "http://"+l.Addr().String()+"/flows/short"
	return func() {
		server.Close()
		<-over
	}, nil
}

// day delivers the messages and ends the runs of one day, and then moves all clocks to the next.
func (r *historyRun) day(ctx context.Context, day int) error {
	from, to := r.messages*day/historyDays, r.messages*(day+1)/historyDays
	before := r.arrived.Load()
	errs := make([]error, 2)
	var both sync.WaitGroup
	both.Go(func() { errs[0] = r.publish(ctx, day, from, to) })
	both.Go(func() { errs[1] = r.startRuns(ctx, from/historyRunEvery, to/historyRunEvery) })
	both.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	err := testcluster.Poll(ctx, 100*time.Millisecond, func() error {
		r.mu.Lock()
		ended := len(r.runs)
		r.mu.Unlock()
		if n := r.arrived.Load() - before; n < int64(to-from) || ended < to/historyRunEvery {
			return fmt.Errorf("%d of %d messages have arrived, and %d of %d runs have ended", n, to-from, ended, to/historyRunEvery)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.advance(ctx, time.Duration(day+1)*24*time.Hour)
}

// advance has the clocks of all nodes be ahead by offset, and waits until cluster time is.
func (r *historyRun) advance(ctx context.Context, offset time.Duration) error {
	for _, n := range r.c.Nodes {
		if err := n.Arm(fmt.Sprintf("wall-clock=offset(%v)", offset)); err != nil {
			return err
		}
	}
	return testcluster.Poll(ctx, 100*time.Millisecond, func() error {
		reply := r.c.Nodes[0].Client().Do(ctx, "TIME")
		var words []string
		if err := json.Unmarshal(reply.Result, &words); err != nil || len(words) == 0 {
			return fmt.Errorf("TIME: %s %s: %w", reply.Result, reply.Error, err)
		}
		at, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			return err
		}
		if behind := time.Now().Add(offset).Sub(time.Unix(at, 0)); behind > 10*time.Second {
			return fmt.Errorf("cluster time is behind by %v", behind)
		}
		return nil
	})
}

// each calls do for batches of numbers, by some clients at once.
func each(clients, from, to, batch int, do func(client, from, to int) error) error {
	batches, errs := make(chan int), make([]error, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for first := range batches {
				if errs[i] == nil {
					errs[i] = do(i, first, min(first+batch, to))
				}
			}
		})
	}
	for first := from; first < to; first += batch {
		batches <- first
	}
	close(batches)
	all.Wait()
	return errors.Join(errs...)
}

// publish publishes messages. An id of deduplication has each be one message, however often it is sent.
func (r *historyRun) publish(ctx context.Context, day, from, to int) error {
	type item struct {
		Destination string            `json:"destination"`
		Headers     map[string]string `json:"headers"`
		Body        string            `json:"body"`
	}
	return each(historyClients, from, to, historyBatch, func(at, from, to int) error {
		var items []item
		for n := from; n < to; n++ {
			headers := map[string]string{"Upstash-Label": labelOf(n), "Content-Type": "text/plain", "Upstash-Deduplication-Id": strconv.Itoa(n)}
			items = append(items, item{r.sink + strconv.Itoa(n%50), headers, fmt.Sprintf("message %d, of a hundred bytes or so, as most of them are: an order, a payment, a user", n)})
		}
		body, err := json.Marshal(items)
		if err != nil {
			return err
		}
		return testcluster.Poll(ctx, 100*time.Millisecond, func() error {
			at++
			status, _, reply, err := r.c.Nodes[at%r.c.Size()].Messages().Call(ctx, http.MethodPost, "/v2/batch", nil, body)
			var receipts []struct{ MessageID string }
			if err == nil && status == http.StatusOK {
				err = json.Unmarshal(reply, &receipts)
			}
			if err != nil || len(receipts) != to-from {
				return fmt.Errorf("publish messages from %d: status %d, %.200s: %w", from, status, reply, err)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			for i, one := range receipts {
				if (from+i)%min(historySample, max(r.messages/200, 1)) == 0 {
					r.ids[from+i] = historyRecord{one.MessageID, day}
				}
			}
			return nil
		})
	})
}

// labelOf is one of as many labels as there are messages in some minutes.
func labelOf(n int) string { return "order-" + strconv.Itoa(n/20) }

// startRuns starts runs and waits for their ends.
func (r *historyRun) startRuns(ctx context.Context, from, to int) error {
	return each(historyRunning, from, to, 1, func(at, n, _ int) error {
		id := fmt.Sprintf("wfr_history_%d", n)
		return testcluster.Poll(ctx, 50*time.Millisecond, func() error {
			at++
			status, _, reply, err := r.c.Nodes[at%r.c.Size()].Messages().Call(ctx, http.MethodPost, "/v2/trigger/"+r.appURL,
				map[string]string{"Upstash-Workflow-RunId": id, "Upstash-Label": "runs-" + strconv.Itoa(n/100)}, []byte(`{"n":`+strconv.Itoa(n)+`}`))
			if err != nil || status/100 != 2 && status != http.StatusConflict {
				return fmt.Errorf("start run %s: status %d, %.200s: %w", id, status, reply, err)
			}
			return nil
		})
	})
}

// loseLeader kills the leader and starts it again.
func (r *historyRun) loseLeader(ctx context.Context) error {
	return (&waitingRun{c: r.c}).loseLeader(ctx)
}

// replace has a node that does not lead lose its disk, and another take its place.
func (r *historyRun) replace(ctx context.Context) error {
	began := time.Now()
	err := (&waitingRun{c: r.c}).replace(ctx)
	r.s.printf("a node without a disk replaced in %v", time.Since(began).Round(10*time.Millisecond))
	return err
}

// damage flips bits in the middle of a segment of a node, which it must get again from another one.
func (r *historyRun) damage(ctx context.Context, n *testcluster.Node) error {
	if _, err := timedSnapshot(ctx, n); err != nil { // a short history may be in memory and in the log still
		return err
	}
	files, err := filepath.Glob(filepath.Join(n.DataDir, "payloads", "*.pay"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no segment of payloads", n.ID)
	}
	return flipBits(files[0])
}

// flipBits flips a bit in each of some bytes in the middle of a file.
func flipBits(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	at, some := info.Size()/2, make([]byte, 16)
	if _, err := f.ReadAt(some, at); err != nil {
		return err
	}
	for i := range some {
		some[i] ^= byte(1 << rand.IntN(8))
	}
	_, err = f.WriteAt(some, at)
	return err
}
