package peer

import (
	"bufio"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/bench/internal/proc"
)

func TestBenchmarkRateReadsTheSetRow(t *testing.T) {
	const out = `"test","rps","avg_latency_ms"
"SET","423549.33","3.1"
`
	if v, err := benchmarkRate([]byte(out)); err != nil || v != 423549.33 {
		t.Fatal(v, err)
	}
	for _, bad := range []string{"", "\"test\",\"rps\"\n", "\"SET\",\"quick\"\n", "\"SET"} {
		if v, err := benchmarkRate([]byte(bad)); err == nil {
			t.Errorf("%q: %v", bad, v)
		}
	}
}

func TestRESPReplies(t *testing.T) {
	for in, want := range map[string]string{
		"+OK\r\n": "OK", ":12\r\n": "12", "$3\r\na\nb\r\n": "a\nb", "$-1\r\n": "", "$0\r\n\r\n": "",
	} {
		c := &respConn{r: bufio.NewReader(strings.NewReader(in))}
		if got, err := c.read(); err != nil || got != want {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
	for _, in := range []string{"-ERR no\r\n", "", "\r\n", "*1\r\n", "$x\r\n", "$9\r\nab\r\n"} {
		c := &respConn{r: bufio.NewReader(strings.NewReader(in))}
		if got, err := c.read(); err == nil {
			t.Errorf("%q was read as %q", in, got)
		}
	}
}

// TestDiscard: a reply of any kind is read to its end, and the first error in it is told.
func TestDiscard(t *testing.T) {
	for _, in := range []string{
		"+OK\r\n", ":12\r\n", "$3\r\na\nb\r\n", "$-1\r\n", "$0\r\n\r\n", "*-1\r\n", "*0\r\n", "_\r\n", "#t\r\n", ",1.5\r\n",
		"*3\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n+x\r\n", "%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n", "~1\r\n=5\r\ntxt:a\r\n",
	} {
		c := &respConn{r: bufio.NewReader(strings.NewReader(in + "+next\r\n"))}
		if err := c.discard(); err != nil {
			t.Errorf("%q: %v", in, err)
		}
		if next, err := c.read(); err != nil || next != "next" {
			t.Errorf("after %q comes %q, %v", in, next, err)
		}
	}
	c := &respConn{r: bufio.NewReader(strings.NewReader("*3\r\n:1\r\n-ERR first\r\n-ERR second\r\n+next\r\n"))}
	if err := c.discard(); err == nil || err.Error() != "ERR first" {
		t.Errorf("an error in an array: %v", err)
	}
	if next, err := c.read(); err != nil || next != "next" {
		t.Errorf("after it comes %q, %v", next, err)
	}
	for _, in := range []string{"", "\r\n", "$x\r\n", "*x\r\n", "$9\r\nab\r\n", "*2\r\n:1\r\n"} {
		c := &respConn{r: bufio.NewReader(strings.NewReader(in))}
		if err := c.discard(); err == nil {
			t.Errorf("%q was read", in)
		}
	}
}

func TestMissingProgramsAreToldApart(t *testing.T) {
	if _, err := program("no-such-program"); !errors.Is(err, ErrMissing) {
		t.Fatal(err)
	}
	if _, err := (&Env{Trireme: "no-such-program"}).product(); err == nil || errors.Is(err, ErrMissing) {
		t.Fatalf("our own binary counts as a missing peer: %v", err)
	}
}

// A real redis-server: filled exactly, forked, and gone after Stop.
func TestRedis(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	ports, err := proc.NewPorts()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := &Env{Data: dir + "/data", Logs: dir + "/logs", Ports: ports}
	r, err := env.StartRedis(t.Context(), "redis", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Fill(2345); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Do("DBSIZE"); err != nil || n != "2345" {
		t.Errorf("DBSIZE %s %v", n, err)
	}
	if v, err := r.Do("STRLEN", "k000000002344"); err != nil || v != "64" {
		t.Errorf("STRLEN of the last key %s %v", v, err)
	}
	if sync, err := r.Info("aof_enabled"); err != nil || sync != "1" {
		t.Errorf("aof_enabled %s %v: the peer would be measured without syncing", sync, err)
	}
	if took, err := r.Fork(t.Context()); err != nil || took <= 0 {
		t.Errorf("fork %v %v", took, err)
	}
	if _, err := r.Info("no_such_field"); err == nil {
		t.Error("a missing field was found")
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Do("PING"); err == nil {
		t.Fatal("redis-server answers after Stop")
	}
}

func TestAtPutsThePathBehindEachServer(t *testing.T) {
	got := At(etcdDialect().Get, "http://a:1", "http://b:2").Targets
	if strings.Join(got, " ") != "http://a:1/v3/kv/range http://b:2/v3/kv/range" {
		t.Fatal(got)
	}
	if again := At(etcdDialect().Get, "http://c:3").Targets; len(again) != 1 {
		t.Fatal(again)
	}
}
