package deliveries

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// FlowLimit is a flow-control key of a Flow run.
type FlowLimit struct {
	Key         string
	Rate        int           // claims in a Period, 0 for no limit
	Period      time.Duration // whole seconds
	Parallelism int           // claims at a time, 0 for no limit
	Messages    int
	// LeastUsed is the part of the rate that has to be used while messages wait; 0 is 0.95.
	LeastUsed float64
	Work      time.Duration // what the sink takes for one
}

func (l FlowLimit) value() string {
	text := ""
	if l.Rate > 0 {
		text = fmt.Sprintf("rate=%d, period=%v", l.Rate, l.Period)
	}
	if l.Parallelism > 0 {
		if text != "" {
			text += ", "
		}
		text += "parallelism=" + strconv.Itoa(l.Parallelism)
	}
	return text
}

// Flow is a run in which more is published at once than flow control lets through.
type Flow struct {
	Cluster *testcluster.Cluster
	Label   string
	Limits  []FlowLimit
	Clients int
	// KillAfter are the times, from the end of the publishing, at which the leader is
	// killed.
	KillAfter []time.Duration
	Down      time.Duration
	Patience  time.Duration
}

// FlowResult is the result for one key.
type FlowResult struct {
	Key      string
	Messages int
	// Windows are the whole windows in which messages waited, Most the most claims in one,
	// Used the part of the allowed rate that was claimed in them.
	Windows, Most int
	Used          float64
	// Open is the most claims open at a time, AtOnce the most requests at the sink at a
	// time, Burst the most requests at the sink in a window less a round trip.
	Open, AtOnce, Burst int
	Kills               int
}

// String is a line for people.
func (r FlowResult) String() string {
	return fmt.Sprintf("%s: %d messages, %d leaders killed; in %d windows at most %d claims, %.1f %% of the rate used; at most %d claims open; at the sink at most %d at once and %d in a window",
		r.Key, r.Messages, r.Kills, r.Windows, r.Most, 100*r.Used, r.Open, r.AtOnce, r.Burst)
}

// Run publishes everything at once, kills, waits and judges.
func (f Flow) Run(ctx context.Context) (out []FlowResult, err error) {
	work := map[string]time.Duration{}
	for _, l := range f.Limits {
		work[f.label(l)] = l.Work
	}
	sink, err := NewSink(func(label string, _, _ int) Answer { return Answer{Wait: work[label], Status: 200} })
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	publisher := &Publisher{Cluster: f.Cluster}
	for _, l := range f.Limits {
		if err := f.publish(ctx, publisher, sink, l); err != nil {
			return nil, err
		}
	}
	killer := &Killer{Cluster: f.Cluster, Down: f.Down}
	began := time.Now()
	for _, after := range f.KillAfter {
		Sleep(ctx, after-time.Since(began))
		if err := killer.Kill(ctx); err != nil {
			return nil, err
		}
	}
	for _, l := range f.Limits {
		all, err := publisher.settled(ctx, f.label(l), l.Messages, f.Patience)
		if err != nil {
			return out, fmt.Errorf("%s: %w", l.Key, err)
		}
		one := FlowResult{Key: l.Key + " (" + l.value() + ")", Messages: l.Messages, Kills: len(killer.Kills())}
		err = judgeFlow(&one, l, all, sink.Arrivals(f.label(l)))
		if out = append(out, one); err != nil {
			return out, fmt.Errorf("%v: %w", one, err)
		}
	}
	return out, nil
}

func (f Flow) label(l FlowLimit) string { return f.Label + "-" + l.Key }

func (f Flow) publish(ctx context.Context, publisher *Publisher, sink *Sink, l FlowLimit) error {
	label := f.label(l)
	return parallel(ctx, f.Clients, l.Messages, func(ctx context.Context, client, number int) error {
		_, err := publisher.Publish(ctx, client, "/v2/publish/"+sink.URL(label, number), map[string]string{
			"Upstash-Label": label, "Upstash-Flow-Control-Key": label, "Upstash-Flow-Control-Value": l.value(),
			"Upstash-Deduplication-Id": fmt.Sprintf("%s-%d", label, number),
		}, nil)
		return err
	})
}

// leastUsed is the part of the allowed rate that has to be used while messages wait.
const leastUsed = 0.95

func (l *FlowLimit) leastUsed() float64 {
	if l.LeastUsed > 0 {
		return l.LeastUsed
	}
	return leastUsed
}

// judgeFlow holds claims and requests against the limits.
func judgeFlow(out *FlowResult, l FlowLimit, all []Event, arrivals []Arrival) error {
	var wrong problems
	for id, told := range lives(all) {
		if len(told.ends) != 1 {
			wrong.add("message %s did not end once: %v", id, told.ends)
		}
	}
	if l.Rate > 0 {
		judgeRate(out, &wrong, l, all)
		judgeBursts(out, &wrong, l, all, arrivals)
	}
	if l.Parallelism > 0 {
		judgeOpen(out, &wrong, l, all)
		judgeAtOnce(out, &wrong, l, arrivals)
	}
	return wrong.err()
}

// judgeRate counts claims in windows, which follow one another from the first message on.
func judgeRate(out *FlowResult, wrong *problems, l FlowLimit, all []Event) {
	period := l.Period.Milliseconds()
	claims := map[int64]int{}
	first, last := int64(-1), int64(0)
	for _, v := range all {
		if v.State == "ACTIVE" {
			window := (v.Time - all[0].Time) / period
			claims[window]++
			if first < 0 {
				first = window
			}
			last = window
		}
	}
	for window, n := range claims {
		if out.Most = max(out.Most, n); n > l.Rate {
			wrong.add("%d claims in window %d, %d are allowed", n, window, l.Rate)
		}
	}
	used := 0
	for window := first + 1; window < last; window++ { // whole, and with messages that waited
		out.Windows++
		used += claims[window]
	}
	if out.Windows == 0 {
		wrong.add("no whole window: too few messages")
		return
	}
	if out.Used = float64(used) / float64(out.Windows*l.Rate); out.Used < l.leastUsed() && l.Parallelism == 0 {
		wrong.add("%.1f %% of the rate was used", 100*out.Used)
	}
}

// judgeBursts: at the sink, in each window less the time that requests take to get there,
// there is at most one request more than the rate.
func judgeBursts(out *FlowResult, wrong *problems, l FlowLimit, all []Event, arrivals []Arrival) {
	claimed := map[string]int64{}
	for _, v := range all {
		if v.State == "ACTIVE" && claimed[v.MessageID] == 0 {
			claimed[v.MessageID] = v.Time
		}
	}
	at := func(a *Arrival) int64 { return a.Begin.UnixMilli() }
	var ways []int64 // from the claim to the sink, with the difference of the clocks in it
	for i := range arrivals {
		if arrivals[i].Retried == 0 {
			ways = append(ways, at(&arrivals[i])-claimed[arrivals[i].Message])
		}
	}
	if len(ways) == 0 {
		wrong.add("nothing came to the sink")
		return
	}
	slices.Sort(ways)
	shortest, trip := ways[0], ways[len(ways)*99/100]-ways[0]
	period, counts := l.Period.Milliseconds(), map[int64]int{}
	for i := range arrivals {
		into := at(&arrivals[i]) - shortest - all[0].Time
		if into%period >= trip {
			counts[into/period]++
		}
	}
	for _, window := range slices.Sorted(maps.Keys(counts)) {
		if out.Burst = max(out.Burst, counts[window]); counts[window] > l.Rate+1 {
			wrong.add("%d requests at the sink in window %d, %d are allowed", counts[window], window, l.Rate)
		}
	}
}

// judgeOpen counts claims that are open at a time, in the order of the log.
func judgeOpen(out *FlowResult, wrong *problems, l FlowLimit, all []Event) {
	open := map[string]bool{}
	for _, v := range all {
		switch v.State {
		case "ACTIVE":
			open[v.MessageID] = true
		case "ERROR", "DELIVERED":
			delete(open, v.MessageID)
		}
		if out.Open = max(out.Open, len(open)); len(open) > l.Parallelism {
			wrong.add("%d claims are open at %d, %d are allowed", len(open), v.Time, l.Parallelism)
		}
	}
}

// judgeAtOnce counts requests under way at a time at the sink. One whose connection has
// broken counts as over when it was found so.
func judgeAtOnce(out *FlowResult, wrong *problems, l FlowLimit, arrivals []Arrival) {
	type edge struct {
		at time.Time
		by int
	}
	var edges []edge
	for _, a := range arrivals {
		if !a.Broken {
			edges = append(edges, edge{a.Begin, 1}, edge{a.End, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return a.at.Compare(b.at) })
	open := 0
	for _, e := range edges {
		open += e.by
		out.AtOnce = max(out.AtOnce, open)
	}
	if out.AtOnce > l.Parallelism {
		wrong.add("%d requests at once at the sink, %d are allowed", out.AtOnce, l.Parallelism)
	}
}
