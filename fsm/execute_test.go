package fsm_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/rdb"
)

// executor is a fsm.Executor without a cluster, which notes how long the longest proposal was and how many reads there were.
type executor struct {
	*databases
	longest, reads int
}

func (e *executor) Propose(_ context.Context, code uint16, body []byte) (any, error) {
	e.longest = max(e.longest, len(body))
	return e.propose(code, body)
}

func (e *executor) Read(_ context.Context, _ fsm.Reading, fn func(*fsm.View)) (fsm.ReadAt, error) {
	e.reads++
	e.m.ViewFork(env.At(0), [16]byte{}, fn)
	return fsm.ReadAt{}, nil
}

func newExecutor(t *testing.T) *executor {
	x := &executor{databases: newDatabases(t)}
	if err := x.create("shop"); err != nil {
		t.Fatal(err)
	}
	limits := fsm.Settings{}
	limits.MaxRecord = 64 << 20
	x.propose(fsm.Configure.Code, fsm.Configure.Body(limits))
	x.run(acl.Trusted(acl.DefaultName), "SET", "taken", "v")
	x.longest = 0
	return x
}

// list is a payload of a list of so many elements of one byte.
func list(n int) string {
	b := binary.BigEndian.AppendUint32([]byte{byte(rdb.TypeList), 0x80}, uint32(n))
	return string(rdb.Frame(append(b, bytes.Repeat([]byte{1, 'x'}, n)...)))
}

// hopeless are payloads that no state accepts, in requests of the database shop: of more than a million steps, for one.
func hopeless() map[string]string {
	changed := []byte(list(100_000))
	changed[len(changed)-1] ^= 1
	return map[string]string{
		"checksum": string(changed),
		"format":   string(rdb.Frame([]byte("\x00\x01" + strings.Repeat("x", 100_000)))),
		"type":     string(rdb.Frame([]byte("\x63" + strings.Repeat("x", 100_000)))),
		"room":     bomb(100 << 20),
		"work":     list(1 << 20),
		"nothing":  strings.Repeat("x", 100_000),
	}
}

// TestHopelessPayloadsAreNotLogged gives batches with payloads that are refused whatever the state is: with what is proposed in
// their place every row has the reply that it has without, and the states are equal.
func TestHopelessPayloadsAreNotLogged(t *testing.T) {
	shop := acl.Trusted(acl.DefaultName)
	shop.DB = "shop"
	nobody := acl.Trusted("nobody")
	nobody.DB = "shop"
	for name, payload := range hopeless() {
		restore := []string{"ReStore", "k", "0", payload}
		for _, c := range []struct {
			about string
			as    acl.Identity
			mode  fsm.Mode
			rows  [][]string
		}{
			{"single", shop, fsm.Single, [][]string{restore}},
			{"replacing", shop, fsm.Single, [][]string{append(restore[:4:4], "REPLACE")}},
			{"taken", shop, fsm.Single, [][]string{{"RESTORE", "taken", "0", payload}}},
			{"a bad time", shop, fsm.Single, [][]string{{"RESTORE", "k", "-1", payload}}},
			{"a bad option", shop, fsm.Single, [][]string{{"RESTORE", "k", "0", payload, "WHAT"}}},
			{"pipeline", shop, fsm.Pipeline, [][]string{{"SET", "a", "1"}, restore, {"SET", "k", "1"}, restore, {"GET", "a"}}},
			{"transaction", shop, fsm.Transaction, [][]string{{"SET", "a", "2"}, restore, {"INCR", "a"}}},
			{"nobody", nobody, fsm.Single, [][]string{restore}},
			{"functions", shop, fsm.Single, [][]string{{"FUNCTION", "restore", payload}}},
			{"functions, a bad policy", shop, fsm.Single, [][]string{{"FUNCTION", "RESTORE", payload, "WHAT"}}},
		} {
			x, plain := newExecutor(t), newExecutor(t)
			x.run(shop, "SET", "taken", "v")
			plain.run(shop, "SET", "taken", "v")
			x.longest = 0
			b := fsm.Batch{As: c.as, Origin: command.RESP, Mode: c.mode, Rows: rowsOf(c.rows)}
			got, err := fsm.Execute(t.Context(), x, b)
			want, wantErr := fsm.Do(t.Context(), plain, fsm.Exec, fsm.Batch{As: c.as, Origin: command.RESP, Mode: c.mode, Rows: rowsOf(c.rows)})
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr) || !reflect.DeepEqual(b.Rows, rowsOf(c.rows)) {
				t.Errorf("%s, %s: %+v, %v instead of %+v, %v", name, c.about, got, err, want, wantErr)
			}
			if x.m.Fork().Digest() != plain.m.Fork().Digest() {
				t.Errorf("%s, %s: the states differ", name, c.about)
			}
			if allowed := c.about == "nobody"; x.longest > 1024 != allowed {
				t.Errorf("%s, %s: %d bytes were proposed", name, c.about, x.longest)
			}
		}
	}
}

func rowsOf(rows [][]string) (all [][][]byte) {
	for _, row := range rows {
		var argv [][]byte
		for _, word := range row {
			argv = append(argv, []byte(word))
		}
		all = append(all, argv)
	}
	return all
}

// TestPayloadsThatMayBeAccepted go into the log as they are, and only those that are long cost a look: also where the older
// level knows no stand-ins, and where the limits of the database permit what those of another one don't.
func TestPayloadsThatMayBeAccepted(t *testing.T) {
	shop := acl.Trusted(acl.DefaultName)
	shop.DB = "shop"
	home := acl.Trusted(acl.DefaultName)
	short := []byte(list(100))
	short[len(short)-1] ^= 1
	for _, c := range []struct {
		about  string
		as     acl.Identity
		words  []string
		reads  int
		refuse bool
	}{
		{"a list", shop, []string{"RESTORE", "k", "0", list(100_000)}, 1, false},
		{"many elements in default", home, []string{"RESTORE", "k", "0", list(250_000)}, 1, false},
		{"a short one", shop, []string{"RESTORE", "k", "0", string(short)}, 0, true},
		{"another command", shop, []string{"SET", "k", strings.Repeat("x", 100_000)}, 0, false},
	} {
		x := newExecutor(t)
		got, err := fsm.Execute(t.Context(), x, fsm.Batch{As: c.as, Rows: rowsOf([][]string{c.words})})
		if err != nil || got.Values[0].IsError() != c.refuse {
			t.Fatalf("%s: %+v, %v", c.about, got, err)
		}
		if size := len(c.words[len(c.words)-1]); x.longest < size || x.reads != c.reads {
			t.Errorf("%s: %d bytes of %d were proposed after %d reads", c.about, x.longest, size, x.reads)
		}
	}
}

// TestRestoreIsWork: the elements of a payload count among the work of a request, which its other rows then lack.
func TestRestoreIsWork(t *testing.T) {
	x := newExecutor(t)
	shop := acl.Trusted(acl.DefaultName)
	shop.DB = "shop"
	restore := func(n int) []string { return []string{"RESTORE", "k", "0", list(n), "REPLACE"} }
	refused := "max request work exceeded by 'restore'. Limit: 500000 steps"
	out, err := fsm.Execute(t.Context(), x, fsm.Batch{As: shop, Origin: command.OriginHTTP, Mode: fsm.Pipeline, Rows: rowsOf([][]string{restore(50_000), restore(50_000), restore(50_000), restore(50_000), restore(50_000)})})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out.Values {
		if over := i == 4; v.IsError() != over || over && !strings.Contains(v.Text(), refused) {
			t.Errorf("row %d: %q", i, v.Text())
		}
	}
}
