package scripttest

import (
	"errors"
	"reflect"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func TestParse(t *testing.T) {
	steps, err := Parse("# a comment\n> SET k \"a b\"\nOK\n\nadvance 11s\nadvance 5ms\norigin http\nrole readonly\nredis 8.4\n>~ KEYS *\n1) \"a\"\n2) \"b\"\n> PING\nPONG\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Step{
		{Line: 2, Text: `SET k "a b"`, Origin: command.RESP, As: acl.Trusted(acl.DefaultName), Argv: [][]byte{[]byte("SET"), []byte("k"), []byte("a b")}, Want: "OK"},
		{Line: 10, Text: "KEYS *", After: 11005, Origin: command.OriginHTTP, As: acl.Trusted(acl.ReadOnlyName), Redis: "8.4", Argv: [][]byte{[]byte("KEYS"), []byte("*")}, Unordered: true, Want: "1) \"a\"\n2) \"b\""},
		{Line: 13, Text: "PING", Origin: command.OriginHTTP, As: acl.Trusted(acl.ReadOnlyName), Redis: "8.4", Argv: [][]byte{[]byte("PING")}, Want: "PONG"},
	}
	if !reflect.DeepEqual(steps, want) {
		t.Fatalf("got %+v", steps)
	}
	for _, bad := range []string{"OK", "> ", "> SET \"k", "> SET 'k'v", "advance 5", "advance s", "advance -1s", "origin window", "> PING\nPONG\n\nPONG"} {
		if _, err := Parse(bad); !errors.Is(err, ErrScript) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestWords(t *testing.T) {
	words, err := Split(`  a "b c"  'd\'\n' "\x00\xff\"\\\n\q" "" e"f"`)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]byte{[]byte("a"), []byte("b c"), []byte(`d'\n`), []byte("\x00\xff\"\\\nq"), {}, []byte("ef")}
	if !reflect.DeepEqual(words, want) {
		t.Fatalf("got %q", words)
	}
	if got := Quote("a\x00\xff\"\\\n\aé"); got != `"a\x00\xff\"\\\n\a\xc3\xa9"` {
		t.Fatalf("quoted %s", got)
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("a\x00 \"b")
	f.Fuzz(func(t *testing.T, s string) {
		words, err := Split(Quote(s))
		if err != nil || len(words) != 1 || string(words[0]) != s {
			t.Fatalf("%q came back as %q, %v", s, words, err)
		}
	})
}

func TestPrint(t *testing.T) {
	elems := []reply.Value{reply.Bulk("a"), reply.Array(reply.Int(1), reply.NilArray()), reply.Map(reply.Status("k"), reply.Set(reply.Bool(true), reply.Bool(false)))}
	for range 7 {
		elems = append(elems, reply.Nil())
	}
	want := ` 1) "a"
 2) 1) (integer) 1
    2) (nil array)
 3) 1# k => 1~ (true)
       2~ (false)
 4) (nil)
 5) (nil)
 6) (nil)
 7) (nil)
 8) (nil)
 9) (nil)
10) (nil)`
	if got := Print(reply.Array(elems...)); got != want {
		t.Fatalf("got\n%s", got)
	}
	for want, v := range map[string]reply.Value{
		"(empty array)": reply.Array(), "(empty hash)": reply.Map(), "(empty set)": reply.Set(), "1> \"p\"": reply.Push(reply.Bulk("p")),
		"(error) ERR x": reply.Error("ERR x"), "(double) 1.5": reply.Double(1.5, "1.5"), "(verbatim) \"t\"": reply.Verbatim("t"), "(big number) 12": reply.BigNumber("12"),
	} {
		if got := Print(v); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	mixed := reply.Array(reply.Bulk("0"), reply.Array(reply.Bulk("b"), reply.Bulk("a")))
	if got := Print(Sorted(mixed)); got != "1) \"0\"\n2) 1) \"a\"\n   2) \"b\"" {
		t.Fatalf("sorted:\n%s", got)
	}
}

// TestSorted checks that sets, maps and arrays of strings or pairs are put in order, and
// that nothing gets lost.
func TestSorted(t *testing.T) {
	b := reply.Bulk
	for _, c := range []struct{ from, want reply.Value }{
		{reply.Set(b("b"), b("c"), b("a")), reply.Set(b("a"), b("b"), b("c"))},
		{reply.Map(b("b"), b("1"), b("c"), b("2"), b("a"), b("3")), reply.Map(b("a"), b("3"), b("b"), b("1"), b("c"), b("2"))},
		{reply.Pairs(b("b"), b("1"), b("a"), b("2")), reply.Array(reply.Array(b("a"), b("2")), reply.Array(b("b"), b("1")))},
		{reply.Array(reply.Array(b("b"), b("1")), reply.Array(b("a"), b("2"))), reply.Array(reply.Array(b("a"), b("2")), reply.Array(b("b"), b("1")))},
		{reply.Array(b("0"), reply.Array(b("b"), b("a"))), reply.Array(b("0"), reply.Array(b("a"), b("b")))},
		{reply.Array(b("b"), reply.Int(1)), reply.Array(b("b"), reply.Int(1))},
		{reply.Int(1), reply.Int(1)},
	} {
		if got := Sorted(c.from); !got.Equal(c.want) {
			t.Errorf("%s sorted is\n%s\nwant\n%s", Print(c.from), Print(got), Print(c.want))
		}
	}
}
