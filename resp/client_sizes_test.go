package resp_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/resp/resptest"
)

// describedClient is a line of CLIENT LIST by its fields.
func describedClient(line string) map[string]string {
	fields := map[string]string{}
	for _, field := range strings.Fields(line) {
		name, value, _ := strings.Cut(field, "=")
		fields[name] = value
	}
	return fields
}

// TestClientSizes has connections hold bytes in every place that CLIENT LIST has a number for, on a node and on redis-server: a
// number that never is another than 0 fails, and those that follow from what was sent are exact.
func TestClientSizes(t *testing.T) {
	onBoth(t, func(t *testing.T, dial func() *resptest.Client) {
		c, other := dial(), dial()
		seen := map[string]bool{}
		look := func(line string, exact map[string]string) {
			t.Helper()
			fields := describedClient(line)
			for name, value := range fields {
				if n, err := strconv.Atoi(value); err == nil && n > 0 {
					seen[name] = true
				}
			}
			for name, want := range exact {
				if fields[name] != want {
					t.Errorf("%s=%s, want %s: %s", name, fields[name], want, line)
				}
			}
		}
		look(c.Do("CLIENT", "INFO").Text(), map[string]string{"qbuf": "26", "argv-mem": "10", "multi-mem": "0", "obl": "0", "oll": "0", "omem": "0", "events": "r"})
		id := fmt.Sprint(c.Do("CLIENT", "ID").Int())
		of := func() string { return other.Do("CLIENT", "LIST", "ID", id).Text() }
		look(c.Do("CLIENT", "LIST", "ID", id).Text(), map[string]string{"argv-mem": strconv.Itoa(len("CLIENTLISTID" + id)), "qbuf": strconv.Itoa(len("*4\r\n$6\r\nCLIENT\r\n$4\r\nLIST\r\n$2\r\nID\r\n$1\r\n\r\n") + len(id))})
		look(of(), map[string]string{"qbuf": "0", "argv-mem": "0"})

		both := "*2\r\n$4\r\nECHO\r\n$2\r\nab\r\n*2\r\n$6\r\nCLIENT\r\n$4\r\nINFO\r\n"
		c.Send(both)
		c.WantNext(`"ab"`)
		look(c.Next().Text(), map[string]string{"qbuf": strconv.Itoa(len(both)), "obl": strconv.Itoa(len("$2\r\nab\r\n"))})

		c.Want("OK", "WATCH", "k")
		c.Want("OK", "MULTI")
		c.Want("QUEUED", "SET", "k", "v")
		look(of(), map[string]string{"multi": "1"})
		c.Want("OK", "DISCARD")
		look(of(), map[string]string{"multi": "-1", "multi-mem": "0"})

		c.Start("BLPOP", "none", "0")
		other.AwaitBlocked("1")
		look(of(), map[string]string{"argv-mem": strconv.Itoa(len("BLPOPnone0")), "flags": "b"})
		other.Want("(integer) 1", "RPUSH", "none", "v")
		c.Next()

		other.Want("OK", "CLIENT", "PAUSE", "100000000", "WRITE")
		c.Start("SET", "k", "value")
		other.AwaitBlocked("1")
		look(of(), map[string]string{"flags": "b"})
		other.Want("OK", "CLIENT", "UNPAUSE")
		c.WantNext("OK")

		for _, name := range []string{"id", "fd", "multi", "qbuf", "qbuf-free", "argv-mem", "multi-mem", "rbs", "rbp", "obl", "tot-mem", "resp"} {
			if !seen[name] {
				t.Errorf("%s never was above 0", name)
			}
		}
	})
}
