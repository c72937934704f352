package resp_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// silentClients are clients that take no memory of this process: their sockets belong to the kernel, and nobody reads them.
type silentClients struct {
	tb    testing.TB
	addr  unix.SockaddrInet4
	socks []int
}

func newSilentClients(tb testing.TB, addr string) *silentClients {
	at := netip.MustParseAddrPort(addr)
	c := &silentClients{tb: tb, addr: unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}}
	tb.Cleanup(func() {
		for _, fd := range c.socks {
			_ = unix.Close(fd)
		}
	})
	return c
}

// join connects a client that sends texts, each after the reply to the one before it, which ends like that.
func (c *silentClients) join(end string, texts ...string) {
	c.tb.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		c.socks = append(c.socks, fd)
		err = unix.Connect(fd, &c.addr)
	}
	for _, text := range texts {
		if err == nil {
			_, err = unix.Write(fd, []byte(text))
		}
		var buf [512]byte
		for n := 0; err == nil && end != "" && !bytes.HasSuffix(buf[:n], []byte(end)); {
			var more int
			if more, err = unix.Read(fd, buf[n:]); more == 0 {
				c.tb.Fatalf("the connection ends after %q", buf[:n])
			}
			n += max(more, 0)
		}
	}
	if err != nil {
		c.tb.Fatal(err)
	}
}

// footprint counts the memory and the goroutines of a process.
type footprint struct {
	live       int // bytes of heap and stacks
	resident   int // bytes
	goroutines int
}

func measure(tb testing.TB) (f footprint) {
	tb.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.live, f.goroutines = int(m.HeapAlloc+m.StackInuse), runtime.NumGoroutine()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		tb.Fatal(err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		tb.Fatal(err)
	}
	f.resident = pages * os.Getpagesize()
	return f
}

// clientKinds are clients that wait in different ways: what they send after AUTH, how the last reply ends that they get, and how
// many times they send it.
var clientKinds = []struct {
	name, text, end string
	times           int
	parked          bool
}{
	{"BLPOP", resptest.Encode("BLPOP", "none", "0"), "", 1, true},
	{"BLPOP with a timeout", resptest.Encode("BLPOP", "none", "3600"), "", 1, true},
	{"XREAD BLOCK", resptest.Encode("XREAD", "BLOCK", "0", "STREAMS", "none", "$"), "", 1, true},
	{"idle", resptest.Encode("PING"), "+PONG\r\n", 1, false},
	{"attached", resptest.Encode("GET", "none"), "$-1\r\n", resp.AttachRounds + 1, false},
	{"SUBSCRIBE", resptest.Encode("SUBSCRIBE", "none"), ":1\r\n", 1, false},
}

// measureClients has n clients of a kind come to a server, and returns what each adds to the process.
func measureClients(tb testing.TB, kind, n int) (live, resident, goroutines float64) {
	tb.Helper()
	nodes := resptest.Serve(tb, 1, func(o *resp.Options) { o.Limits.Connections = 2 * n })
	s, k := nodes.Servers[0], clientKinds[kind]
	c := newSilentClients(tb, nodes.Addrs[0])
	join := func(n int) {
		for range n {
			texts := slices.Repeat([]string{k.text}, k.times)
			texts[0] = resptest.Encode("AUTH", resptest.Token) + k.text
			c.join(k.end, texts...)
		}
		for end := time.Now().Add(time.Minute); k.parked && s.Parked() < len(c.socks); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				tb.Fatalf("%d of %d clients wait", s.Parked(), len(c.socks))
			}
		}
	}
	join(20) // what is made once
	before := measure(tb)
	join(n)
	after := measure(tb)
	each := func(a, b int) float64 { return float64(b-a) / float64(n) }
	return each(before.live, after.live), each(before.resident, after.resident), each(before.goroutines, after.goroutines)
}

// BenchmarkWaitingClients measures what clients that wait add to a process: the figures of docs/performance.md.
func BenchmarkWaitingClients(b *testing.B) {
	for i, k := range clientKinds {
		b.Run(k.name, func(b *testing.B) {
			for b.Loop() {
				live, resident, goroutines := measureClients(b, i, 5_000)
				b.ReportMetric(live, "live-B/client")
				b.ReportMetric(resident, "resident-B/client")
				b.ReportMetric(goroutines, "goroutines/client")
			}
		})
	}
}

// TestBlockedClientsAreSmall holds that a blocked client takes at most 4 KiB of this process, and no goroutine.
func TestBlockedClientsAreSmall(t *testing.T) {
	const n, most = 2_000, 4 << 10
	for i, k := range clientKinds {
		if !k.parked {
			continue
		}
		live, _, goroutines := measureClients(t, i, n)
		t.Logf("%s: %.0f bytes, %.3f goroutines a client", k.name, live, goroutines)
		if live > most || goroutines > 0.01 {
			t.Errorf("%s: a blocked client takes %.0f bytes and %.3f goroutines, want at most %d and none", k.name, live, goroutines, most)
		}
	}
}
