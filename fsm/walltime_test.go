package fsm_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// held is a machine whose wall time stays behind its cluster time as the test says.
type held struct {
	*testing.T
	m     *fsm.Machine
	index uint64
	now   int64
	held  int64
	back  int64
	leapt bool
}

func newHeldClock(t *testing.T, level env.Level) *held {
	h := &held{T: t, m: fsm.NewMachine(), now: 1_790_000_000_000}
	h.apply(fsm.NewTerm.Code, fsm.NewTerm.Body(fsm.Term{Number: 1, Leader: "n1"}))
	h.apply(fsm.SetLevel.Code, fsm.SetLevel.Body(fsm.LevelChange{Level: level}))
	return h
}

func (h *held) apply(code uint16, body []byte) any {
	h.Helper()
	h.index++
	e := fsm.Entry{Stamp: h.now, Held: h.held, SetBack: h.back, Leapt: h.leapt, Term: 1, Requests: []fsm.Request{{Code: code, Body: body}}}
	o, err := h.m.Apply(h.index, 1, e.Encode())
	if err != nil || o[0].Status != fsm.Applied || o[0].Err != nil {
		h.Fatalf("%v %+v", err, o)
	}
	return o[0].Value
}

func (h *held) do(row string) string {
	h.Helper()
	var argv [][]byte
	for _, word := range strings.Fields(row) {
		argv = append(argv, []byte(word))
	}
	v := h.apply(fsm.Exec.Code, fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{argv}}))
	r := v.(fsm.Results).Values[0]
	if s := r.Text(); s != "" {
		return s
	}
	return strconv.FormatInt(r.Int(), 10)
}

func (h *held) advance(ticks ...queue.Tick) []queue.Attempt {
	h.Helper()
	return h.apply(fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{Sweep: 200, Deliver: true, Term: 1, Claims: 10, Ticks: ticks})).(fsm.Advanced).Attempts
}

// pass lets time pass: cluster time by ms, wall time by as much less as the lag grows.
func (h *held) pass(ms, lag int64) { h.now, h.held = h.now+ms, h.held+lag }

// check compares the state with one that was read from its snapshot.
func (h *held) check() {
	h.Helper()
	var b bytes.Buffer
	if err := h.m.Fork().Write(&b); err != nil {
		h.Fatal(err)
	}
	n := fsm.NewMachine()
	if err := n.Restore(&b); err != nil {
		h.Fatal(err)
	}
	if n.Fork().Digest() != h.m.Fork().Digest() || n.Time() != h.m.Time() {
		h.Errorf("restored: %v, was %v", n.Time(), h.m.Time())
	}
	h.m = n
}

// TestTimesOfDayWait: while wall time waits, what was given as a time of day is there, for commands and readers, swept or not,
// and what was given as a duration goes. A hash may have both.
func TestTimesOfDayWait(t *testing.T) {
	h := newHeldClock(t, env.Files)
	at := strconv.FormatInt(h.now+1000, 10)
	for _, row := range []string{
		"SET day v PXAT " + at, "SET time v PX 1000", "SET moved v", "PEXPIREAT moved " + at, "HSET mixed day v time v rest v", "HPEXPIREAT mixed " + at + " FIELDS 1 day",
		"HPEXPIRE mixed 1000 FIELDS 1 time", "HSET both day v time v", "HPEXPIREAT both " + at + " FIELDS 1 day", "HPEXPIRE both 1000 FIELDS 1 time",
		"HSET key f v g v", "HPEXPIREAT key " + at + " FIELDS 2 f g", "PEXPIRE key 1500",
	} {
		h.do(row)
	}
	h.pass(1200, 1200)
	for row, want := range map[string]string{
		"EXISTS day": "1", "EXISTS time": "0", "EXISTS moved": "1", "PTTL day": "1000", "PEXPIRETIME day": at, "HLEN mixed": "2", "HEXISTS mixed day": "1", "HEXISTS mixed time": "0",
		"HLEN both": "1", "HLEN key": "2", "DBSIZE": "5",
	} {
		if got := h.do(row); got != want {
			t.Errorf("held: %s is %s, want %s", row, got, want)
		}
	}
	h.advance()
	h.check()
	if due, ok := h.m.NextDue(); !ok || due <= h.now {
		t.Errorf("what is held is due at %d, now %d", due, h.now)
	}
	h.pass(400, 400)
	if got := h.do("EXISTS key"); got != "0" {
		t.Error("a hash outlives its own deadline because its fields wait")
	}
	h.pass(1300, -300) // wall time has come
	for row, want := range map[string]string{"EXISTS day": "0", "EXISTS moved": "0", "HLEN mixed": "1", "EXISTS both": "0"} {
		if got := h.do(row); got != want {
			t.Errorf("wall time has come: %s is %s, want %s", row, got, want)
		}
	}
	h.advance()
	h.check()
	if got := h.do("DBSIZE"); got != "1" {
		t.Errorf("swept: %s keys, want 1", got)
	}
	if _, ok := h.m.NextDue(); ok {
		t.Error("something is due")
	}
}

// TestTimesOfDayOfFormerLevel: below the level that knows them, deadlines are by cluster time.
func TestTimesOfDayOfFormerLevel(t *testing.T) {
	h := newHeldClock(t, env.Base)
	h.do("SET day v PXAT " + strconv.FormatInt(h.now+1000, 10))
	h.apply(fsm.SetLevel.Code, fsm.SetLevel.Body(fsm.LevelChange{Level: env.Files}))
	h.pass(1200, 1200)
	if got := h.do("EXISTS day"); got != "0" {
		t.Error("there after its time")
	}
}

// TestMessagesWaitForWallTime: a message with a time of day and a schedule of times of day wait for wall time, a delay and @every do not.
// The former can be run now.
func TestMessagesWaitForWallTime(t *testing.T) {
	h := newHeldClock(t, env.Files)
	publish := func(o queue.Options) queue.ID {
		p := queue.Publications{Items: []queue.Publication{{URL: "http://example.com/", Options: o}}}
		return h.apply(fsm.Publish.Code, fsm.Publish.Body(p)).(queue.Receipts).Items[0].Messages[0].ID
	}
	day := publish(queue.Options{Given: queue.GivenNotBefore, NotBefore: h.now + 1000})
	other := publish(queue.Options{Given: queue.GivenNotBefore, NotBefore: h.now + 1000})
	delayed := publish(queue.Options{Given: queue.GivenDelay, Delay: 1000})
	begun := h.now
	for id, put := range map[string]queue.SchedulePut{"cron": {Cron: "* * * * *", Next: h.now + 1000}, "every": {Cron: "@every 1s", Every: 1000}} {
		put.ID, put.Publish = id, queue.Publication{URL: "http://example.com/" + id}
		h.apply(fsm.PutSchedule.Code, fsm.PutSchedule.Body(put))
	}
	h.advance()
	due := func() (ids []string, ticks []queue.Tick) {
		h.m.View(0, [16]byte{}, func(v *fsm.View) {
			for _, c := range v.DueSchedules(10) {
				ids = append(ids, c.ID)
				ticks = append(ticks, queue.Tick{Schedule: c.ID, Version: c.Version, Nominals: []int64{c.Next}, Next: c.Next + 60_000})
			}
		})
		return ids, ticks
	}
	h.pass(1200, 1200)
	h.do("PING")
	ids, ticks := due()
	if strings.Join(ids, " ") != "every" {
		t.Fatalf("due: %v", ids)
	}
	var urls []string
	for _, a := range h.advance(ticks...) {
		if a.ID == day || a.ID == other {
			t.Error("a message was claimed before its time of day")
		}
		urls = append(urls, a.Content.URL)
	}
	if len(urls) != 2 {
		t.Errorf("claimed: %v, want the delayed one %v and that of @every", urls, delayed)
	}
	h.check()
	if at, ok := h.m.NextMessage(); !ok || at <= h.now {
		t.Errorf("what is held is due at %d, now %d", at-h.now, h.now)
	}
	h.apply(fsm.RunNow.Code, fsm.RunNow.Body(queue.RunNow{ID: other}))
	if got := h.advance(); len(got) != 1 || got[0].ID != other {
		t.Errorf("run now: %v", got)
	}
	for range 200 { // the cluster's timers
		if h.now-h.held >= begun+1000 {
			break
		}
		at, _ := h.m.NextMessage()
		step := max(at-h.now, 1)
		h.pass(step, -step/9) // slower by a tenth
		for _, a := range h.advance() {
			if a.ID == day && h.now-h.held < begun+1000 {
				t.Fatalf("claimed %d ms early", begun+1000-h.now+h.held)
			}
			if a.ID == day {
				day = queue.ID{}
			}
		}
	}
	if late := h.now - h.held - begun - 1000; day != (queue.ID{}) || late > 1100 {
		t.Errorf("not claimed %d ms after its time of day", late)
	}
	if ids, _ := due(); strings.Join(ids, " ") != "cron" {
		t.Errorf("due in the end: %v", ids)
	}
}

// TestTimesOfDayAfterClocksWereSetBack: wall time does not go back with the clocks, yet a time of day that is given then, and that they do
// not show, has not come. One that they do show has.
func TestTimesOfDayAfterClocksWereSetBack(t *testing.T) {
	h := newHeldClock(t, env.Files)
	h.back = 3_600_000
	right := h.now - h.back
	h.do("SET past v PXAT " + strconv.FormatInt(right-1, 10))
	h.do("SET soon v PXAT " + strconv.FormatInt(right+1000, 10))
	h.do("HSET hash f v")
	h.do("HPEXPIREAT hash " + strconv.FormatInt(right+1000, 10) + " FIELDS 1 f")
	o := queue.Options{Given: queue.GivenNotBefore, NotBefore: right + 1000}
	h.apply(fsm.Publish.Code, fsm.Publish.Body(queue.Publications{Items: []queue.Publication{{URL: "http://example.com/", Options: o}}}))
	h.pass(990, 990)
	h.back -= 1100
	if got := h.do("EXISTS past soon hash"); got != "2" {
		t.Errorf("before the time: %s keys, want 2", got)
	}
	if got := h.advance(); len(got) != 0 {
		t.Errorf("before the time: claimed %v", got)
	}
	h.pass(10, 10)
	if got := h.do("EXISTS past soon hash"); got != "0" {
		t.Errorf("the time has come: %s keys, want 0", got)
	}
	if got := h.advance(); len(got) != 1 || got[0].Content.FirstAt != right+1000 {
		t.Errorf("the time has come: claimed %v", got)
	}
}

// TestLeasesAfterALeap: an attempt that runs keeps its claim when cluster time is set forward.
func TestLeasesAfterALeap(t *testing.T) {
	for _, leapt := range []bool{true, false} {
		h := newHeldClock(t, env.Files)
		p := queue.Publications{Items: []queue.Publication{{URL: "http://example.com/"}}}
		h.apply(fsm.Publish.Code, fsm.Publish.Body(p))
		if got := h.advance(); len(got) != 1 {
			t.Fatal(got)
		}
		h.pass(8*3_600_000, 0)
		h.leapt = leapt
		if got := h.advance(); (len(got) == 0) != leapt {
			t.Errorf("leapt %v: claimed %v", leapt, got)
		}
	}
}

// TestBothKindsOfDeadlines: a hash may have deadlines of its own and of its fields, by cluster time and by wall time. Whichever has passed
// first, what is gone is swept at that time and not later, and a hash that loses its last field goes with it.
func TestBothKindsOfDeadlines(t *testing.T) {
	for _, c := range []struct {
		name  string
		rows  []string // "AT" is 500 ms from now
		left  string   // keys after 1,200 ms of cluster time and 600 or 300 of wall time
		late  int64    // how much wall time stays behind
		field string   // fields of the hash then
	}{
		{"the last fields of both kinds", []string{"HSET h a v b v", "HPEXPIREAT h AT FIELDS 1 a", "HPEXPIRE h 1000 FIELDS 1 b"}, "0", 600, "0"},
		{"its own by time, the fields by wall time", []string{"HSET h a v", "HPEXPIREAT h AT FIELDS 1 a", "PEXPIRE h 1000"}, "0", 900, "0"},
		{"its own by wall time, the fields by time", []string{"HSET h a v", "PEXPIREAT h AT", "HPEXPIRE h 1000 FIELDS 1 a"}, "0", 900, "0"},
		{"a field by time after one by wall time", []string{"HSET h a v b v c v", "HPEXPIREAT h AT FIELDS 1 a", "HPEXPIRE h 1000 FIELDS 1 b"}, "1", 900, "2"},
		{"both fields, one stays", []string{"HSET h a v b v c v", "HPEXPIREAT h AT FIELDS 1 a", "HPEXPIRE h 1000 FIELDS 1 b"}, "1", 600, "1"},
		{"only the field by time", []string{"HSET h a v b v", "HPEXPIREAT h AT FIELDS 1 a", "HPEXPIRE h 1000 FIELDS 1 b"}, "1", 900, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHeldClock(t, env.Files)
			for _, row := range c.rows {
				h.do(strings.Replace(row, " AT", " "+strconv.FormatInt(h.now+500, 10), 1))
			}
			h.pass(1200, c.late)
			for row, want := range map[string]string{"DBSIZE": c.left, "EXISTS h": c.left, "HLEN h": c.field} {
				if got := h.do(row); got != want {
					t.Errorf("%s is %s, want %s", row, got, want)
				}
			}
			h.advance()
			if due, ok := h.m.NextDue(); ok && due <= h.now {
				t.Error("a sweep leaves what is gone")
			}
			for row, want := range map[string]string{"DBSIZE": c.left, "EXISTS h": c.left, "HLEN h": c.field} {
				if got := h.do(row); got != want {
					t.Errorf("swept: %s is %s, want %s", row, got, want)
				}
			}
			h.check()
		})
	}
}
