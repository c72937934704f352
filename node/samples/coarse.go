package samples

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// coarse holds a sample for every five minutes, which lie at multiples of that.
type coarse struct {
	whole []Sample // the oldest first
	part  Sample   // of the five minutes that go on
	parts int      // samples in it
	file  string   // that keeps them; empty for none
}

// add takes a sample in, and reports whether it began other five minutes than the sample before it.
func (co *coarse) add(s Sample) (complete bool) {
	if co.parts > 0 && s.At/Coarse.Milliseconds() != co.part.At/Coarse.Milliseconds() {
		co.part.Databases = foremost(co.part.Databases, KeptDatabases)
		co.put(co.part)
		co.parts, complete = 0, true
	}
	if co.parts++; co.parts == 1 {
		co.part = s
		co.part.Databases = slices.Clone(s.Databases)
		return complete
	}
	var c Columns
	was := c.all(&co.part)
	for i, now := range c.all(&s) {
		was[i].fold(*now.figure, co.parts)
	}
	co.part.Databases = foldDatabases(co.part.Databases, s.Databases, co.parts)
	co.part.At = s.At
	return complete
}

// put appends a sample, unless its time is that of the last one or before it: the clock may have been set back.
func (co *coarse) put(s Sample) {
	if n := len(co.whole); n > 0 && co.whole[n-1].At >= s.At {
		return
	}
	if co.whole = append(co.whole, s); len(co.whole) > KeptCoarse {
		co.whole = slices.Delete(co.whole, 0, 1)
	}
}

// all are the samples with that of the five minutes that go on.
func (co *coarse) all() []Sample {
	if n := len(co.whole); co.parts == 0 || n > 0 && co.whole[n-1].At >= co.part.At {
		return co.whole
	}
	return append(co.whole[:len(co.whole):len(co.whole)], co.part)
}

// Keep reads coarse samples from a file, and has Run write them to it: when one is complete, and at its end. Samples later than now are
// left out.
func (h *History) Keep(file string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.coarse.file = file
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var c Columns
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return fmt.Errorf("read the history of rates: %w", err)
	}
	var held coarse
	for i, at := range c.Time {
		s := Sample{At: at}
		for _, column := range c.all(&s) {
			if i < len(*column.of) {
				*column.figure = (*column.of)[i]
			}
		}
		s.Databases = databasesAt(c.Databases, i)
		if at <= h.now().UnixMilli() {
			held.put(s)
		}
	}
	for _, s := range h.coarse.whole { // of this process
		held.put(s)
	}
	h.coarse.whole = held.whole
	return nil
}

// save writes the file anew. It is not synced: what a crash loses are five minutes of a chart.
func (h *History) save() error {
	h.mu.Lock()
	file := h.coarse.file
	h.mu.Unlock()
	if file == "" {
		return nil
	}
	raw, err := json.Marshal(h.Read(Question{Range: Week, Databases: true}))
	temporary := file + ".new"
	if err == nil {
		err = os.WriteFile(temporary, raw, 0o600)
	}
	if err == nil {
		err = os.Rename(temporary, file)
	}
	if err != nil {
		return fmt.Errorf("write the history of rates: %w", err)
	}
	return nil
}
