package logstore

import (
	"sync"
	"testing"
)

// watchedDeletes notes each transaction that deletes.
type watchedDeletes struct {
	backend
	mu     sync.Mutex
	pieces [][2]uint64
	check  func()
}

func (w *watchedDeletes) DeleteRange(from, to uint64) error {
	w.mu.Lock()
	w.pieces = append(w.pieces, [2]uint64{from, to})
	w.mu.Unlock()
	err := w.backend.DeleteRange(from, to)
	if w.check != nil {
		w.check()
	}
	return err
}

func TestLongDeletionsGoInPieces(t *testing.T) {
	const n = 2*deleteChunk + 10
	for name, c := range map[string]struct {
		from, to, first, last uint64
		pieces                int
	}{
		"beginning":      {1, n - 50, n - 49, n, 2},
		"end":            {51, n, 1, 50, 2},
		"all":            {1, n, 0, 0, 3},
		"more than all":  {0, n + 100, 0, 0, 3},
		"nothing there":  {n + 1, n + 5, 1, n, 0},
		"one at the end": {n, n, 1, n - 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := &watchedDeletes{}
			dir := t.TempDir()
			o := quiet(dir, &deaths{})
			o.wrap = func(b backend) backend { w.backend = b; return w }
			s := mustOpen(t, o)
			store(t, s, 1, n, 1)
			w.check = func() { // what a crash after any piece would leave
				first, last, err := s.rawBounds()
				if err != nil || first != 0 && (first != 1 && last != n || s.mark.index > last) || first == 0 && s.mark.index != 0 {
					t.Errorf("after %v: %d..%d, mark %d (%v)", w.pieces, first, last, s.mark.index, err)
				}
			}
			if err := s.DeleteRange(c.from, c.to); err != nil {
				t.Fatal(err)
			}
			if len(w.pieces) != c.pieces {
				t.Errorf("pieces %v", w.pieces)
			}
			w.check = nil
			expect(t, s, c.first, c.last, always(1))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			expect(t, open(t, dir), c.first, c.last, always(1))
		})
	}
}

// Appends get their turn between the pieces.
func TestAppendsDuringALongDeletion(t *testing.T) {
	s := open(t, t.TempDir())
	const n = 8 * deleteChunk
	store(t, s, 1, n, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.DeleteRange(1, n-100); err != nil {
			t.Error(err)
		}
	})
	for i := uint64(n + 1); i <= n+20; i++ {
		store(t, s, i, i, 1)
	}
	wg.Wait()
	expect(t, s, n-99, n+20, always(1))
}
