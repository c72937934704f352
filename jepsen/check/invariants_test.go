package check

import (
	"testing"

	"github.com/trireme-dev/trireme/jepsen/history"
)

func at(call, end int64, op history.Op) history.Op {
	op.Call, op.Return, op.Outcome = call, end, history.OK
	return op
}

func insert(call, end int64, m string) history.Op {
	return at(call, end, history.Op{Key: "s", Kind: history.Insert, Value: m, Found: true})
}

func members(call, end int64, list ...string) history.Op {
	return at(call, end, history.Op{Key: "s", Kind: history.Members, List: list})
}

func outcome(o history.Outcome, op history.Op) history.Op {
	op.Outcome = o
	return op
}

// expect holds a report to its first anomaly; "" is none.
func expect(t *testing.T, name string, r Report, want string) {
	t.Helper()
	got := ""
	if len(r.Anomalies) > 0 {
		got = r.Anomalies[0].Kind
	}
	if got != want {
		t.Errorf("%s: %q, want %q: %v", name, got, want, r.Anomalies)
	}
}

func TestSets(t *testing.T) {
	for name, c := range map[string]struct {
		ops  []history.Op
		want string
	}{
		"good":           {[]history.Op{insert(0, 10, "a"), members(5, 6), members(20, 30, "a")}, ""},
		"unknown, there": {[]history.Op{outcome(history.Unknown, insert(0, 10, "a")), insert(0, 10, "b"), members(20, 30, "a", "b")}, ""},
		"unknown, not":   {[]history.Op{outcome(history.Unknown, insert(0, 10, "a")), insert(0, 10, "b"), members(20, 30, "b")}, ""},
		"lost":           {[]history.Op{insert(0, 10, "a"), members(20, 30)}, "lost"},
		"went back":      {[]history.Op{outcome(history.Unknown, insert(0, 10, "a")), members(20, 30, "a"), members(40, 50)}, "went back"},
		"phantom":        {[]history.Op{insert(0, 10, "a"), members(20, 30, "a", "x")}, "phantom"},
		"not applied":    {[]history.Op{outcome(history.NotApplied, insert(0, 10, "a")), members(20, 30, "a")}, "not applied"},
		"future":         {[]history.Op{members(0, 10, "a"), insert(20, 30, "a"), members(40, 50, "a")}, "from the future"},
		"twice":          {[]history.Op{insert(0, 10, "a"), members(20, 30, "a", "a")}, "twice"},
		"unchecked":      {[]history.Op{insert(0, 10, "a")}, "unchecked"},
	} {
		expect(t, name, Sets(c.ops), c.want)
	}
}

func TestBank(t *testing.T) {
	read := func(bank string, list ...string) []history.Op {
		return []history.Op{at(0, 1, history.Op{Key: bank, Kind: history.Balances, List: list})}
	}
	moved := at(0, 1, history.Op{Key: "guarded:0", Value: "guarded:1", Kind: history.Move, Delta: 5, Found: true})
	for name, c := range map[string]struct {
		ops  []history.Op
		want string
	}{
		"good":      {read(Guarded, "150", "50"), ""},
		"below":     {read(Transacted, "-10", "210"), ""},
		"lost":      {read(Transacted, "90", "100"), "wrong total"},
		"made":      {read(Guarded, "110", "100"), "wrong total"},
		"overdrawn": {read(Guarded, "-10", "210"), "overdrawn"},
		"no number": {read(Guarded, "many", "200"), "malformed value"},
		"unchecked": {[]history.Op{moved}, "unchecked"},
	} {
		expect(t, name, Bank(c.ops), c.want)
	}
}

func TestExpiries(t *testing.T) {
	set := at(0, 10, history.Op{Key: "k", Kind: history.Expiring, Value: "v", Delta: 100, Sum: 1100})
	read := func(call, end int64, found bool, now int64) history.Op {
		return at(call, end, history.Op{Key: "k", Kind: history.Timed, Found: found, Read: "v", Sum: now})
	}
	for name, c := range map[string]struct {
		ops  []history.Op
		want string
	}{
		"good":        {[]history.Op{set, read(20, 30, true, 1099), read(40, 50, false, 1100)}, ""},
		"concurrent":  {[]history.Op{set, read(5, 7, false, 1000)}, ""},
		"late":        {[]history.Op{set, read(20, 30, true, 1100)}, "late"},
		"early":       {[]history.Op{set, read(20, 30, false, 1099)}, "early"},
		"came back":   {[]history.Op{set, read(20, 30, false, 1100), read(40, 50, true, 1200)}, "late"},
		"back, early": {[]history.Op{outcome(history.Unknown, set), read(20, 30, true, 1099), read(40, 50, false, 1000)}, "clock went back"},
		"not applied": {[]history.Op{outcome(history.NotApplied, set), read(20, 30, true, 1000)}, "not applied"},
		"clock":       {[]history.Op{set, read(20, 30, true, 1050), read(40, 50, true, 1049)}, "clock went back"},
	} {
		expect(t, name, Expiries(c.ops), c.want)
	}
}

func TestReplay(t *testing.T) {
	place := func(index uint64, nth int, op history.Op) history.Op {
		op.Place = history.Place{Index: index, Nth: nth}
		return op
	}
	seen := func(index uint64, op history.Op) history.Op { return place(index, history.AfterEntry, op) }
	write := func(call, end int64, v string) history.Op {
		return at(call, end, history.Op{Key: "r", Kind: history.Write, Value: v, Found: true})
	}
	read := func(call, end int64, v string) history.Op {
		return at(call, end, history.Op{Key: "r", Kind: history.Read, Read: v, Found: v != ""})
	}
	add := func(call, end, delta, sum int64) history.Op {
		return at(call, end, history.Op{Key: "counter:0", Kind: history.Add, Delta: delta, Sum: sum})
	}
	tx := func(call, end int64, parts ...history.Part) history.Op {
		return at(call, end, history.Op{Kind: history.Transaction, Parts: parts})
	}
	push := func(v string) history.Part { return history.Part{Kind: history.Append, Key: "l", Value: v} }
	list := func(vs ...string) history.Part {
		return history.Part{Kind: history.Read, Key: "l", List: append([]string{}, vs...)}
	}
	for name, c := range map[string]struct {
		ops  []history.Op
		want string
	}{
		"registers":     {[]history.Op{place(1, 0, write(0, 10, "a")), seen(1, read(5, 20, "a")), place(2, 1, write(5, 30, "b")), seen(2, read(40, 50, "b"))}, ""},
		"another value": {[]history.Op{place(1, 0, write(0, 10, "a")), place(2, 0, write(0, 10, "b")), seen(2, read(20, 30, "a"))}, "replay differs"},
		"unknown":       {[]history.Op{outcome(history.Unknown, write(0, 10, "a")), seen(1, read(20, 30, "a"))}, ""},
		"against time":  {[]history.Op{place(2, 0, write(0, 10, "a")), place(1, 0, write(20, 30, "b"))}, "out of time"},
		"one state":     {[]history.Op{place(1, 0, write(0, 10, "a")), seen(1, read(40, 50, "a")), seen(1, read(20, 30, "a"))}, ""},
		"counters":      {[]history.Op{place(1, 0, add(0, 10, 2, 2)), place(1, 1, add(0, 10, 3, 5))}, ""},
		"lost addition": {[]history.Op{place(1, 0, add(0, 10, 2, 2)), place(2, 0, add(20, 30, 3, 3))}, "replay differs"},
		"open addition": {[]history.Op{outcome(history.Unknown, add(0, 10, 2, 0)), place(2, 0, add(20, 30, 3, 5))}, ""},
		"added twice":   {[]history.Op{outcome(history.Unknown, add(0, 10, 2, 0)), place(2, 0, add(20, 30, 3, 7))}, "replay differs"},
		"sets":          {[]history.Op{place(1, 0, insert(0, 10, "a")), seen(1, members(20, 30, "a"))}, ""},
		"lost member":   {[]history.Op{place(1, 0, insert(0, 10, "a")), seen(1, members(20, 30))}, "replay differs"},
		"lists":         {[]history.Op{place(1, 0, tx(0, 10, push("1"), list("1"))), outcome(history.Unknown, tx(0, 10, push("2"))), seen(4, tx(20, 30, list("1", "2")))}, ""},
		"lost append":   {[]history.Op{place(1, 0, tx(0, 10, push("1"))), seen(4, tx(20, 30, list()))}, "replay differs"},
		"bank":          {[]history.Op{place(1, 0, at(0, 10, history.Op{Key: "guarded:0", Value: "guarded:1", Kind: history.Move, Delta: 60, Found: true})), seen(1, at(20, 30, history.Op{Key: Guarded, Kind: history.Balances, List: []string{"40", "160"}}))}, ""},
		"not guarded":   {[]history.Op{place(1, 0, at(0, 10, history.Op{Key: "guarded:0", Value: "guarded:1", Kind: history.Move, Delta: 101, Found: true}))}, "replay differs"},
	} {
		expect(t, name, Replay(c.ops), c.want)
	}
}
