package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	tricklers = 40 // connections of each kind
	byteEvery = 500 * time.Millisecond
	// timeSlack is the time beyond its limit for which a connection may stay open on a busy machine.
	timeSlack = 10 * time.Second
)

// trickling is a request that comes byte by byte, and the default time limit of it.
type trickling struct {
	name  string
	addr  func(t *Target, node int) string
	head  string // sent at once
	drip  string // repeated byte by byte
	limit time.Duration
}

func tricklings(t *Target) []trickling {
	web, redis := func(t *Target, node int) string { return t.Nodes[node].HTTP }, func(t *Target, node int) string { return t.Nodes[node].RESP }
	return []trickling{
		{"heads", web, "", "GET / HTTP/1.1\r\nHost: h\r\n" + "X: 1\r\nX: 1\r\nX: 1\r\nX: 1\r\nX: 1\r\nX: 1\r\n", 10 * time.Second},
		{"bodies", web, "POST /db/" + Attacker + " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + t.AttackerToken + "\r\nContent-Length: 1000\r\n\r\n", `["ECHO","xxxx`, time.Minute},
		{"logins", redis, "", "*2\r\n$4\r\nAUTH\r\n$1000\r\n", time.Minute},
		{"lines", redis, "", "AUTH x", time.Minute},
	}
}

// trickle keeps connections open by a byte now and then, until their time limits end them.
func trickle(ctx context.Context, t *Target) (string, error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	outcome := ""
	kinds := tricklings(t)
	longest := make([]atomic.Int64, len(kinds))
	for i, k := range kinds {
		for j := range tricklers {
			all.Go(func() {
				lived, err := k.run(ctx, t, j%len(t.Nodes))
				for {
					old := longest[i].Load()
					if int64(lived) <= old || longest[i].CompareAndSwap(old, int64(lived)) {
						break
					}
				}
				if err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	for i, k := range kinds {
		outcome += fmt.Sprintf("%d %s, ended after at most %v; ", tricklers, k.name, time.Duration(longest[i].Load()).Round(100*time.Millisecond))
	}
	return outcome[:len(outcome)-2], failed
}

// run sends byte by byte until the connection ends, and returns how long it lived.
func (tr *trickling) run(ctx context.Context, t *Target, node int) (time.Duration, error) {
	c, err := net.DialTimeout("tcp", tr.addr(t, node), silence)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	began, closed := time.Now(), make(chan struct{})
	go func() {
		defer close(closed)
		io.Copy(io.Discard, c) // until the other side ends it, or this one
	}()
	if _, err := io.WriteString(c, tr.head); err != nil {
		return time.Since(began), nil
	}
	tick := time.NewTicker(byteEvery)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-closed:
			return time.Since(began), nil
		case <-ctx.Done():
			return time.Since(began), ctx.Err()
		case <-tick.C:
		}
		if lived := time.Since(began); lived > tr.limit+timeSlack {
			return lived, fmt.Errorf("%s: a connection is open after %v, %v", tr.name, lived.Round(time.Second), os.ErrDeadlineExceeded)
		}
		if _, err := c.Write([]byte{tr.drip[i%len(tr.drip)]}); err != nil {
			return time.Since(began), nil
		}
	}
}
