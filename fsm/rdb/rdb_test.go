package rdb

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/wire"
)

const (
	now  = 1_700_000_000_000
	room = 1 << 24
)

// stored is the object that a keyspace makes of a value.
func stored(v Value) *keyspace.Object {
	db, e := keyspace.New(), env.New(1, now, env.Latest, [16]byte{}, 0)
	if key := []byte("k"); v.Data == nil {
		db.SetText(e, key, v.Text, 0)
	} else {
		db.PutContainer(e, key, v.Data, 0)
	}
	return db.Find(e, []byte("k"))
}

// content is a value as a snapshot holds it.
func content(v Value) string {
	if v.Data == nil {
		return "text " + v.Text
	}
	var w wire.Writer
	v.Data.Encode(&w)
	return v.Data.Type().String() + " " + string(w.B)
}

// reloaded is a value as a snapshot gives it back, empty if it can't.
func reloaded(v Value) string {
	if v.Data == nil {
		return content(v)
	}
	db, e := keyspace.New(), env.New(1, now, env.Latest, [16]byte{}, 0)
	db.PutContainer(e, []byte("k"), v.Data, 0)
	l := keyspace.NewLoader()
	if err := db.Save(l.Add); err != nil {
		return ""
	}
	back, err := l.Finish()
	if err != nil {
		return ""
	}
	return content(Value{Data: back.Find(e, []byte("k")).Data()})
}

func TestChecksum(t *testing.T) {
	if got := Checksum(0, []byte("123456789")); got != 0xe9c6d914c4b8d9ca {
		t.Errorf("%x", got)
	}
	if got := Checksum(Checksum(0, []byte("12345")), []byte("6789")); got != 0xe9c6d914c4b8d9ca {
		t.Errorf("in two parts: %x", got)
	}
}

func TestLZF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "abc", strings.Repeat("z", 300), strings.Repeat("0123456789", 1000)}))
		s := strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "s"), "")
		b := lzf(s, len(s)+len(s)/lzfRun+2)
		if b == nil {
			t.Fatal("packed text grew beyond its bound")
		}
		if uint64(len(s)) > lzfMaxSize(len(b)) {
			t.Fatalf("%d bytes stand for %d", len(b), len(s))
		}
		got, err := unLZF(b, len(s))
		if err != nil || string(got) != s {
			t.Fatalf("%d bytes came back as %d: %v", len(s), len(got), err)
		}
		if _, err := unLZF(b, len(s)+1); len(s) > 0 && !errors.Is(err, ErrFormat) {
			t.Fatalf("another length: %v", err)
		}
	})
}

// drawText draws a string of any length that matters to the format.
func drawText(t *rapid.T) string {
	return rapid.OneOf(rapid.String(), rapid.Map(rapid.Int64(), func(n int64) string { return fmt.Sprint(n) }),
		rapid.Map(rapid.IntRange(0, 400), func(n int) string { return fmt.Sprint(n - 200) }),
		rapid.Map(rapid.IntRange(0, 9000), func(n int) string { return strings.Repeat("ab", n) })).Draw(t, "text")
}

// values draw values of each type.
var values = map[string]func(t *rapid.T) Value{
	"string": func(t *rapid.T) Value { return Value{Text: drawText(t)} },
	"list": func(t *rapid.T) Value {
		list := keyspace.NewElements()
		for range rapid.IntRange(1, 40).Draw(t, "n") {
			list.Insert(list.Len(), drawText(t))
		}
		return Value{Data: list}
	},
	"set": func(t *rapid.T) Value {
		set, n := keyspace.NewMembers(), rapid.SampledFrom([]int{1, 5, 64, 65, 200}).Draw(t, "n")
		ints := rapid.Bool().Draw(t, "ints")
		width := rapid.SampledFrom([]int64{1, 1 << 13, 1 << 40}).Draw(t, "width")
		for i := range n {
			switch member := fmt.Sprint(int64(i-3) * width); {
			case ints:
				set.Add(member)
			case i == 0: // no number: the form of sets of numbers has an order of its own
				set.Add("x" + member + drawText(t))
			default:
				set.Add(member + drawText(t))
			}
		}
		return Value{Data: set}
	},
	"zset": func(t *rapid.T) Value {
		n := rapid.SampledFrom([]int{1, 5, 64, 65, 128, 129}).Draw(t, "n")
		z := keyspace.NewZSet(n, 0)
		for i := range n {
			score := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Inf(1), math.Inf(-1), 1 << 53, -1 << 60, 0.1, 5e-324})).Draw(t, "score")
			z.Put([]byte(fmt.Sprint("m", i)), score)
		}
		return Value{Data: z}
	},
	"hash": func(t *rapid.T) Value {
		h, timed := keyspace.NewFields(), rapid.Bool().Draw(t, "timed")
		for i := range rapid.SampledFrom([]int{1, 5, 64, 65, 513}).Draw(t, "n") {
			at := int64(0)
			if timed {
				at = rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(now+1, now+1_000_000), rapid.Just(int64(math.MaxInt64))).Draw(t, "at")
			}
			h.Set(env.At(now), fmt.Sprint("f", i), fmt.Sprint(drawText(t)), keyspace.Deadline(at))
		}
		return Value{Data: h}
	},
	"stream": func(t *rapid.T) Value {
		s := keyspace.NewStreamLog()
		fields := rapid.SampledFrom([]string{"same", "other", ""})
		for i := range rapid.SampledFrom([]int{0, 1, 5, 101, 250}).Draw(t, "n") {
			words := [][]byte{[]byte(fields.Draw(t, "field")), []byte(drawText(t))}
			if rapid.IntRange(0, 9).Draw(t, "more") == 0 {
				words = append(words, []byte("more"), []byte("7"))
			}
			s.Append(keyspace.NewStreamEntry(keyspace.StreamID{Ms: now + uint64(i)/3, Seq: uint64(i % 3)}, words))
		}
		s.Delete(keyspace.StreamID{Ms: now, Seq: 1})
		for _, name := range []string{"", "g", "h"}[:rapid.IntRange(0, 3).Draw(t, "groups")] {
			s.AddGroup(name, keyspace.StreamID{Ms: now, Seq: 2}, rapid.Int64Range(-1, 9).Draw(t, "read"))
			g := s.Own(name)
			for i := range rapid.IntRange(0, 9).Draw(t, "pending") {
				c, _ := g.OwnConsumer(fmt.Sprint("c", i%4), now-int64(i%4))
				c.Active = c.Seen // the form has no room for it
				g.Assign(c, keyspace.StreamID{Ms: now, Seq: uint64(i)}, now-int64(i), int64(i*i))
			}
		}
		return Value{Data: s}
	},
	"json": func(t *rapid.T) Value {
		text := rapid.SampledFrom([]string{"1", "1.0", `"x"`, `{"b":[1,{"a":null}],"a":"\u00e9"}`, "[]", "[1e308,-0.5,18446744073709551615]"}).Draw(t, "text")
		v, err := jsondoc.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return Value{Data: keyspace.NewDocument(v)}
	},
}

// TestDumpAndRestore brings values through their dumps.
func TestDumpAndRestore(t *testing.T) {
	for name, draw := range values {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				v := draw(t)
				want := content(v)
				payload, err := Dump(stored(v), env.At(now))
				if err != nil {
					t.Fatal(err)
				}
				got, err := restore(payload, now, room)
				if err != nil {
					t.Fatalf("%x: %v", payload, err)
				}
				if content(got) != want {
					t.Fatalf("%q came back as %q", want, content(got))
				}
				again, err := Dump(stored(got), env.At(now))
				if err != nil || !bytes.Equal(again, payload) {
					t.Fatalf("%x is dumped again as %x: %v", payload, again, err)
				}
			})
		})
	}
}

// TestOlderForms reads forms that only older versions of Redis write. The bytes are
// composed by hand.
func TestOlderForms(t *testing.T) {
	list := func(elements ...string) string {
		l := keyspace.NewElements()
		for i, e := range elements {
			l.Insert(i, e)
		}
		return content(Value{Data: l})
	}
	for _, c := range []struct{ hex, want string }{
		{"01 02 01 61 c0 05", list("a", "5")},
		{"0a 15 15000000 12000000 0300 00 c0 e803 04 fe 80 03 01 61 ff", list("1000", "-128", "a")},
		{"0e 02 0d 0d000000 0a000000 0100 00 f2 ff 0e 0e000000 0a000000 0100 00 01 62 ff", list("1", "b")},
		{"0a 22 22000000 1f000000 0400 00 f0 000080 05 d0 ffffff7f 06 e0 0100000000000000 0a f1 ff", list("-8388608", "2147483647", "1", "0")},
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Decode(b, now, room); err != nil || content(v) != c.want {
			t.Errorf("%s: %q, %v", c.hex, content(v), err)
		}
	}
}

// TestFieldDeadlines reads the forms of hashes whose fields have deadlines: those past
// theirs are left out.
func TestFieldDeadlines(t *testing.T) {
	deadline := func(at int64) string { return fmt.Sprintf("%x", (&writer{}).moment(at)) }
	pack := func(entries ...string) string {
		w := writer{}
		w.text(string(packedOf(entries)))
		return fmt.Sprintf("%x", w.b)
	}
	for _, form := range []string{
		"18" + deadline(now+10) + "03" + "00 0161 0131" + "01 0162 0132" + "0b 0163 0133",
		"19" + deadline(now+10) + pack("b", "2", fmt.Sprint(now+10), "c", "3", fmt.Sprint(now+20), "a", "1", "0"),
		"17" + pack("b", "2", fmt.Sprint(now+10), "c", "3", fmt.Sprint(now+20), "a", "1", "0"),
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(form, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range map[int64]map[string]int64{
			now:      {"a": 0, "b": now + 10, "c": now + 20},
			now + 10: {"a": 0, "c": now + 20},
			now + 20: {"a": 0},
		} {
			v, err := Decode(b, at, room)
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			got := map[string]int64{}
			v.Data.(*keyspace.Fields).AllTimed(env.At(at), func(field, value string, deadline keyspace.Deadline) bool {
				got[field] = deadline.Millis()
				return true
			})
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s at %d: %v, want %v", form, at, got, want)
			}
		}
	}
}

func (w *writer) moment(at int64) []byte {
	w.millis(at)
	return w.b
}

// TestHostilePayloads names payloads that must be refused, and why.
func TestHostilePayloads(t *testing.T) {
	for _, c := range []struct {
		hex  string
		want error
	}{
		{"", ErrFormat}, {"00", ErrFormat}, {"ff 00", ErrFormat}, {"06 00", ErrFormat}, {"09 00", ErrFormat},
		{"00 01 61 62", ErrFormat},            // something behind the value
		{"00 81 ffffffffffffffff", ErrFormat}, // longer than what is there
		{"00 80 7fffffff", ErrFormat},
		{"01 00", ErrFormat}, {"02 00", ErrFormat}, {"04 00", ErrFormat}, {"05 00", ErrFormat}, {"12 00", ErrFormat}, // empty
		{"01 81 00ffffffffffffff 00", ErrFormat},       // more elements than bytes
		{"00 c3 04 80ffffffff 00 61 e0 ff", ErrFormat}, // more than LZF can stand for
		{"00 c3 05 42 00 00 61 e0 ff 00", ErrFormat},   // another length than LZF stands for
		{"02 02 01 61 01 61", ErrFormat},               // twice the same member
		{"04 02 01 61 01 61 01 61 01 61", ErrFormat},
		{"05 02 01 61 0000000000000000 01 61 0000000000000000", ErrFormat},
		{"05 01 01 61 000000000000f87f", ErrFormat}, // no number
		{"03 01 01 61 fd", ErrFormat},
		{"0b 0c 02000000 02000000 0200 0100", ErrFormat}, // out of order
		{"0b 0a 02000000 02000000 0100", ErrFormat},      // too short
		{"0b 0c 03000000 01000000 01000000", ErrFormat},  // a width that there isn't
		{"10 07 07000000 0000 ff", ErrFormat},            // a hash of nothing
		{"07 81 0000000000000001 00", ErrFormat},         // another module
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Decode(b, now, room); !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v", c.hex, content(v), err)
		}
	}
	big := writer{}
	big.kind(TypeString)
	big.text(strings.Repeat("x", room+1))
	if _, err := Decode(big.b, now, room); !errors.Is(err, ErrRoom) {
		t.Errorf("%d bytes that stand for more than there is room: %v", len(big.b), err)
	}
}

func TestPayloadsAreChecked(t *testing.T) {
	good, err := Dump(stored(Value{Text: "hello"}), env.At(now))
	if err != nil {
		t.Fatal(err)
	}
	if want := "000568656c6c6f0a00"; hex.EncodeToString(good[:len(good)-8]) != want {
		t.Errorf("%x", good)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, err := restore(bad, now, room); !errors.Is(err, ErrPayload) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := restore(good[:i], now, room); !errors.Is(err, ErrPayload) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	newer := frame([]byte("\x00\x01a"), Version+1)
	if _, err := restore(newer, now, room); !errors.Is(err, ErrPayload) {
		t.Errorf("a newer version: %v", err)
	}
}
