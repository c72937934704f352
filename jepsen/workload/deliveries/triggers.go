package deliveries

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// Triggers is a run of increments of some counters, which a trigger tells by messages and another by a stream, while leaders are killed
// and deliveries fail. Some increments are those of scripts.
type Triggers struct {
	Cluster *testcluster.Cluster
	Label   string
	// Changes is the number of increments, each sent once.
	Changes, Clients int
	// Failing is the part of deliveries that fail, in percent.
	Failing         int
	KillEvery, Down time.Duration
	Patience        time.Duration
}

// TriggersResult is the result of Triggers.
type TriggersResult struct {
	Changes, Told, Entries, Kills int
	Took                          time.Duration
}

// String is a line for people.
func (r TriggersResult) String() string {
	return fmt.Sprintf("%d changes in %v: %d told by messages, %d in the feed, %d leaders killed", r.Changes, r.Took.Round(100*time.Millisecond), r.Told, r.Entries, r.Kills)
}

// triggered is the number of counters.
const triggered = 5

// scripted increments a counter, and fails then.
const scripted = `redis.call('incr', KEYS[1]) return redis.call('if', KEYS[1], 'missing')`

func (t Triggers) key(n int) string  { return fmt.Sprintf("%s:%d", t.Label, n%triggered) }
func (t Triggers) feed() string      { return t.Label + "-feed" }
func (t Triggers) options() []string { return []string{"RETRIES", "40", "RETRY-DELAY", "100"} }

// Run changes the counters, and compares them with what is told.
func (t Triggers) Run(ctx context.Context) (out TriggersResult, err error) {
	var turn atomic.Int64
	sink, err := NewSinkAt(t.Cluster.Host, func(string, int, int) Answer {
		if int(turn.Add(37)%100) < t.Failing {
			return Answer{Status: 500}
		}
		return Answer{Status: 200}
	})
	if err != nil {
		return out, err
	}
	defer sink.Close()
	for _, command := range [][]string{
		append([]string{"TRIGGER.SET", t.Label, t.Label + ":", "VALUES", "old,new", "LANES", "3", "MESSAGE", sink.URL(t.Label, 0)}, t.options()...),
		{"TRIGGER.SET", t.feed(), t.Label + ":", "VALUES", "new", "STREAM", t.feed()},
	} {
		if _, err := t.do(ctx, command...); err != nil {
			return out, fmt.Errorf("set a trigger: %w", err)
		}
	}
	killer := &Killer{Cluster: t.Cluster, Down: t.Down}
	began := time.Now()
	err = whileKilling(ctx, killer, t.KillEvery, func(ctx context.Context) error {
		return parallel(ctx, t.Clients, t.Changes, func(ctx context.Context, client, number int) error {
			command := []string{"INCR", t.key(number)}
			if number%7 == 3 {
				command = []string{"EVAL", scripted, "1", t.key(number)}
			}
			if r := t.Cluster.Do(ctx, client%t.Cluster.Size(), command...); r.Outcome == history.NotApplied {
				Sleep(ctx, 20*time.Millisecond) // the node is away, or the script has failed
			}
			return nil
		})
	})
	if err != nil {
		return out, err
	}
	out.Kills = len(killer.Kills())
	err = t.judge(ctx, &out, sink)
	out.Took = time.Since(began)
	for _, name := range []string{t.Label, t.feed()} {
		if _, failed := t.do(ctx, "TRIGGER.DEL", name); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	return out, err
}

// do runs a command through one node after the other until one answers.
func (t Triggers) do(ctx context.Context, args ...string) (reply json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.Patience)
	defer cancel()
	node := 0
	err = testcluster.Poll(ctx, 50*time.Millisecond, func() error {
		r := t.Cluster.Do(ctx, node%t.Cluster.Size(), args...)
		if node++; r.Outcome != history.OK {
			return fmt.Errorf("%s: %s %s", args[0], r.Outcome, r.Error)
		}
		reply = r.Result
		return nil
	})
	return reply, err
}

// judge: each change of a counter is told once, in its order, by a message and in the feed, and nothing else is.
func (t Triggers) judge(ctx context.Context, out *TriggersResult, sink *Sink) error {
	counts := make([]int, triggered)
	for n := range counts {
		reply, err := t.do(ctx, "GET", t.key(n))
		if err != nil {
			return fmt.Errorf("read counter %d: %w", n, err)
		}
		counts[n], _ = strconv.Atoi(strings.Trim(string(reply), `"`))
		out.Changes += counts[n]
	}
	if err := t.judgeFeed(ctx, out, counts); err != nil {
		return err
	}
	end := time.Now().Add(t.Patience)
	for {
		numbers := map[uint64]bool{}
		seen := make([]int, triggered)
		for _, a := range sink.Arrivals(t.Label) {
			var told struct {
				Number   uint64
				Key, New string
				Old      *string
			}
			if err := json.Unmarshal(a.Body, &told); err != nil {
				return fmt.Errorf("a message says %s: %w", a.Body, err)
			}
			if numbers[told.Number] {
				continue // it was delivered again
			}
			numbers[told.Number] = true
			n, _ := strconv.Atoi(strings.TrimPrefix(told.Key, t.Label+":"))
			seen[n]++
			before := strconv.Itoa(seen[n] - 1)
			if told.New != strconv.Itoa(seen[n]) || seen[n] > 1 && (told.Old == nil || *told.Old != before) {
				return fmt.Errorf("the message %d of %s is %s", seen[n], told.Key, a.Body)
			}
		}
		out.Told = len(numbers)
		if out.Told == out.Changes {
			return nil
		}
		if out.Told > out.Changes || time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("%d changes, and %d of them are told after %v", out.Changes, out.Told, t.Patience)
		}
		Sleep(ctx, 100*time.Millisecond)
	}
}

// judgeFeed holds the feed to the counters.
func (t Triggers) judgeFeed(ctx context.Context, out *TriggersResult, counts []int) error {
	reply, err := t.do(ctx, "XRANGE", t.feed(), "-", "+")
	if err != nil {
		return fmt.Errorf("read the feed: %w", err)
	}
	var entries [][2]json.RawMessage
	if err := json.Unmarshal(reply, &entries); err != nil {
		return fmt.Errorf("read the feed: %w", err)
	}
	out.Entries = len(entries)
	seen := make([]int, triggered)
	for i, e := range entries {
		var id string
		var fields []string
		if err := errors.Join(json.Unmarshal(e[0], &id), json.Unmarshal(e[1], &fields)); err != nil {
			return err
		}
		if _, number, _ := strings.Cut(id, "-"); number != strconv.Itoa(i+1) {
			return fmt.Errorf("entry %d of the feed is %s", i+1, id)
		}
		n, _ := strconv.Atoi(strings.TrimPrefix(fields[3], t.Label+":"))
		if seen[n]++; fields[len(fields)-1] != strconv.Itoa(seen[n]) {
			return fmt.Errorf("entry %d of the feed, which is change %d of its key, is %s", i+1, seen[n], fields)
		}
	}
	for n, count := range counts {
		if seen[n] != count {
			return fmt.Errorf("counter %d is %d, and the feed has %d of its changes", n, count, seen[n])
		}
	}
	return nil
}
