package deliveries

import (
	"fmt"
	"testing"
	"time"
)

// told makes events of texts such as "a ACTIVE", one millisecond after the other.
func told(texts ...string) (all []Event) {
	for i, text := range texts {
		v := Event{Time: int64(1000 + i)}
		fmt.Sscan(text, &v.MessageID, &v.State)
		if v.State == "LOST" {
			v.State, v.Error = "ERROR", "the attempt's outcome was lost with its leader"
		}
		all = append(all, v)
	}
	return all
}

func arrival(number int, id string, status int) Arrival {
	return Arrival{Number: number, Message: id, Status: status}
}

// TestJudgeDelivery shows the judge one good record, and records in each of which one
// thing is wrong.
func TestJudgeDelivery(t *testing.T) {
	good := []string{"a CREATED", "a ACTIVE", "a DELIVERED", "b CREATED", "b ACTIVE", "b ERROR", "b FAILED"}
	at := []Arrival{arrival(0, "a", 200), arrival(1, "b", 500)}
	for _, c := range []struct {
		name     string
		ok       bool
		acked    []string
		events   []string
		dead     []string
		arrivals []Arrival
	}{
		{"good", true, []string{"a", "b"}, good, []string{"b"}, at},
		{"a repeat with a lost claim", true, []string{"a", "b"}, append([]string{"a ACTIVE", "a LOST"}, good...), []string{"b"}, append(at, arrival(0, "a", 200))},
		{"a repeat without one", false, []string{"a", "b"}, good, []string{"b"}, append(at, arrival(0, "a", 200))},
		{"lost", false, []string{"a", "b", "c"}, good, []string{"b"}, at},
		{"not done", false, []string{"a", "b"}, good[:6], []string{"b"}, at},
		{"invented", false, []string{"a", "b"}, append([]string{"x CREATED"}, good...), []string{"b"}, at},
		{"invented at the sink", false, []string{"a", "b"}, good, []string{"b"}, append(at, arrival(0, "x", 500))},
		{"delivered to nobody", false, []string{"a", "b"}, good, []string{"b"}, at[1:]},
		{"no dead letter", false, []string{"a", "b"}, good, nil, at},
		{"a dead letter too many", false, []string{"a", "b"}, good, []string{"b", "a"}, at},
		{"ended twice", false, []string{"a", "b"}, append([]string{"a DELIVERED"}, good...), []string{"b"}, at},
		{"one id for two", false, []string{"a", "a"}, good[:3], nil, at[:1]},
		{"too many attempts", false, []string{"a", "b"}, append([]string{"a ACTIVE", "a ERROR", "a ACTIVE", "a ERROR"}, good...), []string{"b"}, at},
	} {
		err := judgeDelivery(&DeliveryResult{}, 1, c.acked, told(c.events...), c.dead, c.arrivals)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func span(number int, id string, begin, end int, broken bool) Arrival {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	return Arrival{Number: number, Message: id, Begin: at(begin), End: at(end), Status: 200, Broken: broken}
}

func TestJudgeQueue(t *testing.T) {
	ids := []string{"a", "b"}
	good := []string{"a ACTIVE", "a ERROR", "a ACTIVE", "a DELIVERED", "b ACTIVE", "b DELIVERED"}
	lost := []string{"a ACTIVE", "a LOST", "a ACTIVE", "a DELIVERED", "b ACTIVE", "b DELIVERED"}
	again := span(0, "a", 1, 2, false)
	again.Retried = 1
	for _, c := range []struct {
		name     string
		ok       bool
		events   []string
		arrivals []Arrival
	}{
		{"given up and late", true, lost, []Arrival{again, span(1, "b", 3, 4, false), span(0, "a", 5, 6, false)}},
		{"delivered to nobody", false, good, []Arrival{span(1, "b", 3, 4, false)}},
		{"good", true, good, []Arrival{span(0, "a", 1, 2, false), span(0, "a", 3, 4, false), span(1, "b", 5, 6, false)}},
		{"overlap with a broken one", true, good, []Arrival{span(0, "a", 1, 9, true), span(0, "a", 3, 4, false), span(1, "b", 5, 6, false)}},
		{"two at once", false, good, []Arrival{span(0, "a", 1, 9, false), span(0, "a", 3, 4, false), span(1, "b", 5, 6, false)}},
		{"back again", false, good, []Arrival{span(0, "a", 1, 2, false), span(1, "b", 3, 4, false), span(0, "a", 5, 6, false)}},
		{"out of order", false, good, []Arrival{span(1, "b", 1, 2, false), span(0, "a", 3, 4, false)}},
		{"claimed early", false, []string{"a ACTIVE", "b ACTIVE", "a DELIVERED", "b DELIVERED"}, nil},
		{"claimed in the wrong order", false, []string{"b ACTIVE", "b DELIVERED", "a ACTIVE", "a DELIVERED"}, nil},
		{"claimed between attempts", false, []string{"a ACTIVE", "a ERROR", "b ACTIVE", "b DELIVERED", "a ACTIVE", "a DELIVERED"}, nil},
		{"not done", false, good[:5], nil},
		{"invented", false, append([]string{"x ACTIVE", "x DELIVERED"}, good...), nil},
	} {
		if err := judgeQueue(&QueueResult{}, 1, ids, told(c.events...), c.arrivals); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestJudgeWideQueue(t *testing.T) {
	ids := []string{"a", "b", "c"}
	good := []string{"a ACTIVE", "b ACTIVE", "b ERROR", "a DELIVERED", "c ACTIVE", "b ACTIVE", "b DELIVERED", "c DELIVERED"}
	lost := append([]string{"a ACTIVE", "b ACTIVE", "a LOST", "a ACTIVE"}, good[2:]...)
	again := span(0, "a", 8, 9, false)
	again.Retried = 1
	for _, c := range []struct {
		name     string
		ok       bool
		events   []string
		arrivals []Arrival
	}{
		{"good", true, good, []Arrival{span(0, "a", 1, 5, false), span(1, "b", 2, 6, false), span(2, "c", 5, 7, false)}},
		{"three at once", false, good, []Arrival{span(0, "a", 1, 5, false), span(1, "b", 2, 6, false), span(2, "c", 4, 7, false)}},
		{"three, one broken", true, good, []Arrival{span(0, "a", 1, 5, true), span(1, "b", 2, 6, false), span(2, "c", 4, 7, false)}},
		{"three, one given up", true, lost, []Arrival{span(0, "a", 1, 5, false), span(1, "b", 2, 6, false), span(2, "c", 4, 7, false), again}},
		{"three claimed", false, []string{"a ACTIVE", "b ACTIVE", "c ACTIVE", "a DELIVERED", "b DELIVERED", "c DELIVERED"}, nil},
		{"a third between attempts", false, []string{"a ACTIVE", "b ACTIVE", "b ERROR", "c ACTIVE", "b ACTIVE", "a DELIVERED", "b DELIVERED", "c DELIVERED"}, nil},
		{"claimed in the wrong order", false, []string{"b ACTIVE", "a ACTIVE", "a DELIVERED", "b DELIVERED", "c ACTIVE", "c DELIVERED"}, nil},
		{"claimed twice at once", false, append([]string{"a ACTIVE"}, good...), nil},
		{"invented", false, good, []Arrival{span(0, "x", 1, 5, false)}},
	} {
		if err := judgeQueue(&QueueResult{}, 2, ids, told(c.events...), c.arrivals); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestJudgeTicks(t *testing.T) {
	ticks := func(times ...int64) (all []Event) {
		for i, at := range times {
			all = append(all, Event{Time: at, MessageID: fmt.Sprint("m", i), ScheduleID: "s", State: "CREATED"})
		}
		return all
	}
	for _, c := range []struct {
		name  string
		ok    bool
		ticks []Event
		seen  map[string]int64
	}{
		{"good", true, ticks(1000, 2003, 3001), map[string]int64{"m1": 2000}},
		{"late", true, ticks(1000, 2900, 3001), nil},
		{"doubled", false, ticks(1000, 1001, 2003, 3001), nil},
		{"missing", false, ticks(1000, 3001), nil},
		{"missing and doubled", false, ticks(1000, 3000, 3001), map[string]int64{"m1": 3000}},
		{"early", false, ticks(999, 2000, 3000), nil},
		{"very late", false, ticks(1000, 2000, 13_001), nil},
		{"none", false, nil, nil},
		{"of nobody", false, append(ticks(1000, 2000, 3000), Event{ScheduleID: "other"}), nil},
	} {
		s := &timetable{ID: "s", Fired: 3000, every: time.Second, ticks: c.seen}
		if err := judgeTicks(&TimetablesResult{}, map[string]*timetable{"s": s}, c.ticks); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// windows makes a record with so many claims in each second.
func windows(counts ...int) (all []Event, arrivals []Arrival) {
	all = []Event{{State: "CREATED", MessageID: "m0-0"}}
	for window, n := range counts {
		for i := range n {
			id, at := fmt.Sprintf("m%d-%d", window, i), int64(1000*window+900*i/n)
			all = append(all, Event{Time: at, State: "ACTIVE", MessageID: id}, Event{Time: at, State: "DELIVERED", MessageID: id})
			arrivals = append(arrivals, span(0, id, int(at)+5, int(at)+6, false))
		}
	}
	return all, arrivals
}

func TestJudgeFlow(t *testing.T) {
	rate := FlowLimit{Rate: 20, Period: time.Second}
	for _, c := range []struct {
		name   string
		ok     bool
		counts []int
	}{
		{"good", true, []int{20, 20, 20, 7}}, {"exceeded", false, []int{20, 21, 20, 7}}, {"unused", false, []int{20, 10, 20, 7}}, {"too short", false, []int{20, 7}},
	} {
		all, arrivals := windows(c.counts...)
		if err := judgeFlow(&FlowResult{}, rate, all, arrivals); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	rate.Rate = 300
	all, arrivals := windows(300, 300, 300, 7)
	for i := range arrivals[:4] { // held back on the way, into the next window
		arrivals[i].Begin = arrivals[i].Begin.Add(1500 * time.Millisecond)
	}
	if err := judgeFlow(&FlowResult{}, rate, all, arrivals); err == nil {
		t.Error("a burst at the sink passed")
	}
	two := FlowLimit{Parallelism: 2}
	for _, c := range []struct {
		name     string
		ok       bool
		events   []string
		arrivals []Arrival
	}{
		{"good", true, []string{"a ACTIVE", "b ACTIVE", "a DELIVERED", "c ACTIVE", "b DELIVERED", "c DELIVERED"}, []Arrival{span(0, "a", 1, 3, false), span(0, "b", 2, 5, false), span(0, "c", 3, 5, false)}},
		{"three open", false, []string{"a ACTIVE", "b ACTIVE", "c ACTIVE", "a DELIVERED", "b DELIVERED", "c DELIVERED"}, nil},
		{"three at the sink", false, []string{"a ACTIVE", "a DELIVERED"}, []Arrival{span(0, "a", 1, 4, false), span(0, "b", 2, 5, false), span(0, "c", 3, 5, false)}},
		{"three, one broken", true, []string{"a ACTIVE", "a DELIVERED"}, []Arrival{span(0, "a", 1, 4, true), span(0, "b", 2, 5, false), span(0, "c", 3, 5, false)}},
		{"not done", false, []string{"a ACTIVE"}, nil},
	} {
		if err := judgeFlow(&FlowResult{}, two, told(c.events...), c.arrivals); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestJudgeOnce(t *testing.T) {
	first, again := Receipt{MessageID: "a"}, Receipt{MessageID: "a", Deduplicated: true}
	for _, c := range []struct {
		name    string
		ok      bool
		answers [][]Receipt
		events  []string
	}{
		{"good", true, [][]Receipt{{first, again}}, []string{"a CREATED"}},
		{"nobody was told first", true, [][]Receipt{{again, again}}, []string{"a CREATED"}},
		{"two messages", false, [][]Receipt{{first, again}}, []string{"a CREATED", "b CREATED"}},
		{"two ids", false, [][]Receipt{{first, {MessageID: "b", Deduplicated: true}}}, []string{"a CREATED"}},
		{"two first ones", false, [][]Receipt{{first, first}}, []string{"a CREATED"}},
		{"one id for two rounds", false, [][]Receipt{{first}, {again}}, []string{"a CREATED"}},
	} {
		if err := judgeOnce(&OnceResult{}, c.answers, told(c.events...)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestFailuresAreIndependent: that one attempt fails says nothing of the next.
func TestFailuresAreIndependent(t *testing.T) {
	const messages = 100_000
	var all [4]int
	for number := range messages {
		for nth := range all {
			if !fails("label", number, nth, 20) {
				break
			}
			all[nth]++
		}
	}
	for nth, want := range []int{20_000, 4000, 800, 160} {
		if got := all[nth]; got < want*3/4 || got > want*5/4 {
			t.Errorf("%d messages failed %d times running, want about %d", got, nth+1, want)
		}
	}
}
