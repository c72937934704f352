package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var wide = Limits{Words: 1000, Bulk: 1 << 20, Total: 1 << 21, Inline: 1 << 16}

// feed gives a parser text in pieces and returns the commands and how it ended.
func feed(text []byte, l *Limits, cut func(left int) int) (all [][]string, err error) {
	var p Parser
	var buf []byte
	for {
		argv, size, e := p.Next(buf, l)
		switch {
		case e == nil:
			words := make([]string, len(argv))
			for i, w := range argv {
				words[i] = string(w)
			}
			all = append(all, words)
			buf = bytes.Clone(buf[size:])
			p.Release()
		case !errors.Is(e, ErrIncomplete):
			return all, e
		case len(text) == 0:
			return all, nil
		default:
			n := min(max(cut(len(text)), 1), len(text))
			buf, text = append(bytes.Clone(buf), text[:n]...), text[n:]
		}
	}
}

func whole(left int) int { return left }

func TestRequests(t *testing.T) {
	for _, one := range []struct{ text, want, err string }{
		{"*1\r\n$4\r\nPING\r\n", "[[PING]]", ""},
		{"*2\r\n$3\r\nGET\r\n$0\r\n\r\n", "[[GET ]]", ""},
		{"*2\r\n$1\r\na\r\n$2\r\n\r\n\r\nPING\r\n", "[[a \r\n] [PING]]", ""},
		{"*0\r\n*-1\r\nPING\n", "[[] [] [PING]]", ""},
		{"\r\nPING\r\n\n", "[[] [PING] []]", ""},
		{"set  k\t\"a b\" 'c d'\r\n", "[[set k a b c d]]", ""},
		{`x "\x41\n\"" 'it\'s \n' a"b"` + "\n", "[[x A\n\" it's \\n ab]]", ""},
		{"*3\r\n$3\r\nSET\r\n", "[]", ""},
		{`x "open` + "\r\n", "[]", "unbalanced quotes in request"},
		{`x "a"b` + "\r\n", "[]", "unbalanced quotes in request"},
		{"*x\r\n", "[]", "invalid multibulk length"},
		{"*1001\r\n", "[]", "invalid multibulk length"},
		{"*99999999999999999999\r\n", "[]", "invalid multibulk length"},
		{"*1\r\nPING\r\n", "[]", "expected '$', got 'P'"},
		{"*1\r\n$-1\r\n", "[]", "invalid bulk length"},
		{"*1\r\n$1048577\r\n", "[]", "invalid bulk length"},
		{"*3\r\n$1048576\r\n" + strings.Repeat("x", 1<<20) + "\r\n$1048576\r\n", "[]", "command is longer than 2097152 bytes"},
		{strings.Repeat("x", 1<<16+1), "[]", "too big inline request"},
		{"*" + strings.Repeat("1", 1<<16+1), "[]", "too big mbulk count string"},
		{"*1\r\n$" + strings.Repeat("1", 1<<16+1), "[]", "too big bulk count string"},
		{"PING\r\n*1\r\n\xff", "[[PING]]", "expected '$', got ' '"},
	} {
		got, err := feed([]byte(one.text), &wide, whole)
		text := ""
		if err != nil {
			text = strings.TrimPrefix(err.Error(), "ERR Protocol error: ")
		}
		if fmt.Sprint(got) != one.want && !(len(got) == 0 && one.want == "[]") || text != one.err {
			t.Errorf("%.80q: %q, %q", one.text, got, text)
		}
	}
}

// TestUnauthenticated checks that strangers can't make the server hold much.
func TestUnauthenticated(t *testing.T) {
	for text, want := range map[string]string{
		"*11\r\n":                        "ERR Protocol error: unauthenticated multibulk length",
		"*2\r\n$16385\r\n":               "ERR Protocol error: unauthenticated bulk length",
		"*2\r\n$4\r\nAUTH\r\n$16384\r\n": "",
	} {
		_, err := feed([]byte(text), &Unauthenticated, whole)
		if got := fmt.Sprint(err); got != want && !(want == "" && err == nil) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPieces checks that it doesn't matter where a stream is cut.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		var want [][]string
		for range rapid.IntRange(0, 8).Draw(t, "commands") {
			words := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("a\r\n$*\"\x00")), 0, 6, -1), 1, 5).Draw(t, "words")
			want = append(want, words)
			text = fmt.Appendf(text, "*%d\r\n", len(words))
			for _, w := range words {
				text = fmt.Appendf(text, "$%d\r\n%s\r\n", len(w), w)
			}
		}
		got, err := feed(text, &wide, func(left int) int { return rapid.IntRange(1, left).Draw(t, "cut") })
		if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q, %v of %q", got, err, want)
		}
	})
}

// FuzzParser checks that a stream means the same whole and byte by byte, and that no word
// is longer than allowed.
func FuzzParser(f *testing.F) {
	for _, seed := range []string{"*1\r\n$4\r\nPING\r\n", "PING\r\n", `set k "a\x00b" 'c'` + "\r\n", "*2\r\n$3\r\nGET\r\n$100\r\n", "*-1\r\n$\r\n"} {
		f.Add([]byte(seed))
	}
	narrow := Limits{Words: 20, Bulk: 64, Total: 256, Inline: 128}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := feed(text, &narrow, whole)
		bytewise, e := feed(text, &narrow, func(int) int { return 1 })
		if fmt.Sprintf("%q", all) != fmt.Sprintf("%q", bytewise) || fmt.Sprint(err) != fmt.Sprint(e) {
			t.Fatalf("%q, %v; byte by byte %q, %v", all, err, bytewise, e)
		}
		for _, words := range all {
			if len(words) > narrow.Words {
				t.Fatalf("%d words", len(words))
			}
			for _, w := range words {
				if len(w) > narrow.Inline {
					t.Fatalf("a word of %d bytes", len(w))
				}
			}
		}
	})
}
