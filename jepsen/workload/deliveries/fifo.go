package deliveries

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// Queue is a run of one queue: messages in order, attempts that fail, leaders that are
// killed.
type Queue struct {
	Cluster *testcluster.Cluster
	Label   string
	// Parallelism bounds the messages of the queue that are under way at a time; 0 means 1.
	Parallelism int
	// Messages is the number of messages, enqueued one after the other, with Retries retries each.
	Messages, Retries int
	// Failing is the part of attempts that fail, in percent; one message in Poison fails
	// always.
	Failing, Poison int
	// Work is the time that the sink takes for a message.
	Work time.Duration
	// Kills is the number of leaders that are killed, spread over the messages.
	Kills    int
	Down     time.Duration
	Patience time.Duration
}

// QueueResult is the result of a Queue.
type QueueResult struct {
	Messages, Kills, Delivered, Dead, Arrivals, Broken, Lost int
	// AtOnce is the most messages at the sink at a time.
	AtOnce int
	// Standstill is the longest time between two requests.
	Standstill, Took time.Duration
}

// String is a line for people.
func (r QueueResult) String() string {
	return fmt.Sprintf("%d messages in %v: %d delivered, %d dead letters, %d requests of which %d broke off, at most %d at once, %d leaders killed, %d claims lost, longest standstill %v",
		r.Messages, r.Took.Round(100*time.Millisecond), r.Delivered, r.Dead, r.Arrivals, r.Broken, r.AtOnce, r.Kills, r.Lost, r.Standstill.Round(time.Millisecond))
}

// Run enqueues, kills, waits and judges.
func (q Queue) Run(ctx context.Context) (out QueueResult, err error) {
	sink, err := NewSinkAt(q.Cluster.Host, func(label string, number, nth int) Answer {
		if q.Poison > 0 && number%q.Poison == q.Poison-1 || fails(label, number, nth, q.Failing) {
			return Answer{Wait: q.Work, Status: 500}
		}
		return Answer{Wait: q.Work, Status: 200}
	})
	if err != nil {
		return out, err
	}
	defer sink.Close()
	publisher := &Publisher{Cluster: q.Cluster}
	if q.Parallelism > 1 {
		if err := publisher.Queue(ctx, q.Label, q.Parallelism); err != nil {
			return out, err
		}
	}
	killer := &Killer{Cluster: q.Cluster, Down: q.Down}
	began := time.Now()
	ids := make([]string, q.Messages)
	killed := make(chan error, 1)
	killing, stop := context.WithCancel(ctx)
	defer stop()
	go func() { killed <- q.kill(killing, killer, sink) }()
	for number := range q.Messages {
		r, err := publisher.Publish(ctx, number, "/v2/enqueue/"+q.Label+"/"+sink.URL(q.Label, number), q.header(number), []byte(strconv.Itoa(number)))
		if err != nil {
			stop()
			<-killed
			return out, err
		}
		ids[number] = r.MessageID
	}
	all, err := publisher.settled(ctx, q.Label, q.Messages, q.Patience)
	stop()
	if e := <-killed; err == nil {
		err = e
	}
	if err != nil {
		return out, err
	}
	out = QueueResult{Messages: q.Messages, Kills: len(killer.Kills()), Took: time.Since(began)}
	return out, judgeQueue(&out, max(q.Parallelism, 1), ids, all, sink.Arrivals(q.Label))
}

// kill kills leaders when the sink has seen so many requests.
func (q Queue) kill(ctx context.Context, k *Killer, sink *Sink) error {
	for i := range q.Kills {
		for sink.Count() < (i+1)*q.Messages/(q.Kills+1) {
			if Sleep(ctx, 5*time.Millisecond); ctx.Err() != nil {
				return fmt.Errorf("the run ended before kill %d", i+1)
			}
		}
		if err := k.Kill(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func (q Queue) header(number int) map[string]string {
	return map[string]string{
		"Upstash-Retries": strconv.Itoa(q.Retries), "Upstash-Label": q.Label, "Upstash-Retry-Delay": "20",
		"Upstash-Deduplication-Id": fmt.Sprintf("%s-%d", q.Label, number),
	}
}

// judgeQueue holds the requests and the claims against the order of publication and the parallelism.
func judgeQueue(out *QueueResult, parallelism int, ids []string, all []Event, arrivals []Arrival) error {
	var wrong problems
	byMessage := lives(all)
	number := map[string]int{}
	for n, id := range ids {
		number[id] = n
		l := byMessage[id]
		if l == nil || len(l.ends) != 1 {
			wrong.add("message %d did not end once", n)
			continue
		}
		out.Lost += l.lost
		if l.ends[0] == "DELIVERED" {
			out.Delivered++
		} else {
			out.Dead++
		}
	}
	judgeClaims(&wrong, parallelism, number, all)
	judgeOrder(out, &wrong, parallelism, ids, all, arrivals)
	judgeWidth(out, &wrong, parallelism, all, arrivals)
	return wrong.err()
}

// judgeClaims: messages are claimed for the first time in the order of publication, no more
// than the parallelism are begun and not ended, and none is claimed while it is.
func judgeClaims(wrong *problems, parallelism int, number map[string]int, all []Event) {
	newest := -1              // the newest message that was claimed
	begun := map[int]bool{}   // those that were claimed and have not ended
	running := map[int]bool{} // those of them that are claimed
	for _, v := range all {
		n, known := number[v.MessageID]
		if !known {
			wrong.add("message %s was never acknowledged: invented", v.MessageID)
			continue
		}
		switch v.State {
		case "ACTIVE":
			if !begun[n] && n != newest+1 || running[n] {
				wrong.add("message %d was claimed, and %d was the newest that had been", n, newest)
			}
			newest, begun[n], running[n] = max(newest, n), true, true
			if len(begun) > parallelism {
				wrong.add("message %d was claimed as number %d of those under way", n, len(begun))
			}
		case "ERROR":
			delete(running, n)
		case "DELIVERED", "FAILED", "CANCELED":
			delete(begun, n)
			delete(running, n)
		}
	}
}

// judgeWidth: at the sink no more messages at once than the parallelism. Requests whose
// connection had broken don't count, nor do attempts that were given up with their leader.
func judgeWidth(out *QueueResult, wrong *problems, parallelism int, all []Event, arrivals []Arrival) {
	lost := lostAttempts(all)
	type edge struct {
		at    time.Time
		by    int
		which string
	}
	var edges []edge
	for _, a := range arrivals {
		if !a.Broken && !lost[attemptOf{a.Message, a.Retried}] {
			edges = append(edges, edge{a.Begin, 1, a.Message}, edge{a.End, -1, a.Message})
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Or(a.at.Compare(b.at), a.by-b.by) })
	open := map[string]int{}
	for _, e := range edges {
		if open[e.which] += e.by; open[e.which] == 0 {
			delete(open, e.which)
		}
		if out.AtOnce = max(out.AtOnce, len(open)); len(open) > parallelism {
			wrong.add("%d messages at once at the sink", len(open))
		}
	}
}

// attemptOf is an attempt of a message, by how many retries there were before.
type attemptOf struct {
	message string
	retried int
}

// lostAttempts returns the attempts whose claims were released.
func lostAttempts(all []Event) map[attemptOf]bool {
	lost, retried := map[attemptOf]bool{}, map[string]int{}
	for i := range all {
		if v := &all[i]; v.State == "ERROR" {
			if v.Lost() {
				lost[attemptOf{v.MessageID, retried[v.MessageID]}] = true
			}
			retried[v.MessageID]++
		}
	}
	return lost
}

// judgeOrder: at the sink, with a parallelism of 1, no two requests at once, and none of a
// message after one of a later message has begun. Requests whose connection had broken don't
// count as running. One whose attempt was given up with its leader may have been on its way
// through the network for any time, and come when later messages have.
func judgeOrder(out *QueueResult, wrong *problems, parallelism int, ids []string, all []Event, arrivals []Arrival) {
	lost, delivered := lostAttempts(all), map[string]bool{}
	slices.SortFunc(arrivals, func(a, b Arrival) int { return a.Begin.Compare(b.Begin) })
	var before *Arrival // the newest that was not given up
	for i := range arrivals {
		a := &arrivals[i]
		out.Arrivals++
		delivered[a.Message] = true
		if a.Broken {
			out.Broken++
		}
		if a.Number < 0 || a.Number >= len(ids) || ids[a.Number] != a.Message {
			wrong.add("message %s came to address %d: invented", a.Message, a.Number)
		}
		if i > 0 {
			out.Standstill = max(out.Standstill, a.Begin.Sub(arrivals[i-1].Begin))
		}
		if parallelism > 1 || lost[attemptOf{a.Message, a.Retried}] {
			continue
		}
		if before != nil {
			judgeNext(wrong, before, a)
		}
		before = a
	}
	byMessage := lives(all)
	for n, id := range ids {
		if l := byMessage[id]; l != nil && slices.Contains(l.ends, "DELIVERED") && !delivered[id] {
			wrong.add("message %d was delivered to nobody", n)
		}
	}
}

// judgeNext holds a request against the one before it.
func judgeNext(wrong *problems, before, a *Arrival) {
	if a.Number < before.Number {
		wrong.add("message %d came after %d: out of order", a.Number, before.Number)
	}
	if a.Begin.Before(before.End) && !before.Broken {
		wrong.add("message %d came while %d was under way", a.Number, before.Number)
	}
}
