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
	// countedTimeout bounds the wait of WaitCounted: without a leader the log takes no counts.
	countedTimeout = time.Second
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

// announceCounts announces the changed counts of topics until ctx ends: one request to the log at a time, with all changes since
// the last. Its numbers are absolute, and the node's session applies requests in order, so a request whose outcome is unknown is
// followed by one with the current counts.
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

// WaitCounted waits until the log has the counts of every Add and Remove before the call, ctx ends, a second has passed, or the
// hub is closed. A client whose UNSUBSCRIBE is answered after it is not counted by any later PUBLISH, as in Redis.
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

// BeforeCount has settle called before subscribers of a database are counted on behalf of a client of this node. It returns when
// what subscribers' connections have sent to leave has become Removes and Closes.
func (h *Hub) BeforeCount(settle func(ctx context.Context, db string)) { h.settle.Store(&settle) }

// AwaitUncounted waits until the log counts no subscriber of this node that left before the call, whether or not its
// unsubscription was answered. It is called before a PUBLISH, and before whatever else tells a client how many subscribers there
// are. If nobody leaves, it costs a system call where connections subscribe, and an atomic load elsewhere.
func (h *Hub) AwaitUncounted(ctx context.Context, db string) {
	if settle := h.settle.Load(); settle != nil {
		(*settle)(ctx, db)
	}
	if h.leaving.Load() {
		h.WaitCounted(ctx)
	}
}

// requestBegins moves the waiters to the request that announces all that is queued; the lock is held.
func (h *Hub) requestBegins() {
	h.requesting = true
	if len(h.queue) == 0 {
		h.waitingInFlight = append(h.waitingInFlight, h.waitingQueued...)
		h.waitingQueued = nil
		h.leavingInFlight = h.leavingInFlight || h.leavingQueued
		h.leavingQueued = false
	}
}

// requestEnds releases the waiters of a request that was applied; after one that failed they wait for the next. The lock is held.
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
