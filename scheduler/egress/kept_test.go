package egress_test

import (
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/testgate"
	"github.com/trireme-dev/trireme/scheduler/egress"
)

// far is a way to a server that takes so long in each direction. It returns its address.
func far(t *testing.T, server string, delay time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		ended := make(chan struct{})
		go func() { all.Wait(); close(ended) }()
		testgate.Receive(t, "the end of the way's connections", ended)
	})
	all.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			away, err := net.Dial("tcp", server)
			if err != nil {
				near.Close()
				continue
			}
			all.Go(func() { carry(away, near, delay) })
			all.Go(func() { carry(near, away, delay) })
		}
	})
	return l.Addr().String()
}

// carry copies one direction of a connection, and its end, each piece later by delay.
func carry(to, from net.Conn, delay time.Duration) {
	type piece struct {
		at   time.Time
		data []byte
	}
	way := make(chan piece, 1000)
	go func() {
		defer close(way)
		for {
			b := make([]byte, 8<<10)
			n, err := from.Read(b)
			if n > 0 {
				way <- piece{time.Now().Add(delay), b[:n]}
			}
			if err != nil {
				way <- piece{at: time.Now().Add(delay)}
				return
			}
		}
	}()
	for p := range way {
		time.Sleep(time.Until(p.at))
		if p.data == nil {
			to.Close()
			break
		}
		if _, err := to.Write(p.data); err != nil {
			break
		}
	}
	from.Close() // so that the reader ends
	for range way {
	}
}

// TestNoRequestIsLostToAnIdleConnection: a server closes idle connections after a second and says so, or closes them after
// a bit more and says nothing; requests come at every distance around that time. None is sent into a connection that
// its server has ended, over http and https.
func TestNoRequestIsLostToAnIdleConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, announced string
		tls             bool
		idle            time.Duration
	}{{"announced", "timeout=1", false, time.Second}, {"announced, https", "timeout=1", true, time.Second}, {"unannounced", "", false, 2 * time.Second}, {"unannounced, https", "", true, 2 * time.Second}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				requests.Add(1)
				if c.announced != "" {
					w.Header().Set("Keep-Alive", c.announced)
				}
				_, _ = io.WriteString(w, "ok")
			}))
			s.Config.IdleTimeout = c.idle
			scheme, roots := "http://", (*x509.CertPool)(nil)
			if c.tls {
				s.StartTLS()
				scheme, roots = "https://", x509.NewCertPool()
				roots.AddCert(s.Certificate())
			} else {
				s.Start()
			}
			t.Cleanup(s.Close)
			url := scheme + far(t, s.Listener.Addr().String(), 25*time.Millisecond) + "/"
			tr := transport(t, egress.Options{Policy: loopbackOnly(), Roots: roots, IdlePerHost: 100})
			var workers sync.WaitGroup
			const count, each = 30, 4
			for i := range count {
				pause := c.idle*3/10 + c.idle*8/10*time.Duration(i)/count // the way back and forth comes to it
				workers.Go(func() {
					for range each {
						r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("x"))
						if err != nil {
							t.Error(err)
							return
						}
						p, err := tr.RoundTrip(r)
						if err != nil {
							t.Errorf("every %v: %v", pause, err)
							continue
						}
						_, _ = io.Copy(io.Discard, p.Body)
						p.Body.Close()
						time.Sleep(pause)
					}
				})
			}
			workers.Wait()
			if n := requests.Load(); n != count*each {
				t.Errorf("%d requests arrived, of %d that were sent once each", n, count*each)
			}
		})
	}
}
