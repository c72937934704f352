package hub

import "sync"

// bounds are what may wait in an inbox.
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

// inbox is what waits for one reader, within bounds.
type inbox[T any] struct {
	max  bounds
	wake chan struct{}

	mu    sync.Mutex
	items []T
	bytes int
	err   error
}

func (b *inbox[T]) open(max bounds) { b.max, b.wake = max, make(chan struct{}, 1) }

// Wake receives when there is something to Take, or the end to learn of.
func (b *inbox[T]) Wake() <-chan struct{} { return b.wake }

func (b *inbox[T]) nudge() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// put adds an item. It is false if the item doesn't fit: then the inbox must end.
// An ended inbox takes nothing and doesn't mind.
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
		b.nudge()
	}
	return true
}

// finish ends the inbox behind what waits. Only the first reason counts.
func (b *inbox[T]) finish(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = why
		b.nudge()
	}
}

func (b *inbox[T]) ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != nil
}

// Take gives all that waits, in order, in exchange for a slice that is used again. The
// error says that nothing comes after it, and why.
func (b *inbox[T]) Take(spare []T) ([]T, error) {
	clear(spare)
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items, b.bytes = spare[:0], 0
	return items, b.err
}
