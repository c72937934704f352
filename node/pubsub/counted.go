package pubsub

import (
	"context"
	"time"
)

// WaitCounted waits until the log has the counts of every Add and Remove before the call, ctx
// ends, a second has passed, or the hub is closed. A client whose UNSUBSCRIBE is answered after
// it is not counted by any later PUBLISH, as in Redis.
func (h *Hub) WaitCounted(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, countedTimeout)
	defer cancel()
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

// BeforeCount has settle called before subscribers of a database are counted on behalf of a
// client of this node. It returns when what subscribers' connections have sent to leave has
// become Removes and Closes.
func (h *Hub) BeforeCount(settle func(ctx context.Context, db string)) { h.settle.Store(&settle) }

// countedTimeout bounds the wait for the counts of other nodes: without a leader
// the log takes none.
const countedTimeout = time.Second

// AwaitUncounted waits until the log counts no subscriber of this node that left before the
// call, whether or not its unsubscription was answered. It is called before a PUBLISH, and
// before whatever else tells a client how many subscribers there are. If nobody leaves, it
// costs a system call where connections subscribe, and an atomic load elsewhere.
func (h *Hub) AwaitUncounted(ctx context.Context, db string) {
	if settle := h.settle.Load(); settle != nil {
		(*settle)(ctx, db)
	}
	if h.leaving.Load() {
		h.WaitCounted(ctx)
	}
}

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
