package hll

import (
	"fmt"
	"math"
	"testing"
)

// TestEstimates counts far more elements than a sparse sketch holds; estimates stay
// within a few standard errors, and the two forms agree at every step.
func TestEstimates(t *testing.T) {
	s := New()
	turned := 0
	for i := 1; i <= 50_000; i++ {
		if _, err := s.Add(fmt.Append(nil, "element", i)); err != nil {
			t.Fatal(err)
		}
		if s.Dense() && turned == 0 {
			turned = i
		}
		if i%997 != 0 {
			continue
		}
		n, err := s.Count()
		if err != nil || math.Abs(float64(n)/float64(i)-1) > 0.04 {
			t.Fatalf("%d elements: estimate %d, %v", i, n, err)
		}
		packed, ok := Open(string(s.Bytes()))
		if !ok {
			t.Fatal("no sketch")
		}
		if _, err := packed.ToDense(); err != nil {
			t.Fatal(err)
		}
		if m, err := packed.Count(); err != nil || m != n {
			t.Fatalf("%d elements: sparse %d, dense %d, %v", i, n, m, err)
		}
	}
	if turned < 1000 || turned > 2500 {
		t.Errorf("dense after %d elements", turned)
	}
}

// FuzzSketch opens any bytes; whatever is done to them gives a value or ErrCorrupt.
func FuzzSketch(f *testing.F) {
	f.Add(string(New().Bytes()), []byte("a"))
	f.Add("HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f", []byte("b"))
	f.Add("HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\xff\xff\x40\x00\x3f", []byte{})
	f.Fuzz(func(t *testing.T, text string, element []byte) {
		s, ok := Open(text)
		if !ok {
			return
		}
		s.Describe()
		_, before := s.All()
		if _, err := s.Add(element); err != nil {
			return
		}
		_, after := s.All()
		if before == nil && after != nil {
			t.Fatalf("an element made %q corrupt", text)
		}
		var r Registers
		if r.Merge(s) == nil {
			if err := s.Raise(&r); err != nil {
				t.Fatalf("raising a sketch to itself: %v", err)
			}
		}
		if _, err := s.ToDense(); err == nil && len(s.Bytes()) != denseSize {
			t.Fatalf("dense with %d bytes", len(s.Bytes()))
		}
	})
}
