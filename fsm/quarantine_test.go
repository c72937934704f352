package fsm

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// operatorsOwn are the operations that may change what a database in quarantine has: the operator's, and those that make another
// state, or the first one.
var operatorsOwn = map[uint16]bool{Reset.Code: true, RestoreBackup.Code: true, DeleteDatabase.Code: true, Release.Code: true, BootstrapState.Code: true}

// TestQuarantineKeepsWhatIs applies every operation that there is to a database in quarantine, at a time at which everything in it
// is due or past its deadline. Nothing of it changes, and those that are the database's are refused.
func TestQuarantineKeepsWhatIs(t *testing.T) {
	table := command.NewTable()
	all := recipes()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := all[name]
		t.Run(name, func(t *testing.T) {
			w := newPricing(t, table, 3)
			w.group("due")
			w.publish(publicationOf("due", 10))
			with(w, Exec, keysOf("due"))
			r.prepare(w)
			body := r.body(w)
			home := w.m.state.home
			if !w.m.Isolate(QuarantineOrder{DefaultDB, home.id, w.index + 1}) {
				t.Fatal("there is no database default")
			}
			before := wholeOf(home)
			w.now += 40 * 24 * 3600 * 1000
			_, err := w.apply(r.code, body)
			if _, of := DatabaseOf(r.code, body); of && r.code != InDatabase.Code && err != ErrQuarantined { //nolint:errorlint // it is applied here
				t.Errorf("the outcome is %v", err)
			}
			for range 3 { // whatever waits for its time
				with(w, Advance, AdvanceLimit{Sweep: maxSweep, Deliver: true, Term: 1, Claims: 256})
				w.now += 24 * 3600 * 1000
			}
			if at, ok := w.m.NextDue(); ok && at <= w.now && !operatorsOwn[r.code] {
				t.Errorf("the leader is told that something is due since %d", at)
			}
			if at, ok := w.m.NextMessage(); ok && !operatorsOwn[r.code] {
				t.Errorf("the leader is told that a message waits for %d", at)
			}
			if got := wholeOf(w.m.state.home); got != before && !operatorsOwn[r.code] && r.code != ConfigureDatabase.Code {
				t.Errorf("the database has changed:\n%s\n%s", before, got)
			}
		})
	}
}

// wholeOf is everything that a database has.
func wholeOf(d *database) string {
	return fmt.Sprint(d.part("keys", d.keys.Save), d.part("functions", d.scripts.Save), d.part("messages", d.messages.Save), d.part("runs", d.workflows.Save), d.config)
}

// keysOf are writes of keys that expire soon.
func keysOf(name string) Batch {
	b := Batch{As: acl.Trusted(acl.DefaultName), Origin: command.RESP, Mode: Pipeline}
	for i := range 5 {
		b.Rows = append(b.Rows, [][]byte{[]byte("SET"), fmt.Append(nil, name, i), []byte("v"), []byte("PX"), []byte("60000")})
	}
	return b
}

// TestQuarantineIsInSnapshots writes a state with a database in quarantine out and reads it.
func TestQuarantineIsInSnapshots(t *testing.T) {
	w := newPricing(t, command.NewTable(), 3)
	with(w, CreateDatabase, DatabaseTokens{Name: "shop", Standard: acl.DigestOf("s"), ReadOnly: acl.DigestOf("r")})
	plain := w.m.Fork().Digest()
	shop := w.m.state.database("shop")
	order := QuarantineOrder{"shop", shop.id, w.index + 1}
	if !w.m.Isolate(order) || w.m.Isolate(QuarantineOrder{"none", 99, 1}) {
		t.Fatal("isolated what is not there, or not what is")
	}
	if w.m.Fork().Digest() == plain {
		t.Error("the digest of the state does not tell of the quarantine")
	}
	var b bytes.Buffer
	if err := w.m.Fork().Write(&b); err != nil {
		t.Fatal(err)
	}
	fresh := NewMachine()
	if err := fresh.Restore(&b); err != nil {
		t.Fatal(err)
	}
	if got, want := fresh.Fork().Digest(), w.m.Fork().Digest(); got != want {
		t.Error("the state that was read has another digest")
	}
	if !fresh.Isolated(order) || quarantines(fresh.state) != 1 {
		t.Error("the state that was read has no database in quarantine")
	}
	with(w, Release, DatabaseName{Name: "shop"})
	if quarantines(w.m.state) != 0 {
		t.Error("it is still in quarantine")
	}
	if _, err := w.apply(Release.Code, Release.Body(DatabaseName{Name: "shop"})); err == nil {
		t.Error("released twice")
	}
}

// TestOrderOfAnEntryThatWasApplied tells a node that it has applied what the others have not.
func TestOrderOfAnEntryThatWasApplied(t *testing.T) {
	w := newPricing(t, command.NewTable(), 1)
	home := w.m.state.home
	for _, c := range []struct {
		order  QuarantineOrder
		missed bool
		err    bool
	}{
		{QuarantineOrder{DefaultDB, home.id, w.index}, true, false},
		{QuarantineOrder{DefaultDB, home.id + 1, w.index}, false, true}, // it was deleted
		{QuarantineOrder{"none", 7, w.index}, false, true},
		{QuarantineOrder{DefaultDB, home.id, w.index + 1000}, false, true}, // of the future
		{QuarantineOrder{DefaultDB, home.id, 0}, false, true},
	} {
		v, err := w.apply(Quarantine.Code, Quarantine.Body(c.order))
		out := []Outcome{{Code: Quarantine.Code, Value: v, Err: err}}
		if got, missed := Missed(out); missed != c.missed || missed && got != c.order || (err != nil) != c.err {
			t.Errorf("%+v: missed %v, error %v", c.order, missed, err)
		}
	}
}

// TestProgressSaysWhere has applies end in the middle, and looks at what a process would leave behind.
func TestProgressSaysWhere(t *testing.T) {
	w := newPricing(t, command.NewTable(), 1)
	with(w, CreateDatabase, DatabaseTokens{Name: "shop", Standard: acl.DigestOf("s"), ReadOnly: acl.DigestOf("r")})
	shop := w.m.state.open(w.m.state.database("shop"))
	w.m.state.close()
	as := acl.Trusted(acl.DefaultName)
	as.DB = "shop"
	due := func() { // at any time
		shop.summary.keys, shop.summary.runs = 0, 0
		w.m.state.put(shop)
	}
	inShop := Request{Code: Exec.Code, Body: Exec.Body(Batch{As: as, Rows: [][][]byte{{[]byte("SET"), []byte("k"), []byte("v")}}})}
	inHome := Request{Code: Exec.Code, Body: Exec.Body(keysOf("k"))}
	publishInShop := Request{Code: InDatabase.Code, Body: InDatabase.Body(Owned{Database: "shop", Number: shop.id, Code: Publish.Code, Body: Publish.Body(queue.Publications{Items: []queue.Publication{publicationOf("p", 10)}})})}
	for _, c := range []struct {
		what     string
		requests []Request
		corrupt  func() // what the next entry meets
		want     Passage
		request  uint64
	}{
		{"a command", []Request{inHome, inShop}, func() { shop.users = nil }, Passage{"exec", "shop", shop.id, []string{"default", "shop"}}, 2},
		{"a message", []Request{publishInShop}, func() { w.m.state.settings.MaxMemory, shop.users = 1<<30, nil }, Passage{"in database", "shop", shop.id, []string{"shop"}}, 1},
		{"a sweep", []Request{inHome}, func() { shop.keys = nil; due() }, Passage{"", "shop", shop.id, []string{"default"}}, 0},
		{"what runs leave behind", []Request{inHome}, func() { shop.messages = new(queue.Store); due() }, Passage{"", "shop", shop.id, []string{"default"}}, 0},
	} {
		before := *shop
		p := &Progress{}
		w.m.KeepProgress(p)
		e := Entry{Stamp: w.now + 1, Term: 1, Requests: c.requests}
		w.index++
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: nothing has happened", c.what)
				}
			}()
			c.corrupt()
			_, _ = w.m.Apply(w.index, 1, e.Encode())
		}()
		*shop = before
		w.m.mu.Unlock() // it was held
		var all wire.Writer
		EncodeRequests(&all, e.Requests)
		if got := w.m.Describe(e.EncodeRest(0, all.B), *p); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s, of an entry in fragments: %+v", c.what, got)
		}
		if got := w.m.Describe(e.Encode(), *p); fmt.Sprint(got) != fmt.Sprint(c.want) || p.Request != c.request || p.Index != w.index {
			t.Errorf("%s: %+v at %+v, want %+v", c.what, got, *p, c.want)
		}
	}
}

// TestViewsOfSeveralDatabases reads one database after the other in a view: only one in quarantine is barred, and shows nothing.
func TestViewsOfSeveralDatabases(t *testing.T) {
	w := newPricing(t, command.NewTable(), 3)
	with(w, CreateDatabase, DatabaseTokens{Name: "shop", Standard: acl.DigestOf("s"), ReadOnly: acl.DigestOf("r")})
	shop := w.m.state.database("shop")
	with(w, InDatabase, Owned{Database: "shop", Number: shop.id, Code: Publish.Code, Body: Publish.Body(queue.Publications{Items: []queue.Publication{publicationOf("p", 10)}})})
	w.publish(publicationOf("p", 10))
	w.m.Isolate(QuarantineOrder{"shop", shop.id, w.index + 1})
	w.m.View(w.now, [16]byte{}, func(v *View) {
		for _, c := range []struct {
			db    string
			count int
			err   error
		}{{"", 3, nil}, {"shop", 0, ErrQuarantined}, {"none", 0, nil}, {DefaultDB, 3, nil}} {
			if n, err := v.MessagesOf(c.db).Counts().Messages, v.Barred(); n != c.count || (err != nil) != (c.err != nil) {
				t.Errorf("%q shows %d messages, %v", c.db, n, err)
			}
		}
		as := acl.Trusted(acl.DefaultName)
		as.DB = "shop"
		if got := v.Exec(as, command.RESP, [][]byte{[]byte("DBSIZE")}); !got.IsError() || v.Barred() == nil {
			t.Errorf("a command in shop answers %v", got)
		}
		if got := v.Exec(acl.Trusted(acl.DefaultName), command.RESP, [][]byte{[]byte("DBSIZE")}); got.IsError() || v.Barred() != nil {
			t.Errorf("a command in default answers %v", got)
		}
	})
}

// quarantines counts the databases in quarantine.
func quarantines(s *State) (n int) {
	for d := s.first(has(isQuarantined)); d != nil; d = s.after(d, has(isQuarantined)) {
		n++
	}
	return n
}
