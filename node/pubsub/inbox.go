package pubsub

import "sync"

// bounds limit an inbox.
type bounds struct{ count, bytes int }

// inbox is the bounded queue of one reader.
type inbox[T any] struct {
	max  bounds
	wake chan struct{}

	mu    sync.Mutex
	items []T
	bytes int
	err   error
}

func (i *inbox[T]) open(max bounds) { i.max, i.wake = max, make(chan struct{}, 1) }

// Wake receives when there is something to Take, or the inbox has ended.
func (i *inbox[T]) Wake() <-chan struct{} { return i.wake }

// signal wakes who receives from wake, now or later. The channel has room for one.
func signal(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// put adds an item. It is false if the item exceeds the bounds: then the inbox must end. On an ended inbox it does nothing.
func (i *inbox[T]) put(item T, size int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err != nil {
		return true
	}
	if len(i.items) >= i.max.count || (i.bytes+size > i.max.bytes && len(i.items) > 0) {
		return false
	}
	i.items = append(i.items, item)
	i.bytes += size
	if len(i.items) == 1 {
		signal(i.wake)
	}
	return true
}

// finish ends the inbox after the queued items. Only the first reason counts.
func (i *inbox[T]) finish(why error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err == nil {
		i.err = why
		signal(i.wake)
	}
}

func (i *inbox[T]) ended() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.err != nil
}

// Take returns all queued items in order, in exchange for a slice to reuse. The error says why nothing follows.
func (i *inbox[T]) Take(spare []T) ([]T, error) {
	clear(spare)
	i.mu.Lock()
	defer i.mu.Unlock()
	items := i.items
	i.items, i.bytes = spare[:0], 0
	return items, i.err
}
