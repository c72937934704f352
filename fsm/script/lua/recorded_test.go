package lua

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// showing runs a program within another one, which returns all that came of it as a text.
const showing = `local function show(...)
  local o = {}
  for i = 1, select('#', ...) do o[i] = tostring((select(i, ...))) end
  return table.concat(o, ' ')
end
local f, e = loadstring(%s, '@program')
if not f then return 'syntax: ' .. e end
return show(pcall(f))`

// TestRecordedPrograms runs each program of testdata/programs.txt and compares what it answers with what redis-server did when
// the file was recorded. A line break in a program or an answer is written as the sign for it.
func TestRecordedPrograms(t *testing.T) {
	const path, newline = "testdata/programs.txt", "␤"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := newState()
	here := func(program string) string {
		got, _ := s.run(t, program, plenty)
		return got
	}
	answer, record := here, os.Getenv("TRIREME_RECORD") == "lua"
	if record {
		answer = redisLua(t)
	}
	var recorded strings.Builder
	program, programs := "", 0
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case ">":
			program = rest
			programs++
		case "=":
			if record {
				continue
			}
			if got := strings.ReplaceAll(here(fmt.Sprintf(showing, longString(strings.ReplaceAll(program, newline, "\n")))), "\n", newline); got != rest {
				t.Errorf("%s\n got %s\nwant %s", program, got, rest)
			}
		}
		fmt.Fprintln(&recorded, line)
		if kind == ">" && record {
			got := answer(fmt.Sprintf(showing, longString(strings.ReplaceAll(program, newline, "\n"))))
			fmt.Fprintln(&recorded, "=", strings.ReplaceAll(got, "\n", newline))
		}
	}
	if programs < 500 {
		t.Errorf("the file has %d programs", programs)
	}
	if record {
		if err := os.WriteFile(path, []byte(recorded.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// longString is a text as a literal of Lua without escapes.
func longString(text string) string { return "[==========[\n" + text + "]==========]" }

// redisLua runs programs in a redis-server.
func redisLua(t *testing.T) func(program string) string {
	dir := t.TempDir()
	socket := filepath.Join(dir, "redis.sock")
	server := exec.Command("redis-server", "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	var c net.Conn
	for begun := time.Now(); c == nil; {
		var err error
		if c, err = net.Dial("unix", socket); err != nil && time.Since(begun) > time.Minute {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { c.Close() })
	in := bufio.NewReader(c)
	return func(program string) string {
		fmt.Fprintf(c, "*3\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n0\r\n", len(program), program)
		head, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		head = strings.TrimRight(head, "\r\n")
		n, err := strconv.Atoi(strings.TrimPrefix(head, "$"))
		if err != nil {
			return head
		}
		body := make([]byte, n+2)
		if _, err := io.ReadFull(in, body); err != nil {
			t.Fatal(err)
		}
		return string(body[:n])
	}
}
