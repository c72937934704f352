package queue

import (
	"runtime"
	"testing"
)

func typical() Publication {
	p := Publication{URL: "https://example.com/hooks/order-created", CallerIP: "203.0.113.7", Body: []byte(`{"order":12345}`)}
	p.Given, p.Header = GivenHeader, []Field{{"Content-Type", "application/json"}}
	return p
}

// BenchmarkDelivery is the apply of publish, claim and finish of one message, 64 under way.
func BenchmarkDelivery(b *testing.B) {
	w := newWorld(b)
	p := typical()
	b.ReportAllocs()
	for range b.N / 64 {
		for range 64 {
			w.publish(p)
		}
		var out Results
		for _, a := range w.advance(64) {
			out.Items = append(out.Items, Result{AttemptRef: a.Ref(), Response: Response{Status: 200}})
		}
		if _, err := w.s.Finish(w.env(), out); err != nil {
			b.Fatal(err)
		}
		w.now++
	}
}

// BenchmarkPublishDelayed is the apply of a publish beside many that wait, and reports what one that waits costs.
func BenchmarkPublishDelayed(b *testing.B) {
	w := newWorld(b)
	p := typical()
	p.Given, p.Delay = p.Given|GivenDelay, day
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	const waiting = 200_000
	for i := range waiting {
		w.now = start + int64(i/20)
		w.publish(p)
	}
	each := float64(heap()-before)/waiting - float64(len(p.Body))
	logical := float64(w.s.Used())/waiting - float64(len(p.Body))
	b.ResetTimer()
	for range b.N {
		w.publish(p)
	}
	b.ReportMetric(each, "heap-B/msg")
	b.ReportMetric(logical, "logical-B/msg")
}
