package deliveries

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/internal/failpoint"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// Timetables is a run of schedules through kills of the leader and wrong clocks. The
// nodes' binary has to be built with failpoints.
type Timetables struct {
	Cluster *testcluster.Cluster
	Label   string
	// Schedules fire every 1 to 7 s, one after the other.
	Schedules int
	// Kills is the number of leaders that are killed, each KillEvery after the previous one.
	Kills           int
	KillEvery, Down time.Duration
	// Jump is the amount by which the wall clock of one node at a time is wrong, forwards and
	// backwards; before each kill another one is.
	Jump time.Duration
	Seed uint64
}

// TimetablesResult is the result of Timetables.
type TimetablesResult struct {
	Schedules, Kills, Jumps, Ticks, Identified int
	// Latest is the greatest delay of a tick, by cluster time; Drift is the greatest difference between
	// cluster time and the monotonic clock of the harness.
	Latest, Drift, Took time.Duration
}

// String is a line for people.
func (r TimetablesResult) String() string {
	return fmt.Sprintf("%d schedules in %v: %d ticks, %d of them seen with their nominal time, the latest %v late; %d leaders killed, %d clocks set, cluster time drifted %v",
		r.Schedules, r.Took.Round(100*time.Millisecond), r.Ticks, r.Identified, r.Latest, r.Kills, r.Jumps, r.Drift)
}

// timetable is a schedule as the cluster tells it.
type timetable struct {
	ID       string            `json:"scheduleId"`
	Created  int64             `json:"createdAt"`
	Fired    int64             `json:"lastScheduleTime"`
	Messages map[string]string `json:"lastScheduleStates"`
	every    time.Duration
	ticks    map[string]int64 // nominal times of messages, as far as they were seen
}

// Run makes the schedules, kills and sets clocks, pauses the schedules, and judges.
func (ti Timetables) Run(ctx context.Context) (out TimetablesResult, err error) {
	sink, err := NewSinkAt(ti.Cluster.Host, func(string, int, int) Answer { return Answer{Status: 200} })
	if err != nil {
		return out, err
	}
	defer sink.Close()
	publisher := &Publisher{Cluster: ti.Cluster}
	began := time.Now()
	all, err := ti.make(ctx, publisher, sink)
	if err != nil {
		return out, err
	}
	w := &watcher{publisher: publisher, all: all}
	watching, stop := context.WithCancel(ctx)
	var watched sync.WaitGroup
	watched.Go(func() { w.watch(watching) })
	kills, jumps, err := ti.injectFaults(ctx)
	stop()
	watched.Wait()
	if err != nil {
		return out, err
	}
	if err := ti.pause(ctx, publisher, all); err != nil {
		return out, err
	}
	if err := w.look(ctx); err != nil { // the last ticks
		return out, err
	}
	created, err := publisher.Events(ctx, ti.Label, "CREATED")
	if err != nil {
		return out, err
	}
	out = TimetablesResult{Schedules: len(all), Kills: kills, Jumps: jumps, Took: time.Since(began), Drift: w.drift}
	return out, judgeTicks(&out, all, created)
}

func (ti Timetables) make(ctx context.Context, publisher *Publisher, sink *Sink) (map[string]*timetable, error) {
	all := map[string]*timetable{}
	for i := range ti.Schedules {
		t := &timetable{ID: fmt.Sprintf("%s-%d", ti.Label, i), every: time.Duration(i%7+1) * time.Second, ticks: map[string]int64{}}
		header := map[string]string{
			"Upstash-Cron": "@every " + t.every.String(), "Upstash-Schedule-Id": t.ID, "Upstash-Label": ti.Label,
		}
		if _, err := publisher.Publish(ctx, i, "/v2/schedules/"+sink.URL(ti.Label, i), header, nil); err != nil {
			return nil, err
		}
		if err := publisher.Read(ctx, "/v2/schedules/"+t.ID, t); err != nil {
			return nil, err
		}
		all[t.ID] = t
	}
	return all, nil
}

// injectFaults sets a clock and kills the leader, again and again.
func (ti Timetables) injectFaults(ctx context.Context) (kills, jumps int, err error) {
	rng := rand.New(rand.NewPCG(ti.Seed, 0))
	killer := &Killer{Cluster: ti.Cluster, Down: ti.Down}
	defer ti.reset()
	for i := range ti.Kills {
		if ti.Jump > 0 {
			if err := ti.setClock(ctx, rng, i); err != nil {
				return kills, jumps, err
			}
			jumps++
		}
		if Sleep(ctx, ti.KillEvery); ctx.Err() != nil {
			return kills, jumps, ctx.Err()
		}
		if err := killer.Kill(ctx); err != nil {
			return kills, jumps, err
		}
		kills++
	}
	Sleep(ctx, ti.KillEvery)
	return kills, jumps, ctx.Err()
}

// setClock sets the clock of one node wrong, and those of the others right: in turns that
// of the leader and that of another, forwards and backwards.
func (ti Timetables) setClock(ctx context.Context, rng *rand.Rand, i int) error {
	leader, err := ti.Cluster.WaitLeader(ctx)
	if err != nil {
		return err
	}
	wrong := leader.Node
	if i%2 == 1 {
		wrong = (leader.Node + 1 + rng.IntN(ti.Cluster.Size()-1)) % ti.Cluster.Size()
	}
	by := ti.Jump
	if i/2%2 == 1 {
		by = -by
	}
	for j, node := range ti.Cluster.Nodes {
		spec := ""
		if j == wrong {
			spec = fmt.Sprintf("%s=offset(%v)", failpoint.WallClock, by)
		}
		err = errors.Join(err, node.Arm(spec))
	}
	return err
}

func (ti Timetables) reset() {
	for _, node := range ti.Cluster.Nodes {
		node.Arm("")
	}
}

func (ti Timetables) pause(ctx context.Context, publisher *Publisher, all map[string]*timetable) error {
	for _, id := range slices.Sorted(maps.Keys(all)) {
		err := testcluster.Poll(ctx, 10*time.Millisecond, func() error {
			status, _, reply, err := ti.Cluster.Nodes[0].Messages().Call(ctx, http.MethodPatch, "/v2/schedules/"+id+"/pause", nil, nil)
			if err != nil || status/100 != 2 {
				return fmt.Errorf("pause %s: status %d: %.200s: %w", id, status, reply, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// watcher looks at the schedules again and again, for the nominal times of their
// messages.
type watcher struct {
	publisher *Publisher
	all       map[string]*timetable
	first     time.Duration // cluster time less the monotonic clock, at the first look
	drift     time.Duration
	begun     time.Time
}

const watchEvery = 250 * time.Millisecond

func (w *watcher) watch(ctx context.Context) {
	for ctx.Err() == nil {
		w.look(ctx) // what one look misses the next may see
		Sleep(ctx, watchEvery)
	}
}

func (w *watcher) look(ctx context.Context) error {
	var list []timetable
	if err := w.publisher.Read(ctx, "/v2/schedules", &list); err != nil {
		return err
	}
	newest := int64(0)
	for i := range list {
		t := w.all[list[i].ID]
		if t == nil {
			continue // of another run
		}
		newest = max(newest, list[i].Fired)
		t.Fired = list[i].Fired
		for id := range list[i].Messages {
			t.ticks[id] = list[i].Fired
		}
	}
	w.compare(newest)
	return nil
}

// compare holds the newest tick against the harness's clock: one fires every second.
func (w *watcher) compare(newest int64) {
	if newest == 0 {
		return
	}
	now := time.Now()
	if w.begun.IsZero() {
		w.begun = now
		w.first = time.Duration(newest) * time.Millisecond
		return
	}
	w.drift = max(w.drift, (time.Duration(newest)*time.Millisecond - w.first - now.Sub(w.begun)).Abs())
}

// mostLate is the misfire window: a tick that is later is one of the misfire rule, which
// only an outage as long can make.
const mostLate = 10 * time.Second

// mostDrift bounds by how much cluster time may part from true time in a run; a tick is
// seen up to a second late, and an election holds time up.
const mostDrift = 30 * time.Second

// judgeTicks: the k-th message of a schedule is that of its k-th time, and there is one
// for each time that has come.
func judgeTicks(out *TimetablesResult, all map[string]*timetable, created []Event) error {
	var wrong problems
	messages := map[string][]Event{}
	for _, v := range created {
		messages[v.ScheduleID] = append(messages[v.ScheduleID], v)
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		t := all[id]
		every := t.every.Milliseconds()
		for i, v := range messages[id] {
			nominal := t.Created + int64(i+1)*every
			late := time.Duration(v.Time-nominal) * time.Millisecond
			out.Latest = max(out.Latest, late)
			if late < 0 || late > mostLate {
				wrong.add("%s: message %d was made %v after its time: a tick is doubled or missing", id, i+1, late)
			}
			if seen, ok := t.ticks[v.MessageID]; ok {
				if out.Identified++; seen != nominal {
					wrong.add("%s: message %d is that of %d, want %d: a tick is doubled or missing", id, i+1, seen, nominal)
				}
			}
		}
		out.Ticks += len(messages[id])
		if want := int((t.Fired - t.Created) / every); len(messages[id]) != want || want == 0 {
			wrong.add("%s: %d messages for %d ticks", id, len(messages[id]), want)
		}
		delete(messages, id)
	}
	for id := range messages {
		wrong.add("messages of a schedule %q that nobody made", id)
	}
	if out.Drift > mostDrift {
		wrong.add("cluster time drifted by %v", out.Drift)
	}
	return wrong.err()
}
