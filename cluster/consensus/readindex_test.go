package consensus

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/internal/testgate"
)

// Each test here fails if a fault that makes a read stale is injected into the function that it calls.

// voter answers a confirmation with a term.
type voter struct {
	trusting
	term uint64
}

func (voter) Hello() transport.Hello { return transport.Hello{Node: "n2"} }
func (v voter) Handle(_ transport.Hello, _ transport.Kind, _ []byte, answer func([]byte, error)) {
	var w wire.Writer
	w.Uvarint(v.term)
	answer(w.B, nil)
}

// TestConfirmationNamesTheTerm: a voter that is in another term confirms nothing. It may have elected a later leader.
func TestConfirmationNamesTheTerm(t *testing.T) {
	m, err := transport.Listen(transport.Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, voter{term: 7})
	if err != nil {
		t.Fatal(err)
	}
	m.Start()
	r := &Replica{c: Config{Pool: transport.NewPool(m), Calls: calls}}
	defer func() { r.c.Pool.Close(); m.Close(); m.Wait() }()
	for term, want := range map[uint64]bool{6: false, 7: true, 8: false} {
		got := make(chan bool, 1)
		r.askTerm(Server{ID: "n2", Addr: m.Advertise()}, term, func(same bool) { got <- same })
		if same := <-got; same != want {
			t.Errorf("a voter in term 7 confirms term %d: got %v, want %v", term, same, want)
		}
	}
}

// TestConfirmationNeedsAMajority: a read point holds when as many other voters as make a majority with the leader are in its
// term. Fewer are not enough, in whatever order they answer.
func TestConfirmationNeedsAMajority(t *testing.T) {
	leader := start(t, 1)[0]
	leader.lead(t)
	term := leader.Term()
	for name, c := range map[string]struct {
		terms []uint64 // of the other voters; 0 doesn't answer
		want  bool
	}{
		"three voters, one":             {[]uint64{term + 1, term}, true},
		"three voters, none":            {[]uint64{term + 1, term + 1}, false},
		"three voters, nobody answers":  {[]uint64{0, 0}, false},
		"five voters, two":              {[]uint64{term, 0, term + 1, term}, true},
		"five voters, one":              {[]uint64{term, term + 1, term + 1, term + 1}, false},
		"five voters, one, one answers": {[]uint64{0, 0, term, 0}, false},
		"four voters, one":              {[]uint64{term, term + 1, term + 1}, false},
		"four voters, two":              {[]uint64{term, term, term + 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			look := &Replica{c: Config{ID: "n1", Calls: calls}, raft: leader.raft}
			set := &voters{taken: time.Now().Add(time.Hour), needed: (len(c.terms) + 1) / 2}
			for i, term := range c.terms {
				m, err := transport.Listen(transport.Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, voter{term: term})
				if err != nil {
					t.Fatal(err)
				}
				m.Start()
				if look.c.Pool == nil {
					look.c.Pool = transport.NewPool(m)
					defer look.c.Pool.Close()
				}
				set.others = append(set.others, Server{ID: fmt.Sprint("n", i+2), Addr: m.Advertise(), Voter: true})
				stop := func() { m.Close(); m.Wait() }
				if i > 0 && term == 0 {
					stop()
				} else {
					defer stop()
				}
			}
			look.voters.Store(set)
			ended := make(chan error, 1)
			look.Confirm(term, func(err error) { ended <- err })
			if err := <-ended; (err == nil) != c.want {
				t.Errorf("confirmed: got %v, want %v", err, c.want)
			}
		})
	}
}

// TestVotersAskedAfterARefusalHaveTime: voters that are asked because others refused, right before hedgeDelay is over, are waited for
// like those that are asked then. A read would fail otherwise where the first voter is in another term and the second is slow.
func TestVotersAskedAfterARefusalHaveTime(t *testing.T) {
	ended := make(chan error, 1)
	c := &confirmation{r: &Replica{}, voters: []Server{{}, {}}, needed: 1, asked: 2, no: 1, end: func(err error) { ended <- err }}
	c.timer = time.AfterFunc(time.Hour, func() {})
	defer c.timer.Stop()
	c.late()
	select {
	case err := <-ended:
		t.Fatalf("given up at once: %v", err)
	default:
	}
	c.timer.Stop()
	c.late()
	if err := testgate.Receive(t, "the end of the round", ended); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("ended with %v, want %v", err, ErrUnconfirmed)
	}
}
