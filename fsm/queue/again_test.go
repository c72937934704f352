package queue

import (
	"reflect"
	"testing"
)

// TestSecondIdenticalRequestsChangeNothing: a client that has not learned the outcome of a request sends it again, later and
// through another node. Of whatever sets a state the second one leaves the store as it is, byte by byte; of flow-control
// keys, which remember when they were last used, what is told of them.
func TestSecondIdenticalRequestsChangeNothing(t *testing.T) {
	schedule := SchedulePut{ID: "s", Cron: "@every 1s", Every: 1000, Misfire: FireAll, Publish: Publication{
		URL: "http://a.example/", Body: []byte("body"), CallerIP: "10.0.0.1", DedupID: "once",
		Options: Options{
			Given: GivenHeader | GivenRedact | GivenRetries | GivenTrace | GivenCallback, Header: []Field{{"X-A", "1"}}, Redact: &Redaction{Body: true}, Retries: 2,
			Callback: &Callback{URL: "http://c.example/"}, Trace: TraceContext{Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
		},
	}}
	endpoints := GroupChange{Name: "g", Act: ActAddEndpoints, Endpoints: []Endpoint{{"a", "http://a.example/"}, {"", "http://b.example/"}}}
	for name, request := range map[string]func(w *world, again bool) error{ // unordered: independent cases
		"queue": func(w *world, _ bool) error {
			return w.changeQueue(QueueChange{Name: "q", Parallelism: 3, Paused: true})
		},
		"pause queue":  func(w *world, _ bool) error { return w.changeQueue(QueueChange{Name: "made", Act: ActPause}) },
		"resume queue": func(w *world, _ bool) error { return w.changeQueue(QueueChange{Name: "made", Act: ActResume}) },
		"delete queue": func(w *world, _ bool) error { return w.changeQueue(QueueChange{Name: "made", Act: ActDelete}) },
		"endpoints":    func(w *world, _ bool) error { _, err := w.s.ChangeGroup(w.env(), endpoints); return err },
		"headers of a group": func(w *world, _ bool) error {
			_, err := w.s.ChangeGroup(w.env(), GroupChange{Name: "g", Act: ActSetHeaders, Header: []Field{{"Upstash-Retries", "3"}}, Options: Options{Given: GivenRetries, Retries: 3}})
			return err
		},
		"delete group": func(w *world, _ bool) error {
			_, err := w.s.ChangeGroup(w.env(), GroupChange{Name: "g", Act: ActDelete})
			return err
		},
		"schedule": func(w *world, again bool) error {
			put := schedule
			if again { // what differs between two sends of a request
				put.Publish.CallerIP, put.Publish.Trace.Parent = "10.0.0.2", "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
				put.Next = w.now + 1
			}
			_, err := w.s.PutSchedule(w.env(), put)
			return err
		},
		"pause schedule": func(w *world, _ bool) error {
			_, err := w.s.ChangeSchedule(w.env(), ScheduleChange{"made", ActPause})
			return err
		},
		"resume schedule": func(w *world, _ bool) error {
			_, err := w.s.ChangeSchedule(w.env(), ScheduleChange{"made", ActResume})
			return err
		},
		"parallelism": func(w *world, _ bool) error { _, err := w.s.SetParallelism(w.env(), Parallelism{Max: 7}); return err },
		"settings": func(w *world, _ bool) error {
			n := w.s.Settings()
			n.MaxQueues = 17
			_, err := w.s.Configure(w.env(), n)
			return err
		},
		"given keys": func(w *world, _ bool) error {
			_, err := w.s.Rotate(w.env(), Rotation{Keys: Keys{Current: "a", Next: "b"}})
			return err
		},
		"a message with a deduplication id": func(w *world, _ bool) error {
			_, err := w.s.Publish(w.env(), Publications{Items: []Publication{{URL: "http://a.example/", DedupID: "d"}}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if err := w.changeQueue(QueueChange{Name: "made", Parallelism: 2, Paused: name == "resume queue"}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.s.PutSchedule(w.env(), SchedulePut{ID: "made", Cron: "@every 1m", Every: 60_000, Publish: url("made")}); err != nil {
				t.Fatal(err)
			}
			before := digest(t, w.s)
			if err := request(w, false); err != nil {
				t.Fatal(err)
			}
			once := digest(t, w.s)
			if once == before && name != "resume schedule" && name != "delete group" {
				t.Fatal("the first one changed nothing")
			}
			w.now += 300
			if err := request(w, true); err != nil {
				t.Fatal(err)
			}
			if digest(t, w.s) != once {
				t.Error("the second one changed something")
			}
		})
	}
	for _, act := range []FlowControlChange{{Key: "k", Act: ActPin, Parallelism: 2, Rate: 5}, {Key: "k", Act: ActPause}, {Key: "k", Act: ActResume}, {Key: "k", Act: ActUnpin, Rate: 1}} {
		w := newWorld(t)
		if _, err := w.s.ChangeFlowControl(w.env(), FlowControlChange{Key: "k", Act: ActPin, Rate: 9, Period: 60_000}); err != nil {
			t.Fatal(err)
		}
		once, err := w.s.ChangeFlowControl(w.env(), act)
		if err != nil {
			t.Fatal(err)
		}
		w.now += 300
		again, err := w.s.ChangeFlowControl(w.env(), act)
		again.used, again.idle, once.used, once.idle = 0, 0, 0, 0
		if err != nil || !reflect.DeepEqual(again, once) {
			t.Errorf("%+v: %+v, then %+v, %v", act, once, again, err)
		}
	}
}

func (w *world) changeQueue(n QueueChange) error {
	_, err := w.s.ChangeQueue(w.env(), n)
	return err
}

// TestScheduleOverwrites: what an overwrite says anew it changes; of the rest, only other times begin the timetable again.
func TestScheduleOverwrites(t *testing.T) {
	made := SchedulePut{ID: "s", Cron: "@every 1s", Every: 1000, Publish: Publication{URL: "http://a.example/", Body: []byte("one")}}
	cron := SchedulePut{ID: "s", Cron: "* * * * *", Next: start + 60_000, Publish: made.Publish}
	for name, c := range map[string]struct {
		first  SchedulePut
		change func(*SchedulePut)
		keeps  bool
	}{ // unordered: independent cases
		"another body":        {made, func(p *SchedulePut) { p.Publish.Body = []byte("two") }, true},
		"another destination": {made, func(p *SchedulePut) { p.Publish.URL = "http://b.example/" }, true},
		"another policy":      {made, func(p *SchedulePut) { p.Misfire = FireAll }, true},
		"another header": {made, func(p *SchedulePut) {
			p.Publish.Header, p.Publish.Given = []Field{{"X-A", "1"}}, GivenHeader
		}, true},
		"another body of a cron": {cron, func(p *SchedulePut) { p.Publish.Body, p.Next = nil, start+120_000 }, true},
		"another interval":       {made, func(p *SchedulePut) { p.Cron, p.Every = "@every 2s", 2000 }, false},
		"a cron":                 {made, func(p *SchedulePut) { p.Cron, p.Every, p.Next = "* * * * *", 0, start+60_000 }, false},
		"an interval":            {cron, func(p *SchedulePut) { p.Cron, p.Every = "@every 2s", 2000 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			put := func(p SchedulePut) Schedule {
				t.Helper()
				if _, err := w.s.PutSchedule(w.env(), p); err != nil {
					t.Fatal(err)
				}
				got, _ := w.s.Schedule("s")
				return got
			}
			first := put(c.first)
			w.now = first.Next
			after := first.Next + max(c.first.Every, 60_000)
			w.advance(10, Tick{Schedule: "s", Version: first.Version, Nominals: []int64{first.Next}, Next: after})
			if _, err := w.s.ChangeSchedule(w.env(), ScheduleChange{"s", ActPause}); err != nil {
				t.Fatal(err)
			}
			was, _ := w.s.Schedule("s")
			if was.Fired != first.Next || len(was.Messages) != 1 {
				t.Fatalf("%+v", was)
			}
			w.now += 300
			p := c.first
			c.change(&p)
			got := put(p)
			if !got.Paused || got.Cron != p.Cron || got.Misfire != p.Misfire || !got.Publish.sameContent(&p.Publish) || got.Version == was.Version {
				t.Errorf("%+v", got)
			}
			kept := got.Created == was.Created && got.Next == was.Next && got.Last == was.Last && got.Fired == was.Fired && reflect.DeepEqual(got.Messages, was.Messages)
			if kept != c.keeps || w.s.schedules.ticks.Len()+w.s.schedules.times.Len() != 1 {
				t.Errorf("%+v\nbecame\n%+v", was, got)
			}
		})
	}
}
