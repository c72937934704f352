package fsm

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
)

// TestSingleKey holds what is read of a body before it is applied against what Batch writes.
func TestSingleKey(t *testing.T) {
	words := func(words ...string) (row [][]byte) {
		for _, w := range words {
			row = append(row, []byte(w))
		}
		return row
	}
	identity := acl.Identity{DB: "shop", By: acl.ByCredential, User: "somebody", Credential: 1 << 40}
	for _, c := range []struct {
		as   acl.Identity
		rows [][][]byte
		db   string
		key  string
	}{
		{acl.Trusted(acl.DefaultName), [][][]byte{words("SET", "key", "value")}, "", "key"},
		{identity, [][][]byte{words("GET", "k")}, "shop", "k"},
		{identity, [][][]byte{words("PING")}, "shop", ""},
		{identity, [][][]byte{words("SET", "a", "1"), words("SET", "b", "2")}, "shop", ""},
	} {
		body := Exec.Body(Batch{As: c.as, Origin: command.OriginHTTP, Mode: Pipeline, Rows: c.rows})
		db, key := singleKey(body)
		if key != nil && string(db) != c.db || string(key) != c.key {
			t.Errorf("%q: key %q of %q", c.rows, key, db)
		}
		for cut := range body { // a body that ends early gives the same key or none
			if _, key := singleKey(body[:cut]); len(key) > 0 && string(key) != c.key {
				t.Fatalf("%q cut at %d: key %q", c.rows, cut, key)
			}
		}
	}
}

// TestApplyOfManyRequests has an entry of requests of every kind, more than one group of them, do what entries of one request do.
func TestApplyOfManyRequests(t *testing.T) {
	var requests []Request
	exec := func(b Batch) { requests = append(requests, Request{Code: Exec.Code, Body: Exec.Body(b)}) }
	row := func(format string, args ...any) (row [][]byte) {
		return bytes.Fields(fmt.Appendf(nil, format, args...))
	}
	as := acl.Trusted(acl.DefaultName)
	for i := range 50 {
		exec(Batch{As: as, Rows: [][][]byte{row("SET key:%d value%d", i%20, i)}})
		switch i % 5 {
		case 0:
			exec(Batch{As: as, Mode: Pipeline, Rows: [][][]byte{row("INCR n"), row("APPEND key:%d x", i)}})
		case 1:
			exec(Batch{As: as, Rows: [][][]byte{row("PING")}})
		case 2:
			exec(Batch{As: acl.Identity{DB: "nowhere", By: acl.ByAdmin, User: acl.DefaultName}, Rows: [][][]byte{row("SET key:1 other")}})
		case 3:
			requests = append(requests, Request{Code: Exec.Code, Body: []byte("malformed")}, Request{Code: Advance.Code, Body: Advance.Body(AdvanceLimit{Sweep: 1})})
		case 4:
			exec(Batch{As: as, Rows: [][][]byte{row("DEL key:%d", i%20)}})
		}
	}
	together, alone := NewMachine(), NewMachine()
	all, err := together.Apply(1, 1, (&Entry{Term: 1, Stamp: 1000, Requests: requests}).Encode())
	if err != nil {
		t.Fatal(err)
	}
	for i := range requests {
		one, err := alone.Apply(uint64(i+1), 1, (&Entry{Term: 1, Stamp: 1000, Requests: requests[i : i+1]}).Encode())
		if err != nil {
			t.Fatal(err)
		}
		got, want := all[i], one[0]
		if r, ok := want.Value.(Results); ok && want.Err == nil {
			r.Index, r.Place = 1, i
			want.Value = r
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("request %d: %v together, %v alone", i, got, want)
		}
	}
	keys := func(m *Machine) (n int, bytes int64) {
		m.View(0, [16]byte{}, func(v *View) { n, bytes = v.Usage() })
		return n, bytes
	}
	n, size := keys(together)
	if wantN, wantSize := keys(alone); n != wantN || size != wantSize || n == 0 {
		t.Errorf("%d keys in %d bytes together, %d in %d alone", n, size, wantN, wantSize)
	}
}
