package rdb

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/listpack"
)

// TestStreamForms reads the forms of other versions: what they don't tell is made up as
// they do.
func TestStreamForms(t *testing.T) {
	var p listpack.Builder
	for _, e := range []string{"1", "1", "1", "f", "0", "2", "0", "0", "v", "4", "3", "5", "1", "w", "4"} {
		p.Add(e)
	}
	w := writer{}
	w.text(strings.Repeat("\x00", 7) + "\x09" + strings.Repeat("\x00", 7) + "\x01")
	w.text(string(p.Bytes()))
	entries := "01" + hex.EncodeToString(w.b)
	id := "0000000000000009" + "0000000000000001"
	at := hex.EncodeToString((&writer{}).moment(now))
	group := "01" + "0167" + "0901" + "%s" + "01" + id + at + "02" + "01" + "0163" + at + "%s" + "01" + id
	for form, c := range map[string]struct {
		added, read, active int64
	}{
		"0f" + entries + "01" + "0e02" + fmt.Sprintf(group, "", ""):                                                                 {1, 1, now},
		"13" + entries + "01" + "0e02" + "0901" + "0e02" + "02" + fmt.Sprintf(group, "01", ""):                                      {2, 1, now},
		"15" + entries + "01" + "0e02" + "0901" + "0e02" + "02" + fmt.Sprintf(group, "01", "ffffffffffffffff"):                      {2, 1, -1},
		"15" + entries + "01" + "0e02" + "0901" + "0e02" + "02" + fmt.Sprintf(group, "81ffffffffffffffff", strings.Repeat("00", 8)): {2, keyspace.UnknownRead, 0},
	} {
		b, err := hex.DecodeString(form)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Decode(b, now, room)
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		s := v.Data.(*keyspace.StreamLog)
		g := s.Group("g")
		if s.Len() != 1 || s.First() != (keyspace.StreamID{Ms: 9, Seq: 1}) || s.Last() != (keyspace.StreamID{Ms: 14, Seq: 2}) || s.Added() != c.added ||
			g.Read != c.read || g.Consumer("c").Active != c.active || g.Pending() != 1 || g.Consumer("c").Pending() != 1 {
			t.Errorf("%s: %q", form, content(v))
		}
	}
}

// TestHostileStreams corrupts a good stream in every byte: it is refused, or is a stream
// that is whole. It also names some that contradict themselves.
func TestHostileStreams(t *testing.T) {
	good := writer{}
	s := keyspace.NewStreamLog()
	for i, field := range []string{"f", "f", "g", "f"} {
		s.Append(keyspace.NewStreamEntry(keyspace.StreamID{Ms: now + uint64(i), Seq: 3}, [][]byte{[]byte(field), []byte(fmt.Sprint(i))}))
	}
	s.AddGroup("corrupted", keyspace.StreamID{}, 0)
	c, _ := s.Own("corrupted").OwnConsumer("c", now)
	s.Own("corrupted").Assign(c, keyspace.StreamID{Ms: 1}, now, 1)
	good.stream(s)
	for i := 1; i < len(good.b); i++ {
		for _, bit := range []byte{1, 0x40, 0x80} {
			b := append([]byte(nil), good.b...)
			b[i] ^= bit
			v, err := Decode(b, now, room)
			if err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrRoom) {
				t.Fatal(err)
			}
			if err == nil && reloaded(v) != content(v) {
				t.Fatalf("byte %d: a stream that no snapshot holds was taken", i)
			}
		}
	}
	nothing := "13" + "00" + "00" + "0000" + "0000" + "0000" + "00"
	for _, bad := range []string{
		"13" + "00" + "01" + "0000" + "0000" + "0000" + "00" + "00", // one entry, and none there
		"13" + "00" + "00" + "0000" + "0000" + "0000" + "81ffffffffffffffff" + "00",
		nothing + "02" + "0167" + "0000" + "00" + "00" + "00" + "0167" + "0000" + "00" + "00" + "00", // a group twice
		nothing + "01" + "0167" + "0000" + "81fffffffffffffffe" + "00" + "00",
		nothing + "01" + "0167" + "0000" + "00" + "01" + strings.Repeat("00", 24) + "01" + "00", // nobody's
		nothing + "01" + "0167" + "0000" + "00" + "00" + "01" + "0163" + strings.Repeat("00", 8) + "01" + strings.Repeat("00", 16),
	} {
		b, err := hex.DecodeString(bad)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Decode(b, now, room); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %q, %v", bad, content(v), err)
		}
	}
	if b, err := hex.DecodeString(nothing + "00"); err != nil {
		t.Fatal(err)
	} else if _, err := Decode(b, now, room); err != nil {
		t.Errorf("the empty stream: %v", err)
	}
}

// TestRepeatedFields has a node whose entries all repeat one long field, which costs a
// byte each in the payload.
func TestRepeatedFields(t *testing.T) {
	var p listpack.Builder
	const n = 20_000
	for _, e := range []string{fmt.Sprint(n), "0", "1", strings.Repeat("f", 100_000), "0"} {
		p.Add(e)
	}
	for i := range n {
		for _, e := range []string{"2", "0", fmt.Sprint(i), "v", "4"} {
			p.Add(e)
		}
	}
	w := writer{}
	w.kind(TypeStream2)
	w.length(1)
	w.text(strings.Repeat("\x01", 16))
	w.text(string(p.Bytes()))
	if _, err := Decode(w.b, now, room); !errors.Is(err, ErrRoom) {
		t.Errorf("%d bytes that stand for %d: %v", len(w.b), int64(n)*100_000, err)
	}
}

// TestDumpOfReleasedEntries carries entries that are pending with nobody, with and without a
// consumer whose name is empty too.
func TestDumpOfReleasedEntries(t *testing.T) {
	for _, consumers := range [][]string{{"c"}, {"", "c"}} {
		s := keyspace.NewStreamLog()
		s.AddGroup("g", keyspace.StreamID{Ms: 9}, 0)
		g := s.Own("g")
		for i, name := range consumers {
			c, _ := g.OwnConsumer(name, now)
			g.Assign(c, keyspace.StreamID{Ms: uint64(i) + 1}, now, 1)
		}
		g.Release(keyspace.StreamID{Ms: 5}, 7)
		v := Value{Data: s}
		payload, err := Dump(stored(v), env.At(now))
		if err != nil {
			t.Fatal(err)
		}
		back, err := restore(payload, now, room)
		if err != nil {
			t.Fatal(err)
		}
		g = back.Data.(*keyspace.StreamLog).Group("g")
		p, ok := g.FindPending(keyspace.StreamID{Ms: 5})
		if !ok || !p.Unowned || p.Count != 7 || g.Consumers() != len(consumers) || g.Pending() != len(consumers)+1 || g.Consumer("c").Pending() != 1 {
			t.Errorf("%q: %+v of %d, %d consumers", consumers, p, g.Pending(), g.Consumers())
		}
	}
}
