package deliveries

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// Delivery is a run in which clients publish through all nodes, a part of the attempts
// fails, and leaders are killed.
type Delivery struct {
	Cluster *testcluster.Cluster
	Label   string
	// Messages are published by Clients at a time, with Retries retries.
	Messages, Clients, Retries int
	// Failing is the part of attempts that fail, in percent.
	Failing int
	// KillEvery is the time between two kills, Down how long a killed node stays away.
	KillEvery, Down time.Duration
	// Patience bounds the time from the last publication until everything is done.
	Patience time.Duration
}

// DeliveryResult is the result of a Delivery.
type DeliveryResult struct {
	Messages, Kills int
	// Delivered and Dead count the messages by their end.
	Delivered, Dead int
	// Attempts are the claims, Arrivals the requests at the sink.
	Attempts, Arrivals int
	// Lost are the claims that were open when a leader was lost; Repeats are the successes
	// at the sink beyond the first of each message.
	Lost, Repeats int
	// Again is the number of publications that were repeated because no acknowledgement came.
	Again int64
	// Publishing and Took are the times until all were published, and done.
	Publishing, Took time.Duration
}

// String is a line for people.
func (r DeliveryResult) String() string {
	return fmt.Sprintf("%d messages in %v (published in %v, %d publications sent again): %d delivered, %d dead letters, %d attempts, %d requests, %d leaders killed, %d claims open at the kills, %d repeated deliveries",
		r.Messages, r.Took.Round(100*time.Millisecond), r.Publishing.Round(100*time.Millisecond), r.Again, r.Delivered, r.Dead, r.Attempts, r.Arrivals, r.Kills, r.Lost, r.Repeats)
}

// fails decides by chance, the same in each run, which attempts fail.
func fails(label string, number, nth, percent int) bool {
	h := fnv.New64a()
	h.Write([]byte(label))
	chance := rand.New(rand.NewPCG(h.Sum64(), uint64(number)<<16|uint64(nth)))
	return chance.IntN(100) < percent
}

// Run publishes, waits, and judges.
func (d Delivery) Run(ctx context.Context) (out DeliveryResult, err error) {
	sink, err := NewSinkAt(d.Cluster.Host, func(label string, number, nth int) Answer {
		if fails(label, number, nth, d.Failing) {
			return Answer{Status: 500}
		}
		return Answer{Status: 200}
	})
	if err != nil {
		return out, err
	}
	defer sink.Close()
	publisher := &Publisher{Cluster: d.Cluster}
	killer := &Killer{Cluster: d.Cluster, Down: d.Down}
	acked := make([]string, d.Messages)
	began := time.Now()
	var all []Event
	err = whileKilling(ctx, killer, d.KillEvery, func(ctx context.Context) error {
		err := parallel(ctx, d.Clients, d.Messages, func(ctx context.Context, client, number int) error {
			r, err := publisher.Publish(ctx, client, "/v2/publish/"+sink.URL(d.Label, number), d.header(number), []byte("message "+strconv.Itoa(number)))
			acked[number] = r.MessageID
			return err
		})
		out.Publishing = time.Since(began)
		if err != nil {
			return err
		}
		all, err = publisher.settled(ctx, d.Label, d.Messages, d.Patience)
		return err
	})
	out.Took = time.Since(began)
	if err != nil {
		return out, err
	}
	dead, err := publisher.Dead(ctx, d.Label)
	if err != nil {
		return out, err
	}
	out.Messages, out.Kills, out.Again = d.Messages, len(killer.Kills()), publisher.Again.Load()
	return out, judgeDelivery(&out, d.Retries, acked, all, dead, sink.Arrivals(d.Label))
}

func (d Delivery) header(number int) map[string]string {
	return map[string]string{
		"Upstash-Retries": strconv.Itoa(d.Retries), "Upstash-Label": d.Label, "Upstash-Retry-Delay": "200",
		"Upstash-Deduplication-Id": fmt.Sprintf("%s-%d", d.Label, number),
	}
}

// ErrUnsettled says that messages were not done in time.
var ErrUnsettled = errors.New("messages are not done")

// settled waits until so many messages of a label have their last event, and gives all events.
func (p *Publisher) settled(ctx context.Context, label string, messages int, patience time.Duration) ([]Event, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for pause := 500 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		ended, err := p.Events(ctx, label, "DELIVERED", "FAILED", "CANCELED")
		if err != nil {
			return nil, err
		}
		done := map[string]bool{}
		for _, v := range ended {
			done[v.MessageID] = true
		}
		if len(done) >= messages {
			return p.Events(ctx, label)
		}
		if Sleep(ctx, pause); ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %d of %d after %v", ErrUnsettled, len(done), messages, patience)
		}
	}
}

// life counts the events of one message.
type life struct {
	claims, lost, failed int
	ends                 []string
}

func lives(all []Event) map[string]*life {
	m := map[string]*life{}
	for _, v := range all {
		l := m[v.MessageID]
		if l == nil {
			l = &life{}
			m[v.MessageID] = l
		}
		switch v.State {
		case "ACTIVE":
			l.claims++
		case "ERROR":
			if v.Lost() {
				l.lost++
			} else {
				l.failed++
			}
		case "DELIVERED", "FAILED", "CANCELED":
			l.ends = append(l.ends, v.State)
		}
	}
	return m
}

// judgeDelivery counts, and says what must not be. acked are the acknowledged ids by
// number.
func judgeDelivery(out *DeliveryResult, retries int, acked []string, all []Event, dead []string, arrivals []Arrival) error {
	var wrong problems
	numbers := map[string]int{}
	for number, id := range acked {
		if other, twice := numbers[id]; twice || id == "" {
			wrong.add("messages %d and %d share the id %q", number, other, id)
		}
		numbers[id] = number
	}
	byMessage := lives(all)
	for id := range byMessage {
		if _, known := numbers[id]; !known {
			wrong.add("message %s was never acknowledged: invented", id)
		}
	}
	buried := map[string]int{}
	for _, id := range dead {
		buried[id]++
	}
	taken := judgeArrivals(out, &wrong, acked, arrivals)
	for _, id := range slices.Sorted(maps.Keys(numbers)) {
		number := numbers[id]
		l := byMessage[id]
		if l == nil {
			wrong.add("message %d has no events: lost", number)
			continue
		}
		judgeLife(out, &wrong, retries, number, l, buried[id], taken[number])
	}
	if out.Repeats > out.Lost {
		wrong.add("%d repeated deliveries, but only %d claims were open at the kills", out.Repeats, out.Lost)
	}
	return wrong.err()
}

// judgeArrivals counts the successes at the sink by number.
func judgeArrivals(out *DeliveryResult, wrong *problems, acked []string, arrivals []Arrival) map[int]int {
	taken := map[int]int{}
	for i := range arrivals {
		a := &arrivals[i]
		if a.Number < 0 || a.Number >= len(acked) || acked[a.Number] != a.Message {
			wrong.add("message %s came to address %d: invented", a.Message, a.Number)
			continue
		}
		out.Arrivals++
		if a.Status/100 == 2 {
			if taken[a.Number]++; taken[a.Number] > 1 {
				out.Repeats++
			}
		}
	}
	return taken
}

// judgeLife checks one message: buried is the number of its dead letters, taken the number of times
// that the sink accepted it.
func judgeLife(out *DeliveryResult, wrong *problems, retries, number int, l *life, buried, taken int) {
	out.Attempts += l.claims
	out.Lost += l.lost
	if len(l.ends) != 1 {
		wrong.add("message %d ended %d times: %v", number, len(l.ends), l.ends)
		return
	}
	switch end := l.ends[0]; {
	case end == "DELIVERED":
		out.Delivered++
		if taken == 0 || buried != 0 {
			wrong.add("message %d is delivered, but the sink took it %d times, and it has %d dead letters", number, taken, buried)
		}
	case end == "FAILED":
		out.Dead++
		if buried != 1 || l.failed == 0 {
			wrong.add("message %d failed: %d dead letters, %d failed attempts", number, buried, l.failed)
		}
	default:
		wrong.add("message %d ended as %s", number, end)
	}
	if l.claims > 1+retries+l.lost {
		wrong.add("message %d was attempted %d times with %d retries and %d lost claims", number, l.claims, retries, l.lost)
	}
}
