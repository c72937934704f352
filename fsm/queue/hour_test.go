package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// hour is an hour of tenants that publish to one key by Zipf's law, twice as much as the key lets through.
type hour struct {
	*world
	rand      *rand.Rand
	weight    []int
	published map[ID]int64
	tenant    map[ID]int
	waits     [][]int64 // by tenant, in milliseconds
	backlog   []int
	idle      []bool // had no waiting message at some time that counts
	got       []int  // in the time that counts
}

const (
	hourTenants = 100
	hourRate    = 20 // messages that the key lets through in a second, one in each step
	hourStep    = 1000 / hourRate
	hourWarm    = 5 * minute // until busy tenants have a backlog
)

// publishSome publishes what comes in one step. Tenant i has the part 1/(i+1) of all.
func (h *hour) publishSome(sum float64) {
	for i := range hourTenants {
		each := 2 * hourRate / sum / float64(i+1) * hourStep / 1000
		for ; each > 0; each-- {
			if each < 1 && h.rand.Float64() >= each {
				break
			}
			p := with(inFlow("k", FlowControl{Rate: hourRate, Period: 1000, Burst: 1}), 0, fmt.Sprint("t", i), h.weight[i], 0)
			id := h.publish(p)[0].ID
			h.published[id], h.tenant[id] = h.now, i
			h.backlog[i]++
		}
	}
}

// TestHourOfTenants: of an hour with 100 tenants, each that always has messages waiting gets its part by weight of what the others leave,
// and who publishes least hardly waits.
func TestHourOfTenants(t *testing.T) {
	h := hour{
		world: newWorld(t), rand: rand.New(rand.NewPCG(40, 1)), published: map[ID]int64{}, tenant: map[ID]int{},
		waits: make([][]int64, hourTenants), backlog: make([]int, hourTenants), idle: make([]bool, hourTenants), got: make([]int, hourTenants),
	}
	n := h.s.Settings()
	n.EventBytes = 1 << 20
	if _, err := h.s.Configure(h.env(), n); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i := range hourTenants {
		sum += 1 / float64(i+1)
		h.weight = append(h.weight, 1+i%3)
	}
	for ; h.now < start+60*minute; h.now += hourStep {
		h.publishSome(sum)
		counts := h.now >= start+hourWarm
		for i := range hourTenants {
			h.idle[i] = h.idle[i] || counts && h.backlog[i] == 0
		}
		var out Results
		for _, a := range h.advance(10) {
			i := h.tenant[a.ID]
			h.backlog[i]--
			if counts {
				h.got[i]++
				h.waits[i] = append(h.waits[i], h.now-h.published[a.ID])
			}
			delete(h.published, a.ID)
			delete(h.tenant, a.ID)
			out.Items = append(out.Items, Result{AttemptRef: a.Ref(), Response: Response{Status: 200}})
		}
		if _, err := h.s.Finish(h.env(), out); err != nil {
			t.Fatal(err)
		}
		if h.now-start == 30*minute {
			h.s = restored(t, h.s)
		}
	}
	h.judge(t)
}

// judge compares what tenants got with their weighted max-min share: those that had less to do than their part got all of it, and the
// others part the rest by weight.
func (h *hour) judge(t *testing.T) {
	total, weights, busy := 0, 0, 0
	for i, idle := range h.idle {
		if !idle {
			total, weights, busy = total+h.got[i], weights+h.weight[i], busy+1
		}
	}
	if busy < 5 {
		t.Fatalf("%d tenants are busy", busy)
	}
	worst := 0.0
	for i, idle := range h.idle {
		if idle {
			continue
		}
		want := float64(total) * float64(h.weight[i]) / float64(weights)
		off := (float64(h.got[i]) - want) / want
		if worst = max(worst, off, -off); off > 0.01 || off < -0.01 {
			t.Errorf("tenant %d of weight %d got %d, its share is %.1f", i, h.weight[i], h.got[i], want)
		}
	}
	all := 0
	for _, n := range h.got {
		all += n
	}
	if want := hourRate * int(60*minute-hourWarm) / 1000; all < want-1 || all > want+1 {
		t.Errorf("%d messages went through, the key lets %d", all, want)
	}
	p99 := func(i int) int64 {
		slices.Sort(h.waits[i])
		return h.waits[i][len(h.waits[i])*99/100]
	}
	least := p99(hourTenants - 1)
	t.Logf("%d of %d tenants are always busy, off their share by %.3f %% at most; the smallest tenant's p99 wait is %d ms (%d messages), that of the largest %d ms",
		busy, hourTenants, 100*worst, least, len(h.waits[hourTenants-1]), p99(0))
	all = 0
	for _, w := range h.weight {
		all += w
	}
	if round := int64(all / h.weight[hourTenants-1] * hourStep); least > 2*round {
		t.Errorf("the smallest tenant waits for %d ms, while it gets one message in %d ms if all have something to do", least, round)
	}
}
