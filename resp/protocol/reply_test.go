package protocol

import (
	"bufio"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func TestReadReply(t *testing.T) {
	for text, want := range map[string]reply.Value{
		"+OK\r\n": reply.Status("OK"), "-ERR no\r\n": reply.Error("ERR no"), ":-7\r\n": reply.Int(-7), "_\r\n": reply.Nil(), "$-1\r\n": reply.Nil(), "*-1\r\n": reply.NilArray(),
		"#t\r\n": reply.Bool(true), "#f\r\n": reply.Bool(false), ",1.50\r\n": reply.Double(1.5, "1.50"), "(123\r\n": reply.BigNumber("123"),
		"$4\r\na\r\nb\r\n": reply.Bulk("a\r\nb"), "=7\r\ntxt:a\nb\r\n": reply.Verbatim("a\nb"),
		"*2\r\n:1\r\n*0\r\n": reply.Array(reply.Int(1), reply.Array()), "~1\r\n+a\r\n": reply.Set(reply.Status("a")), ">1\r\n+a\r\n": reply.Push(reply.Status("a")),
		"%1\r\n+a\r\n,inf\r\n": reply.Map(reply.Status("a"), reply.Number(math.Inf(1))),
	} {
		got, err := ReadReply(bufio.NewReader(strings.NewReader(text)))
		if err != nil || got.Kind() != want.Kind() || scripttest.Print(got) != scripttest.Print(want) {
			t.Errorf("%q: %s, %v, want %s", text, scripttest.Print(got), err, scripttest.Print(want))
		}
	}
	for text, want := range map[string]error{
		"": io.EOF, "+OK": io.EOF, "+OK\n": ErrReply, "\r\n": ErrReply, "?\r\n": ErrReply, ":x\r\n": ErrReply, "$3\r\nab": io.ErrUnexpectedEOF, "*2\r\n:1\r\n": io.EOF, "*1000000000000\r\n": io.EOF, "$1000000000000\r\n": ErrReply,
	} {
		if _, err := ReadReply(bufio.NewReader(strings.NewReader(text))); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	v, err := ReadReply(bufio.NewReader(strings.NewReader("*1\r\n~2\r\n,0.10000000000000001\r\n+x\r\n")))
	if want := scripttest.Print(reply.Array(reply.Set(reply.Number(0.1), reply.Status("x")))); err != nil || scripttest.Print(ByValue(v)) != want {
		t.Errorf("%s, %v, want %s", scripttest.Print(ByValue(v)), err, want)
	}
}
