package queue

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// TestPausedScheduleStaysPaused: what a schedule publishes, and when, may be replaced while it is paused. It stays paused, publishes
// nothing of the times that pass, and goes on with the next time once it is resumed.
func TestPausedScheduleStaysPaused(t *testing.T) {
	for _, misfire := range []Misfire{FireOnce, FireAll, FireNone} {
		w := newWorld(t)
		put := func(body string) {
			t.Helper()
			n := SchedulePut{ID: "s", Every: 1000, Misfire: misfire, Publish: url("a")}
			n.Publish.Body = []byte(body)
			if _, err := w.s.PutSchedule(w.env(), n); err != nil {
				t.Fatal(err)
			}
		}
		change := func(act Act) {
			t.Helper()
			if _, err := w.s.ChangeSchedule(w.env(), ScheduleChange{ID: "s", Act: act}); err != nil {
				t.Fatal(err)
			}
		}
		tick := func() (made []Attempt) {
			t.Helper()
			w.now += 1000
			var ticks []Tick
			for _, c := range w.s.DueSchedules(env.At(w.now), 10) {
				ticks = append(ticks, Tick{Schedule: c.ID, Version: c.Version, Nominals: []int64{c.Next}, Next: c.Next + c.Every})
			}
			return w.advance(10, ticks...)
		}
		put("old")
		change(ActPause)
		put("new")
		put("newer")
		if c, _ := w.s.Schedule("s"); !c.Paused {
			t.Errorf("misfire %d: a paused schedule goes on because it was put again", misfire)
		}
		for range 3 {
			if made := tick(); len(made) != 0 {
				t.Errorf("misfire %d: a paused schedule has published %d messages", misfire, len(made))
			}
		}
		change(ActResume)
		if made := tick(); len(made) != 1 || string(made[0].Content.Body) != "newer" {
			t.Errorf("misfire %d: %d messages of the first time after the pause", misfire, len(made))
		}
	}
}
