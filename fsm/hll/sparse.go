package hll

import (
	"slices"
	"strconv"
	"strings"
)

// The run-length code: 00llllll are up to 64 registers of 0, 01llllll llllllll up to
// 16,384, and 1rrrrrll up to 4 of a rank up to 32.
const (
	longZeros   = 1 << 6
	ranked      = 1 << 7
	maxZeros    = 64
	maxRanked   = 4
	maxRank     = 32
	scannedRuns = 5 // that may be joined after a change
)

// run is one opcode.
type run struct {
	at, size int // in the bytes
	from, to int // registers
	rank     byte
}

func isRanked(c byte) bool { return c&ranked != 0 }

func rankedRun(rank byte, n int) byte { return ranked | (rank-1)<<2 | byte(n-1) }

// next reads the opcode at a place that is not behind the end, whose first register is
// from.
func (s *Sketch) next(at, from int) (r run, ok bool) {
	c := s.at(at)
	switch {
	case isRanked(c):
		return run{at, 1, from, from + int(c&3) + 1, c>>2&31 + 1}, true
	case c&longZeros == 0:
		return run{at, 1, from, from + int(c&63) + 1, 0}, true
	case at+1 == s.len():
		return run{}, false
	}
	return run{at, 2, from, from + int(c&63)<<8 + int(s.at(at+1)) + 1, 0}, true
}

// runs calls f for every run of equal registers; they must be all registers.
func (s *Sketch) runs(f func(from, to int, rank byte)) error {
	from := 0
	for at := headerSize; at < s.len(); {
		r, ok := s.next(at, from)
		if !ok || r.to > registers {
			return ErrCorrupt
		}
		f(r.from, r.to, r.rank)
		at, from = at+r.size, r.to
	}
	if from != registers {
		return ErrCorrupt
	}
	return nil
}

// find is the run that holds a register, and the place of the one before it, or of the
// first.
func (s *Sketch) find(index int) (r run, before int, err error) {
	before = headerSize
	for at, from := headerSize, 0; at < s.len(); at, from = at+r.size, r.to {
		var ok bool
		if at > headerSize {
			before = r.at
		}
		if r, ok = s.next(at, from); !ok {
			break
		}
		if index < r.to {
			return r, before, nil
		}
	}
	return r, before, ErrCorrupt
}

// raiseSparse splits the run that holds the register. What becomes too long, or a rank
// beyond the code, turns the sketch dense.
func (s *Sketch) raiseSparse(index int, rank byte) (changed bool, err error) {
	if rank > maxRank {
		return s.promote(index, rank)
	}
	r, before, err := s.find(index)
	if err != nil || r.rank >= rank {
		return false, err
	}
	code := make([]byte, 0, 5)
	code = appendRun(code, r.rank, index-r.from)
	code = append(code, rankedRun(rank, 1))
	code = appendRun(code, r.rank, r.to-index-1)
	if grows := len(code) - r.size; grows > 0 && s.len()+grows > MaxSparse {
		return s.promote(index, rank)
	}
	s.own()
	s.bytes = slices.Replace(s.bytes, r.at, r.at+r.size, code...)
	s.join(before)
	return true, nil
}

func (s *Sketch) promote(index int, rank byte) (changed bool, err error) {
	if _, err := s.ToDense(); err != nil {
		return false, err
	}
	return s.raiseDense(index, rank), nil
}

// appendRun writes n registers of a rank, if n is not 0.
func appendRun(b []byte, rank byte, n int) []byte {
	switch {
	case n == 0:
		return b
	case rank > 0:
		return append(b, rankedRun(rank, n))
	}
	return appendZeros(b, n)
}

func appendZeros(b []byte, n int) []byte {
	if n <= maxZeros {
		return append(b, byte(n-1))
	}
	return append(b, longZeros|byte((n-1)>>8), byte(n-1))
}

// join makes one of neighbouring runs of a rank as far as the code has room, in the few
// opcodes from a place on, and in Redis's order, which decides about the bytes.
func (s *Sketch) join(at int) {
	for range scannedRuns {
		if at >= len(s.bytes) {
			return
		}
		c := s.bytes[at]
		switch {
		case !isRanked(c) && c&longZeros != 0:
			at += 2
			continue
		case !isRanked(c):
			at++
			continue
		}
		if at+1 < len(s.bytes) && isRanked(s.bytes[at+1]) && s.bytes[at+1]>>2 == c>>2 {
			if n := int(c&3) + int(s.bytes[at+1]&3) + 2; n <= maxRanked {
				s.bytes[at+1] = rankedRun(c>>2&31+1, n)
				s.bytes = slices.Delete(s.bytes, at, at+1)
				continue
			}
		}
		at++
	}
}

// Describe lists the runs of a sparse sketch as PFDEBUG DECODE shows them.
func (s *Sketch) Describe() string {
	var b strings.Builder
	for at := headerSize; at < s.len(); {
		r, ok := s.next(at, 0)
		if !ok { // the second byte of a long run is missing: Redis reads the zero behind its text
			r = run{at: at, size: 2, to: int(s.at(at)&(longZeros-1))<<8 + 1}
		}
		n := strconv.Itoa(r.to)
		switch {
		case r.rank > 0:
			b.WriteString("v:" + strconv.Itoa(int(r.rank)) + "," + n + " ")
		case r.size == 1:
			b.WriteString("z:" + n + " ")
		default:
			b.WriteString("Z:" + n + " ")
		}
		at += r.size
	}
	return strings.TrimSuffix(b.String(), " ")
}
