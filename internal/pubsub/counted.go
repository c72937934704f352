package pubsub

import "context"

// WaitCounted waits until the log has the counts of every Add and Remove before the call, ctx
// ends, or the hub is closed. A client whose UNSUBSCRIBE is answered after it is not counted
// by any later PUBLISH, as in Redis.
func (h *Hub) WaitCounted(ctx context.Context) {
	counted := make(chan struct{})
	h.mu.Lock()
	switch {
	case len(h.queue) > 0:
		h.waitingQueued = append(h.waitingQueued, counted)
	case h.requesting:
		h.waitingInFlight = append(h.waitingInFlight, counted)
	default:
		close(counted)
	}
	h.mu.Unlock()
	select {
	case <-counted:
	case <-ctx.Done():
	case <-h.done:
	}
}

// Leaving reports whether the log may lack the counts of a Remove or Close before the call.
// It costs one atomic load. A PUBLISH of this node that waits for WaitCounted first counts
// nobody who has left before it, answered or not.
func (h *Hub) Leaving() bool { return h.leaving.Load() }

// requestBegins moves the waiters to the request that announces all that is queued; the lock
// is held.
func (h *Hub) requestBegins() {
	h.requesting = true
	if len(h.queue) == 0 {
		h.waitingInFlight = append(h.waitingInFlight, h.waitingQueued...)
		h.waitingQueued = nil
		h.leavingInFlight = h.leavingInFlight || h.leavingQueued
		h.leavingQueued = false
	}
}

// requestEnds releases the waiters of a request that was applied; after one that failed they
// wait for the next. The lock is held.
func (h *Hub) requestEnds(err error) {
	h.requesting = false
	h.leavingQueued = h.leavingQueued || (err != nil && h.leavingInFlight)
	h.leavingInFlight = false
	h.leaving.Store(h.leavingQueued)
	if err != nil {
		h.waitingQueued = append(h.waitingQueued, h.waitingInFlight...)
		h.waitingInFlight = nil
		return
	}
	for _, counted := range h.waitingInFlight {
		close(counted)
	}
	h.waitingInFlight = nil
}

// queueEmpty releases the waiters for the queue; the lock is held.
func (h *Hub) queueEmpty() {
	for _, counted := range h.waitingQueued {
		close(counted)
	}
	h.waitingQueued = nil
	h.leavingQueued = false
	h.leaving.Store(h.leavingInFlight)
}
