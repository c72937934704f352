package hub

import (
	"context"
	"time"

	"trireme/fsm"
)

const (
	// countsPerRequest bounds a request to the log; what is left makes the next one.
	countsPerRequest = 10_000
	// tellAgain is the pause after a request that failed.
	tellAgain = 100 * time.Millisecond
)

// enqueue has a topic's count told if the log doesn't have it; the lock is held.
func (h *Hub) enqueue(t *topic) {
	if t.queued || (t.sure && t.sent == len(t.members) && len(t.fresh) == 0) {
		return
	}
	t.queued = true
	h.queue = append(h.queue, t)
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// tellCounts tells the log the counts of topics that have changed until ctx ends: one
// request at a time, of all that has gathered meanwhile. Its numbers are absolute, and
// the node's session applies requests in the order they are made, so a request whose
// outcome is not known is simply followed by one with what holds now.
func (h *Hub) tellCounts(ctx context.Context) {
	for {
		select {
		case <-h.wake:
		case <-ctx.Done():
			return
		}
		for ctx.Err() == nil {
			request, topics := h.collect()
			if request == nil {
				break
			}
			_, err := fsm.Do(ctx, h.log, fsm.Subscribe, *request)
			h.told(request.Serial, topics, err)
			if err != nil {
				h.slog.Debug("subscriber counts were not told", "error", err)
				pause(ctx, tellAgain)
			}
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// collect makes the next request, nil if there is nothing to tell.
func (h *Hub) collect() (*fsm.Subscribers, []*topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	request := &fsm.Subscribers{Hub: h.id}
	var topics []*topic
	var fresh []*member
	for len(h.queue) > 0 && len(topics) < countsPerRequest {
		t := h.queue[0]
		h.queue = h.queue[1:]
		t.queued = false
		if t.sure && t.sent == len(t.members) && len(t.fresh) == 0 {
			h.forget(t)
			continue
		}
		topics = append(topics, t)
		request.Counts = append(request.Counts, fsm.SubscriberCount{Ref: t.ref, Count: int64(len(t.members))})
		t.sent, t.sure = len(t.members), true
		fresh = append(fresh, t.fresh...)
		t.fresh = nil
	}
	if len(topics) == 0 {
		h.isIdle()
		h.nothingToTell()
		return nil, nil
	}
	h.ride()
	h.serial++
	request.Serial = h.serial
	h.counted[h.serial] = fresh
	return request, topics
}

// told takes in the outcome of a request. Members whose request has failed and was not
// seen in the log end: nobody told them that they are subscribed.
func (h *Hub) told(serial uint64, topics []*topic, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.arrive(err)
	if err == nil {
		for _, t := range topics {
			h.forget(t)
		}
		return
	}
	for _, m := range h.counted[serial] {
		if m.at >= 0 {
			h.end(m.sub, err)
		}
	}
	delete(h.counted, serial)
	for _, t := range topics {
		t.sure = false
		h.enqueue(t)
	}
}
