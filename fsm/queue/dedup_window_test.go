package queue

import "testing"

// TestDeduplicationEndsWithItsWindow: an id, and the content of a message, are known for the window to the millisecond, although what
// is remembered of them is swept later; the window counts from the first message, and content is that with its headers.
func TestDeduplicationEndsWithItsWindow(t *testing.T) {
	for name, change := range map[string]func(*Publication){
		"id":      func(p *Publication) { p.DedupID = "x" },
		"content": func(p *Publication) { p.ContentDedup, p.Body = true, []byte("body") },
	} {
		w := newWorld(t)
		w.now += 1234 // no round time
		n := DefaultSettings()
		n.DedupWindow = 5000
		if _, err := w.s.Configure(w.env(), n); err != nil {
			t.Fatal(err)
		}
		p := url("a")
		change(&p)
		first := w.publish(p)[0]
		again := func(after int64, want bool) {
			t.Helper()
			w.now = start + 1234 + after
			got := w.publish(p)[0]
			if got.Deduplicated != want || (got.ID == first.ID) != want {
				t.Errorf("%s, %d ms after the first: deduplicated %v, want %v", name, after, got.Deduplicated, want)
			}
			first = got
		}
		again(0, true)
		again(4999, true)
		again(5000, false)
		again(9999, true) // the window of the second one
		again(10_000, false)
		other := p
		other.Given, other.Header = other.Given|GivenHeader, []Field{{Name: "X", Value: "1"}}
		if got := w.publish(other)[0]; got.Deduplicated != (name == "id") {
			t.Errorf("%s with another header: deduplicated %v", name, got.Deduplicated)
		}
	}
}
