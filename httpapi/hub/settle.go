package hub

import "context"

// Settle waits until the log has the counts of everything that was subscribed to and left
// before the call, ctx ends, or the hub is closed. Whoever is answered after it that he has
// left a channel is counted by no PUBLISH that begins later, as in Redis.
func (h *Hub) Settle(ctx context.Context) {
	stands := make(chan struct{})
	h.mu.Lock()
	switch {
	case len(h.queue) > 0:
		h.settling = append(h.settling, stands)
	case h.telling:
		h.riding = append(h.riding, stands)
	default:
		close(stands)
	}
	h.mu.Unlock()
	select {
	case <-stands:
	case <-ctx.Done():
	case <-h.done:
	}
}

// ride lets those who wait go with the request that takes all that is queued; the lock is
// held.
func (h *Hub) ride() {
	h.telling = true
	if len(h.queue) == 0 {
		h.riding = append(h.riding, h.settling...)
		h.settling = nil
	}
}

// arrive lets those go whose request has been applied; after one that failed they wait for
// the next. The lock is held.
func (h *Hub) arrive(err error) {
	h.telling = false
	if err != nil {
		h.settling = append(h.settling, h.riding...)
		h.riding = nil
		return
	}
	for _, stands := range h.riding {
		close(stands)
	}
	h.riding = nil
}

// nothingToTell lets go whoever waits for the queue; the lock is held.
func (h *Hub) nothingToTell() {
	for _, stands := range h.settling {
		close(stands)
	}
	h.settling = nil
}
