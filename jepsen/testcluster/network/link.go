package network

import (
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// queued bounds the frames that wait on a link; more are lost, as in a real switch.
const queued = 4096

// headers is the length of the headers of Ethernet, IP and TCP, after which a frame's payload begins, in bytes.
const headers = 54

// link is one direction of one pair.
type link struct {
	rule  atomic.Pointer[Rule]
	to    *os.File
	queue chan frame

	mu   sync.Mutex
	rng  *rand.Rand
	last time.Time // when the frame before leaves
}

// frame leaves at a moment.
type frame struct {
	at    time.Time
	bytes []byte
}

func newLink(to *os.File, seed uint64) *link {
	l := &link{to: to, queue: make(chan frame, queued), rng: rand.New(rand.NewPCG(seed, 0))}
	l.rule.Store(&Rule{})
	return l
}

// send takes a frame as the rule says.
func (l *link) send(bytes []byte) {
	r := l.rule.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Drop || l.chance(r.Loss) {
		return
	}
	if len(bytes) > headers && l.chance(r.Corrupt) {
		bytes = append([]byte(nil), bytes...)
		bytes[headers+l.rng.IntN(len(bytes)-headers)] ^= 1 << l.rng.IntN(8)
	}
	l.pass(r, bytes)
	if l.chance(r.Duplicate) {
		l.pass(r, bytes)
	}
}

func (l *link) chance(part float64) bool { return part > 0 && l.rng.Float64() < part }

// pass writes a frame, or queues it for its time.
func (l *link) pass(r *Rule, bytes []byte) {
	free := r.Delay == 0 && r.Jitter == 0 && r.Rate == 0 && len(l.queue) == 0
	if free || l.chance(r.Reorder) {
		l.to.Write(bytes) // a full device loses the frame, as networks do
		return
	}
	at := time.Now().Add(r.Delay)
	if r.Jitter > 0 {
		at = at.Add(rand.N(r.Jitter))
	}
	if at.Before(l.last) {
		at = l.last
	}
	if r.Rate > 0 {
		at = at.Add(time.Duration(int64(len(bytes)) * int64(time.Second) / r.Rate))
	}
	l.last = at
	select {
	case l.queue <- frame{at, bytes}:
	default: // lost
	}
}

// deliver writes what was queued, each at its time.
func (l *link) deliver(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case f := <-l.queue:
			timer := time.NewTimer(time.Until(f.at))
			select {
			case <-timer.C:
			case <-stop:
				timer.Stop()
				return
			}
			if !l.rule.Load().Drop {
				l.to.Write(f.bytes)
			}
		}
	}
}
