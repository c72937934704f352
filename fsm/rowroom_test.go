package fsm

import "testing"

// The room holds nothing of a batch that is over, one that could not be read to its end among them, and a batch with more words than
// the room is for has memory of its own.
func TestRowRoomIsEmptied(t *testing.T) {
	var r rowRoom
	fill := func(n, m int) {
		words, rows := r.take(n, m)
		for range n {
			words = append(words, []byte("word"))
		}
		for i := range rows {
			rows[i] = words
		}
	}
	fill(600, 200)
	fill(3, 1) // of the first one nothing was given back
	r.giveBack()
	for i, w := range r.words {
		if w != nil {
			t.Fatalf("word %d is still there", i)
		}
	}
	for i, row := range r.rows {
		if row != nil {
			t.Fatalf("row %d is still there", i)
		}
	}
	if r.used.words != 0 || r.used.rows != 0 {
		t.Errorf("%+v is to be cleared again", r.used)
	}
	fill(lentWords+1, 1)
	if len(r.words) != 600 || r.used.words != 0 {
		t.Errorf("room for %d words, %d of them used", len(r.words), r.used.words)
	}
}
