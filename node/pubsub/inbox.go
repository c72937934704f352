package pubsub

import "sync"

// bounds limit an inbox.
type bounds struct{ count, bytes int }

func newBounds(count, bytes int) bounds {
	b := bounds{DefaultMaxMessages, DefaultMaxBytes}
	if count > 0 {
		b.count = count
	}
	if bytes > 0 {
		b.bytes = bytes
	}
	return b
}

// inbox is the bounded queue of one reader.
type inbox[T any] struct {
	max  bounds
	wake chan struct{}

	mu    sync.Mutex
	items []T
	bytes int
	err   error
}

func (b *inbox[T]) open(max bounds) { b.max, b.wake = max, make(chan struct{}, 1) }

// Wake receives when there is something to Take, or the inbox has ended.
func (b *inbox[T]) Wake() <-chan struct{} { return b.wake }

func (b *inbox[T]) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// put adds an item. It is false if the item exceeds the bounds: then the inbox must end.
// On an ended inbox it does nothing.
func (b *inbox[T]) put(item T, size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return true
	}
	if len(b.items) >= b.max.count || (b.bytes+size > b.max.bytes && len(b.items) > 0) {
		return false
	}
	b.items = append(b.items, item)
	b.bytes += size
	if len(b.items) == 1 {
		b.signal()
	}
	return true
}

// finish ends the inbox after the queued items. Only the first reason counts.
func (b *inbox[T]) finish(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = why
		b.signal()
	}
}

func (b *inbox[T]) ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != nil
}

// Take returns all queued items in order, in exchange for a slice to reuse. The error says
// why nothing follows.
func (b *inbox[T]) Take(spare []T) ([]T, error) {
	clear(spare)
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items, b.bytes = spare[:0], 0
	return items, b.err
}
