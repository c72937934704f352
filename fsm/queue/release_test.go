package queue

import "testing"

// claimFirst claims the first of two messages of a queue of parallelism 1 in a world whose
// next leader has begun.
func claimFirst(t *testing.T) (w *world, a Attempt) {
	w = newWorld(t)
	for _, path := range []string{"a", "b"} {
		p := url(path)
		p.Queue, p.Retries, p.Given = "fifo", 1, GivenRetries
		w.publish(p)
	}
	a = w.one()
	w.term++
	w.none() // the new leader's first Advance leaves the claim to its lease
	return w, a
}

// TestEndedAttemptIsReleased: a sender that had to end an attempt says so, and the next
// leader need not wait for the lease. It counts as a retry.
func TestEndedAttemptIsReleased(t *testing.T) {
	w, a := claimFirst(t)
	if f := w.result(Result{AttemptRef: a.Ref(), Lost: true}); f.Stale || f.State != Retry {
		t.Fatalf("%+v", f)
	}
	again := w.one()
	if again.ID != a.ID || again.Retried != 1 {
		t.Fatalf("claimed %s, retried %d", again.ID, again.Retried)
	}
	if f := w.result(Result{AttemptRef: a.Ref(), Lost: true}); !f.Stale {
		t.Fatalf("an attempt was ended twice: %+v", f)
	}
	// The last attempt that is allowed is run again.
	w.result(Result{AttemptRef: again.Ref(), Lost: true})
	if last := w.one(); last.ID != a.ID || last.Retried != 1 {
		t.Fatalf("claimed %s, retried %d", last.ID, last.Retried)
	}
	checkStore(t, w.s)
}

// TestSuccessorReleasesClaims: the claims of a process that is known to have ended are
// given up, those of others are not.
func TestSuccessorReleasesClaims(t *testing.T) {
	w, a := claimFirst(t)
	w.s.ReleaseSession(w.env(), 8)
	w.none()
	w.s.ReleaseSession(w.env(), 7)
	if again := w.one(); again.ID != a.ID {
		t.Fatalf("claimed %s", again.ID)
	}
	checkStore(t, w.s)
}
