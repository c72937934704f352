package fastpath

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// cutReplies are incomplete replies, by their path.
var cutReplies = map[string]func(w http.ResponseWriter){
	"/large/short": func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", fmt.Sprint(4*maxWhole))
		w.Write(make([]byte, 2*maxWhole))
	},
	"/large/long": func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", fmt.Sprint(2*maxWhole))
		w.Write(make([]byte, 3*maxWhole))
	},
	"/large/length": func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "many")
		w.Write(make([]byte, 2*maxWhole))
	},
	"/small/short": func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "10")
		w.Write(make([]byte, 5))
	},
	"/small/long": func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "10")
		w.Write(make([]byte, 20))
	},
	"/large/unread": func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", fmt.Sprint(64<<20))
		for range 64 {
			w.Write(make([]byte, 1<<20)) // a handler that looks at no error
		}
	},
	"/large/unread/chunked": func(w http.ResponseWriter) {
		for range 64 {
			w.Write(make([]byte, 1<<20))
		}
	},
}

// cutBatcher answers the requests of attached connections as the handler does.
type cutBatcher struct {
	together
	answer http.HandlerFunc
}

type cutRequest struct {
	*echoed
	answer http.HandlerFunc
}

func (b *cutBatcher) Prepare(w http.ResponseWriter, r *http.Request) Request {
	return cutRequest{b.together.Prepare(w, r).(*echoed), b.answer}
}

func (b *cutBatcher) Run(context.Context, []Request) {}

func (cr cutRequest) Joins(Request) bool { return false }

func (cr cutRequest) Reply() {
	cr.w.Header().Set("Together", "1")
	cr.answer(cr.w, cr.r)
}

// TestNothingFollowsABrokenReply sends a second request after one whose reply is not complete, because its length differs from the
// head's or the client did not read it in time. The client would take the second reply for the rest of the first.
func TestNothingFollowsABrokenReply(t *testing.T) {
	for path, cut := range cutReplies {
		for _, attached := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, attached %v", path, attached), func(t *testing.T) {
				done := make(chan bool, 1)
				answer := func(w http.ResponseWriter, r *http.Request) {
					if r.RequestURI != path {
						echo(w, r)
						return
					}
					defer func() { done <- true }()
					cut(w)
				}
				addr, _ := startWith(t, func(s *Server) {
					s.Handler, s.WriteTime = http.HandlerFunc(answer), 100*time.Millisecond
					if attached {
						s.Batcher = &cutBatcher{answer: answer}
					}
				})
				c := connect(t, addr)
				if attached {
					if runtime.GOOS != "linux" {
						t.Skip("no poller on this system")
					}
					c.attach()
				}
				c.send(request(path, "") + request("/second", ""))
				<-done // before anything is read
				got, err := io.ReadAll(c.r)
				if heads := strings.Count(string(got), "HTTP/1.1 200"); heads > 1 {
					t.Errorf("%d replies came, want the broken one at most", heads)
				}
				if n := len(got); n >= 64<<20 {
					t.Errorf("%d bytes came of a reply that was to be broken off", n)
				}
				if e, timedOut := err.(interface{ Timeout() bool }); timedOut && e.Timeout() {
					t.Error("the connection stays open")
				}
			})
		}
	}
}
