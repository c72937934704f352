package pubsub

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

const (
	// countsPerRequest bounds an announcement; what is left makes the next one.
	countsPerRequest = 10_000
	// retryDelay is the pause after an announcement that failed.
	retryDelay = 100 * time.Millisecond
)

// enqueue queues a topic for announcement if the log lacks its count; the lock is held.
func (h *Hub) enqueue(t *topic) {
	if t.queued || t.counted() {
		return
	}
	t.queued = true
	h.queue = append(h.queue, t)
	signal(h.wake)
}

// counted reports whether the log has the count of a topic, or is about to.
func (t *topic) counted() bool {
	return t.acknowledged && t.announced == len(t.members) && len(t.unannounced) == 0
}

// announceCounts announces the changed counts of topics until ctx ends: one request to the
// log at a time, with all changes since the last. Its numbers are absolute, and the node's
// session applies requests in order, so a request whose outcome is unknown is followed by
// one with the current counts.
func (h *Hub) announceCounts(ctx context.Context) {
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
			h.acknowledge(request.Serial, topics, err)
			if err != nil {
				h.slog.Debug("announcing subscriber counts failed, will retry", "error", err)
				pause(ctx, retryDelay)
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

// collect returns the next announcement, nil if the queue is empty.
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
		if t.counted() {
			h.topics.forget(t)
			continue
		}
		topics = append(topics, t)
		request.Counts = append(request.Counts, fsm.SubscriberCount{Ref: t.ref, Count: int64(len(t.members))})
		t.announced, t.acknowledged = len(t.members), true
		fresh = append(fresh, t.unannounced...)
		t.unannounced = nil
	}
	if len(topics) == 0 {
		h.signalIdle()
		h.queueEmpty()
		return nil, nil
	}
	h.requestBegins()
	h.serial++
	request.Serial = h.serial
	h.awaitingApply[h.serial] = fresh
	return request, topics
}

// acknowledge processes the outcome of an announcement. Members whose announcement failed
// and was not applied end: they were not confirmed.
func (h *Hub) acknowledge(serial uint64, topics []*topic, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.requestEnds(err)
	if err == nil {
		for _, t := range topics {
			h.topics.forget(t)
		}
		return
	}
	for _, m := range h.awaitingApply[serial] {
		if m.index >= 0 {
			h.end(m.sub, err)
		}
	}
	delete(h.awaitingApply, serial)
	for _, t := range topics {
		t.acknowledged = false
		h.enqueue(t)
	}
}
