package httpapi_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

var fullLength = flag.Bool("full", false, "run the acceptance tests of the gateway in full length")

// length returns the length of an acceptance test: short unless -full is given.
func length(full, short int) int {
	if *fullLength {
		return full
	}
	return short
}

// TestCrowd sends mixed requests of 64 clients, in all forms and formats, each to a random node of three: every correct
// one gets a 2xx and its own reply.
func TestCrowd(t *testing.T) {
	gateways, _ := threeNodes(t)
	const clients = 64
	requests := length(200, 40)
	var all sync.WaitGroup
	for id := range clients {
		all.Go(func() {
			member := parallelMember{gateways: gateways, key: fmt.Sprint("parallel", id), r: rand.New(rand.NewPCG(uint64(id), 5))}
			for range requests {
				member.request(t)
			}
		})
	}
	all.Wait()
}

// parallelMember is one client. Only it writes its key, so it knows the value.
type parallelMember struct {
	gateways []*gateway
	key      string
	n        int
	r        *rand.Rand
}

// forms are ways to add 1 to the key: %s is the key, %d the value that is expected.
var forms = []struct{ method, target, body, header, want string }{
	{"GET", "/incr/%s", "", "X: y", `{"result":%d}`},
	{"PUT", "/incrby/%s/1", "", "X: y", `{"result":%d}`},
	{"POST", "/incrby/%s", "1", base64Header, `{"result":%d}`},
	{"POST", "/", `["INCR","%s"]`, "X: y", `{"result":%d}`},
	{"POST", "/", `["INCRBY","%s",1]`, resp2Header, ":%d\r\n"},
	{"POST", "/", `["INCRBY","%s",1]`, "Svc-Consistency: session", `{"result":%d}`},
	{"POST", "/pipeline", `[["INCR","%s"],["PING"]]`, "X: y", `[{"result":%d},{"result":"PONG"}]`},
	{"POST", "/pipeline", `[["INCR","%s"],["ECHO","x"]]`, base64Header, `[{"result":%d},{"result":"eA=="}]`},
	{"POST", "/pipeline", `[["INCR","%s"],["PING"]]`, resp2Header, ":%d\r\n+PONG\r\n"},
	{"POST", "/multi-exec", `[["INCR","%s"],["PING"]]`, base64Header, `[{"result":%d},{"result":"UE9ORw=="}]`},
	{"POST", "/multi-exec?_token=" + httpapitest.Token, `[["INCR","%s"]]`, "Authorization:", `[{"result":%d}]`},
	{"POST", "/", `["INCR","%s"]`, "Svc-Request-Id: ID", `{"result":%d}`},
}

// request adds 1 in a random form, or reads.
func (m *parallelMember) request(t *testing.T) {
	g := m.gateways[m.r.IntN(len(m.gateways))]
	if m.r.IntN(3) == 0 {
		header := []string{"X: y", readOnly, "Svc-Consistency: linearizable"}[m.r.IntN(3)]
		want := `{"result":null}`
		if m.n > 0 {
			want = fmt.Sprintf(`{"result":"%d"}`, m.n)
		}
		if a := g.ask(t, "GET", "/get/"+m.key, "", header); a.status != 200 || a.body != want {
			t.Errorf("%s %s: %d %s, want %s", m.key, header, a.status, a.body, want)
		}
		return
	}
	f := forms[m.r.IntN(len(forms))]
	m.n++
	header := strings.Replace(f.header, "ID", fmt.Sprint(m.key, "-", m.n), 1)
	a := g.ask(t, f.method, strings.Replace(f.target, "%s", m.key, 1), strings.Replace(f.body, "%s", m.key, 1), header)
	if want := fmt.Sprintf(f.want, m.n); a.status != 200 || a.body != want {
		t.Errorf("%s %s %s: %d %s, want %s", f.method, f.target, header, a.status, a.body, want)
	}
}

// TestBank moves amounts between accounts, by transactions of 8 clients, on three nodes whose leadership moves: every
// transaction that reads all accounts sees the same total.
func TestBank(t *testing.T) {
	const accounts, each, clients = 8, 1000, 8
	gateways, nodes := threeNodes(t)
	var open []string
	for i := range accounts {
		open = append(open, fmt.Sprintf(`["SET","acc%d",%d]`, i, each))
	}
	if a := gateways[0].ask(t, "POST", "/multi-exec", "["+strings.Join(open, ",")+"]"); a.status != 200 {
		t.Fatalf("%+v", a)
	}
	var all sync.WaitGroup
	var moves, unknown, looks atomic.Int64
	done := make(chan struct{})
	rounds := length(400, 60)
	for id := range clients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(id), 7))
			for i := range rounds {
				g := gateways[r.IntN(len(gateways))]
				if id%2 == 0 && i%2 == 0 {
					look(t, g, accounts, accounts*each)
					looks.Add(1)
					continue
				}
				from, to, amount := r.IntN(accounts), r.IntN(accounts), r.IntN(50)
				a := g.ask(t, "POST", "/multi-exec", fmt.Sprintf(`[["DECRBY","acc%d",%d],["GET","acc%d"],["INCRBY","acc%d",%d]]`, from, amount, from, to, amount))
				switch {
				case a.status == 200:
					moves.Add(1)
				case a.status == 503:
					unknown.Add(1)
				default:
					t.Errorf("%+v", a)
				}
			}
		})
	}
	var changes sync.WaitGroup
	changes.Go(func() { // ends when the clients have
		changed, last := 0, int64(0)
		for {
			select {
			case <-done:
				t.Logf("%d changes of the leader", changed)
				return
			case <-time.After(10 * time.Millisecond):
			}
			if moves.Load() < last+movesPerLeader {
				continue
			}
			if last = moves.Load(); nodes.Nodes[nodes.Leader()].TransferLeadership("") == nil {
				changed++
			}
		}
	})
	all.Wait()
	close(done)
	changes.Wait()
	look(t, gateways[1], accounts, accounts*each)
	t.Logf("%d moves, %d unknown, %d looks", moves.Load(), unknown.Load(), looks.Load())
}

// movesPerLeader is the least number of moves between two changes.
const movesPerLeader = 50

// look reads all accounts in one transaction. Every other time, at random, the transaction also has a write, so that it
// goes through the log.
func look(t *testing.T, g *gateway, accounts, total int) {
	rows := []string{}
	for i := range accounts {
		rows = append(rows, fmt.Sprintf(`["GET","acc%d"]`, i))
	}
	if rand.IntN(2) == 0 {
		rows = append(rows, `["SET","looked","1"]`)
	}
	a := g.ask(t, "POST", "/multi-exec", "["+strings.Join(rows, ",")+"]")
	if a.status == 503 {
		return
	}
	var envelopes []struct{ Result string }
	if err := json.Unmarshal([]byte(a.body), &envelopes); err != nil || a.status != 200 {
		t.Errorf("%+v: %v", a, err)
		return
	}
	sum := 0
	for _, e := range envelopes[:accounts] {
		var n int
		if _, err := fmt.Sscan(e.Result, &n); err != nil {
			t.Errorf("%s: %v", a.body, err)
		}
		sum += n
	}
	if sum != total {
		t.Errorf("the accounts hold %d, not %d: %s", sum, total, a.body)
	}
}
