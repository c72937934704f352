package queue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// expected is a message that gathers as a simple model has it: texts by the ids of their publications, in their order.
type expected struct {
	key        string
	first, due int64
	ids        []ID
	bodies     []string
}

// gatherModel drives a store with publications that gather, and remembers what each delivery has to bring.
type gatherModel struct {
	*world
	r       *rapid.T
	open    map[string]*expected // by mode and key
	pending map[ID]*expected     // by message, the closed ones too
	running []Attempt
	sent    map[ID]bool // publications that were delivered or cancelled
	texts   int
}

func newGatherModel(r *rapid.T) *gatherModel {
	return &gatherModel{world: newWorld(r), r: r, open: map[string]*expected{}, pending: map[ID]*expected{}, sent: map[ID]bool{}}
}

var gatherKeys = []string{"a", "b"}

func (m *gatherModel) draw(mode GatherMode) (p Publication, key, text string) {
	m.texts++
	key, text = rapid.SampledFrom(gatherKeys).Draw(m.r, "key"), fmt.Sprintf("text %d \"\\\n\x00", m.texts)
	p = Publication{URL: "http://example.com/" + mode.String(), Body: []byte(text)}
	p.Gather, p.Given = &Gather{Mode: mode, Key: key, Wait: 1000, Size: 3, Bytes: 600}, GivenGather|GivenRetries
	if key == "b" { // the same key, by way of a queue
		p.Queue, p.Given = "q", p.Given|GivenQueue
	}
	return p, mode.String() + " " + key, text
}

func (m *gatherModel) debounce(r *rapid.T) {
	p, key, text := m.draw(Debounce)
	p.Gather.MaxWait = 2500
	got := m.publish(p)[0]
	e := m.open[key]
	if got.Debounced != (e != nil) || e != nil && got.ID != e.ids[0] {
		r.Fatalf("%s: %+v, want %+v", key, got, e)
	}
	if e == nil {
		e = &expected{key: key, first: m.now, ids: []ID{got.ID}}
		m.open[key], m.pending[got.ID] = e, e
	}
	e.bodies, e.due = []string{text}, max(min(m.now+1000, e.first+2500), m.now)
}

func (m *gatherModel) batch(r *rapid.T) {
	p, key, text := m.draw(Batched)
	if rapid.IntRange(0, 4).Draw(r, "large") == 0 {
		text += string(bytes.Repeat([]byte("x"), 300))
		p.Body = []byte(text)
	}
	got := m.publish(p)[0]
	e := m.pending[got.Batch]
	if open := m.open[key]; e == nil {
		if open != nil && len(open.ids) < 3 && m.bytesOf(open)+len(text) < 250 {
			r.Fatalf("%s: %+v began a batch beside one that has room", key, got)
		}
		if open != nil {
			open.due = m.now
		}
		e = &expected{key: key, first: m.now, due: m.now + 1000}
		m.pending[got.Batch], m.open[key] = e, e
	} else if open != e {
		r.Fatalf("%s: %+v joined a batch that is closed", key, got)
	}
	e.ids, e.bodies = append(e.ids, got.ID), append(e.bodies, text)
	n, _ := m.s.gathered.open.Get(got.Batch.Seq)
	if n.count != len(e.ids) || n.count > 3 {
		r.Fatalf("%s has %d publications, want %d", key, n.count, len(e.ids))
	}
	if n.full {
		delete(m.open, key)
		e.due = m.now
	}
}

func (m *gatherModel) bytesOf(e *expected) (n int) {
	for _, b := range e.bodies {
		n += len(b)
	}
	return n
}

// claim compares what is delivered first with what was published.
func (m *gatherModel) claim(r *rapid.T) {
	for _, a := range m.advance(100) {
		m.running = append(m.running, a)
		e := m.pending[a.ID]
		if e == nil {
			if a.Number == 1 {
				r.Fatalf("%s was published by nobody", a.ID)
			}
			continue
		}
		delete(m.pending, a.ID)
		if m.open[e.key] == e {
			delete(m.open, e.key)
		}
		if m.now < e.due {
			r.Fatalf("%s is delivered at %d, due at %d", e.key, m.now, e.due)
		}
		m.compare(r, a.Loaded(), e)
	}
	for id, e := range m.pending { // unordered: any of them is a fault
		if msg := m.s.find(id); e.due <= m.now && msg.queue == 0 {
			r.Fatalf("%s was due at %d and is not delivered at %d", e.key, e.due, m.now)
		}
	}
}

func (m *gatherModel) compare(r *rapid.T, a Attempt, e *expected) {
	ids, bodies := []ID{a.ID}, []string{string(a.Content.Body)}
	if a.Content.Gather.batches() {
		ids, bodies = nil, nil
		if Value(a.Content.Header, "Content-Type") != batchType {
			r.Fatalf("header %v", a.Content.Header)
		}
		for line := range bytes.Lines(a.Content.Body) {
			var one struct{ MessageID, Body string }
			if err := json.Unmarshal(line, &one); err != nil {
				r.Fatalf("%s: %v", line, err)
			}
			id, _ := ParseID(one.MessageID)
			ids, bodies = append(ids, id), append(bodies, one.Body)
		}
		if n := int64(len(a.Content.Body)); n > a.Content.Gather.Bytes && len(ids) > 1 {
			r.Fatalf("%s delivers %d publications in %d bytes", e.key, len(ids), n)
		}
	}
	if !slices.Equal(ids, e.ids) || !slices.Equal(bodies, e.bodies) {
		r.Fatalf("%s delivers %v %q, want %v %q", e.key, ids, bodies, e.ids, e.bodies)
	}
	for _, id := range ids {
		if m.sent[id] {
			r.Fatalf("%s is delivered twice", id)
		}
		m.sent[id] = true
	}
}

// cancel cancels a publication or a whole batch that waits.
func (m *gatherModel) cancel(r *rapid.T) {
	var all []ID
	for id := range m.pending {
		all = append(all, id)
	}
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b ID) int { return int(a.Seq) - int(b.Seq) })
	message := rapid.SampledFrom(all).Draw(r, "message")
	e := m.pending[message]
	id := message
	if len(e.ids) > 0 && rapid.Bool().Draw(r, "part") {
		id = rapid.SampledFrom(e.ids).Draw(r, "id")
	}
	out, err := m.s.Cancel(m.env(), Cancellation{IDs: []ID{id}, Strict: true})
	if err != nil || out.Count != 1 {
		r.Fatalf("cancel: %+v %v", out, err)
	}
	if i := slices.Index(e.ids, id); id != message && len(e.ids) > 1 {
		e.ids, e.bodies = slices.Delete(e.ids, i, i+1), slices.Delete(e.bodies, i, i+1)
	} else {
		delete(m.pending, message)
		if m.open[e.key] == e {
			delete(m.open, e.key)
		}
	}
	m.sent[id] = true
}

// TestGatherModel draws publications that are debounced or delivered in batches, time, cancellations, forks and restores, and checks that
// each delivery brings exactly what a simple model says, no earlier and no later.
func TestGatherModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := newGatherModel(r)
		r.Repeat(map[string]func(*rapid.T){
			"debounce": m.debounce,
			"batch":    m.batch,
			"batch2":   m.batch,
			"time":     func(r *rapid.T) { m.now += rapid.Int64Range(0, 1500).Draw(r, "ms") },
			"claim":    m.claim,
			"finish": func(r *rapid.T) {
				for _, a := range m.running {
					m.finish(a, rapid.SampledFrom([]int{200, 500}).Draw(r, "status"))
				}
				m.running = nil
			},
			"cancel":  m.cancel,
			"restore": func(r *rapid.T) { m.s = restored(r, m.s) },
			"fork": func(r *rapid.T) {
				old := m.s
				before := digest(r, old)
				m.s = old.Fork()
				m.batch(r)
				m.debounce(r)
				if digest(r, old) != before {
					r.Fatal("a change reached the store that was forked")
				}
			},
			"": func(r *rapid.T) { checkStore(r, m.s) },
		})
		m.now += 10_000
		for range 100 {
			m.claim(r)
			for _, a := range m.running {
				m.finish(a, 200)
			}
			m.running, m.now = nil, m.now+5_000
		}
		if len(m.pending) > 0 {
			r.Fatalf("%d are never delivered", len(m.pending))
		}
	})
}
