package queue

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// away keeps payloads by forgetting them, as a disk does for the memory.
type away struct{ bytes *int64 }

type gone struct{ n int }

func (a away) Keep(b []byte) payload.Kept {
	*a.bytes += int64(len(b))
	return &gone{len(b)}
}

func (g *gone) Bytes() []byte          { return make([]byte, g.n) }
func (g *gone) Len() int               { return g.n }
func (g *gone) Digest() payload.Digest { return payload.Digest{} }

// BenchmarkDeliveredMessages makes and delivers messages, a hundred a second of cluster time: what one takes of processor time, and what
// is left of it in memory and on the disk.
func BenchmarkDeliveredMessages(b *testing.B) {
	for name, level := range map[string]env.Level{"tree": env.Base, "volumes": env.Files} {
		b.Run(name, func(b *testing.B) {
			var bytes int64
			w := &world{t: b, s: New(), now: start, term: 1, level: level}
			w.s.UseKeeper(away{&bytes})
			w.s.Raise(level)
			n := DefaultSettings()
			n.EventBytes = 0
			if _, err := w.s.Configure(w.env(), n); err != nil {
				b.Fatal(err)
			}
			body := []byte(strings.Repeat("b", 100))
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			b.ResetTimer()
			for i := 0; i < b.N; i += 10 {
				w.now += 100
				var list []Publication
				for k := range 10 {
					p := url(fmt.Sprintf("hook/%d", (i+k)%50))
					p.Body = append([]byte(fmt.Sprint(i+k)), body...)
					p.Header = []Field{{"Content-Type", "application/json"}}
					p.Given = GivenLabels | GivenHeader
					p.Labels = []string{fmt.Sprintf("label-%d", (i+k)%7)}
					list = append(list, p)
				}
				if _, err := w.s.Publish(w.env(), Publications{list}); err != nil {
					b.Fatal(err)
				}
				var results []Result
				for _, a := range w.advance(10) {
					results = append(results, Result{AttemptRef: a.Ref(), Response: Response{Status: 200}})
				}
				if _, err := w.s.Finish(w.env(), Results{results}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(b.N), "B-memory/message")
			b.ReportMetric(float64(bytes)/float64(b.N), "B-records/message")
			runtime.KeepAlive(w)
		})
	}
}

// BenchmarkSave writes the records of waiting messages with bodies that are named, as a snapshot does.
func BenchmarkSave(b *testing.B) {
	const messages = 100_000
	var bytes int64
	w := &world{t: b, s: New(), now: start, term: 1, level: env.Files}
	w.s.UseKeeper(away{&bytes})
	w.s.Raise(env.Files)
	for range messages / 100 {
		var list []Publication
		for range 100 {
			p := url("hook")
			p.Body, p.Delay, p.Given = make([]byte, payload.Apart), 3_600_000, GivenDelay
			list = append(list, p)
		}
		if _, err := w.s.Publish(w.env(), Publications{list}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		var named []wire.Referable
		refs := &wire.References{All: true}
		if err := w.s.SaveReferences(func([]byte) error { named = refs.Take(named[:0]); return nil }, refs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*messages), "ns/message")
}

// BenchmarkDeadLetters makes dead letters, whose events are sealed: what one takes in memory and on the disk, and what it counts.
func BenchmarkDeadLetters(b *testing.B) {
	for _, size := range []int{100, 4096} {
		b.Run(fmt.Sprint("body=", size), func(b *testing.B) {
			var bytes int64
			w := &world{t: b, s: New(), now: start, term: 1, level: env.Files}
			w.s.UseKeeper(away{&bytes})
			w.s.Raise(env.Files)
			n := DefaultSettings()
			n.DeadBytes = 0
			if _, err := w.s.Configure(w.env(), n); err != nil {
				b.Fatal(err)
			}
			body := strings.Repeat("b", size)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			b.ResetTimer()
			for i := 0; i < b.N; i += 10 {
				w.now += 100
				var list []Publication
				for k := range 10 {
					p := url(fmt.Sprintf("hook/%d", (i+k)%50))
					p.Body, p.Header = []byte(fmt.Sprint(i+k, body)), []Field{{"Content-Type", "application/json"}}
					p.Given, p.Labels, p.Retries = GivenLabels|GivenHeader|GivenRetries, []string{fmt.Sprintf("label-%d", (i+k)%7)}, 0
					list = append(list, p)
				}
				if _, err := w.s.Publish(w.env(), Publications{list}); err != nil {
					b.Fatal(err)
				}
				var results []Result
				for _, a := range w.advance(10) {
					results = append(results, Result{AttemptRef: a.Ref(), Response: Response{Status: 500, Header: []Field{{"Content-Type", "text/plain"}}, Body: []byte("internal error")}})
				}
				if _, err := w.s.Finish(w.env(), Results{results}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			for w.now += 20 * minute; w.s.Sweep(w.env(), 200) > 0; {
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if w.s.dead.Len() < b.N || w.s.events.byNo.Len() >= sealedTogether {
				b.Fatalf("%d dead letters, and %d events in the tree", w.s.dead.Len(), w.s.events.byNo.Len())
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(b.N), "B-memory/letter")
			b.ReportMetric(float64(w.s.memory.dead)/float64(b.N), "B-counted/letter")
			b.ReportMetric(float64(bytes)/float64(b.N), "B-records/letter")
			runtime.KeepAlive(w)
		})
	}
}
