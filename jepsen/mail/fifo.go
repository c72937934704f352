package mail

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"trireme/jepsen/lab"
)

// Queue is a run of one queue of parallelism 1: messages in order, attempts that fail,
// leaders that are killed.
type Queue struct {
	Cluster *lab.Cluster
	Label   string
	// Messages are enqueued one after the other; Retries is what each has.
	Messages, Retries int
	// Failing is the part of attempts that fail, in percent; one message in Poison fails
	// always.
	Failing, Poison int
	// Work is how long the sink works on a message.
	Work time.Duration
	// Kills is how many leaders are killed, spread over the messages.
	Kills    int
	Down     time.Duration
	Patience time.Duration
}

// Queued is what came of a Queue.
type Queued struct {
	Messages, Kills, Delivered, Dead, Arrivals, Broken, Lost int
	// Standstill is the longest time between two requests.
	Standstill, Took time.Duration
}

// String is a line for people.
func (q Queued) String() string {
	return fmt.Sprintf("%d messages in %v: %d delivered, %d dead letters, %d requests of which %d broke off, %d leaders killed, %d claims lost, longest standstill %v",
		q.Messages, q.Took.Round(100*time.Millisecond), q.Delivered, q.Dead, q.Arrivals, q.Broken, q.Kills, q.Lost, q.Standstill.Round(time.Millisecond))
}

// Run enqueues, kills, waits and judges.
func (q Queue) Run(ctx context.Context) (out Queued, err error) {
	sink, err := NewSinkAt(q.Cluster.Host, func(label string, number, nth int) Answer {
		if q.Poison > 0 && number%q.Poison == q.Poison-1 || fails(label, number, nth, q.Failing) {
			return Answer{q.Work, 500}
		}
		return Answer{q.Work, 200}
	})
	if err != nil {
		return out, err
	}
	defer sink.Close()
	post := &Post{Cluster: q.Cluster}
	killer := &Killer{Cluster: q.Cluster, Down: q.Down}
	began := time.Now()
	ids := make([]string, q.Messages)
	killed := make(chan error, 1)
	killing, stop := context.WithCancel(ctx)
	defer stop()
	go func() { killed <- q.kill(killing, killer, sink) }()
	for number := range q.Messages {
		r, err := post.Publish(ctx, number, "/v2/enqueue/"+q.Label+"/"+sink.URL(q.Label, number), q.header(number), []byte(strconv.Itoa(number)))
		if err != nil {
			stop()
			<-killed
			return out, err
		}
		ids[number] = r.MessageID
	}
	all, err := post.settled(ctx, q.Label, q.Messages, q.Patience)
	stop()
	if e := <-killed; err == nil {
		err = e
	}
	if err != nil {
		return out, err
	}
	out = Queued{Messages: q.Messages, Kills: len(killer.Kills()), Took: time.Since(began)}
	return out, judgeQueue(&out, ids, all, sink.Arrivals(q.Label))
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

// judgeQueue holds the requests and the claims against the order of publication.
func judgeQueue(out *Queued, ids []string, all []Event, arrivals []Arrival) error {
	var wrong problems
	told := lives(all)
	number := map[string]int{}
	for n, id := range ids {
		number[id] = n
		l := told[id]
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
	judgeClaims(&wrong, number, all)
	judgeOrder(out, &wrong, ids, arrivals)
	return wrong.err()
}

// judgeClaims: claims follow one another, in order, none before the end of the message
// before.
func judgeClaims(wrong *problems, number map[string]int, all []Event) {
	open, done := -1, -1 // the message that is claimed, and the newest that has ended
	for _, v := range all {
		n, known := number[v.MessageID]
		if !known {
			wrong.add("message %s was never acknowledged: invented", v.MessageID)
			continue
		}
		switch v.State {
		case "ACTIVE":
			if open >= 0 || n != done+1 {
				wrong.add("message %d was claimed while %d was, and %d was the last to end", n, open, done)
			}
			open = n
		case "ERROR":
			open = -1
		case "DELIVERED", "FAILED", "CANCELED":
			open, done = -1, n
		}
	}
}

// judgeOrder: at the sink, no two requests at once, and none of a message after one of a
// later message has begun. Requests whose connection had broken don't count as running.
func judgeOrder(out *Queued, wrong *problems, ids []string, arrivals []Arrival) {
	slices.SortFunc(arrivals, func(a, b Arrival) int { return a.Begin.Compare(b.Begin) })
	for i := range arrivals {
		a := &arrivals[i]
		out.Arrivals++
		if a.Broken {
			out.Broken++
		}
		if a.Number < 0 || a.Number >= len(ids) || ids[a.Number] != a.Message {
			wrong.add("message %s came to address %d: invented", a.Message, a.Number)
		}
		if i == 0 {
			continue
		}
		before := &arrivals[i-1]
		out.Standstill = max(out.Standstill, a.Begin.Sub(before.Begin))
		if a.Number < before.Number || a.Number > before.Number+1 {
			wrong.add("message %d came after %d: out of order", a.Number, before.Number)
		}
		if a.Begin.Before(before.End) && !before.Broken {
			wrong.add("message %d came while %d was under way", a.Number, before.Number)
		}
	}
}
