package payloads

import "sync"

// holds are the copies of cold strings that were read lately, by their places. They are among the young payloads, too, which let go of
// them.
type holds struct {
	mu  sync.RWMutex
	all map[place]*Body
}

func (h *holds) get(p place) *Body {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.all[p]
}

// add takes in a copy. It returns false if there is one.
func (h *holds) add(p place, b *Body) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all[p] != nil {
		return false
	}
	if h.all == nil {
		h.all = map[place]*Body{}
	}
	h.all[p] = b
	return true
}

// drop lets go of a copy.
func (h *holds) drop(b *Body) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := place(b.at.Load()); h.all[p] == b {
		delete(h.all, p)
		if len(h.all) == 0 {
			h.all = nil // a map does not become smaller
		}
	}
}
