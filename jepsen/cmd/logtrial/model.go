package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore/logstoretest"
)

// The writer's journal, a line an event: "B op" before an operation, "A" when it
// was acknowledged, "E text" when it failed, "X text" when the process must end,
// "Z" at an orderly end, "W" when it waits for a line on its input.
//
// Operations: "S first count term" stores a batch, "D from to" deletes, "T term"
// sets term and vote.

// model is the log that the acknowledged operations have produced, and the operation under way.
type model struct {
	first, last uint64
	term        map[uint64]uint64
	stable      uint64 // the term that was set
	pending     string // the operation without an answer
	failed      string // an append that returned an error, until the next good one
	acked       int
	errors      int
	end         string // the last X or Z line
	// Acknowledged while a power cut was under way: the cut is not one moment,
	// and a sync inside it may still return success. Not held against the store.
	cut  atomic.Bool
	late []string
}

func newModel() *model { return &model{term: map[uint64]uint64{}} }

// apply does one operation to the model.
func (m *model) apply(op string) {
	if op == "" {
		return
	}
	var a, b, t uint64
	switch op[0] {
	case 'T':
		fmt.Sscanf(op, "T %d", &m.stable)
	case 'S':
		fmt.Sscanf(op, "S %d %d %d", &a, &b, &t)
		for i := a; i < a+b; i++ {
			m.term[i] = t
		}
		if m.last = a + b - 1; m.first == 0 {
			m.first = a
		}
	case 'D':
		fmt.Sscanf(op, "D %d %d", &a, &b)
		for i := a; i <= b; i++ {
			delete(m.term, i)
		}
		if a <= m.first {
			m.first = b + 1
		} else {
			m.last = a - 1
		}
	}
}

// read follows a journal to its end.
func (m *model) read(r io.Reader, onLine func(string)) {
	for sc := bufio.NewScanner(r); sc.Scan(); {
		line := sc.Text()
		switch line[0] {
		case 'B':
			m.pending = line[2:]
		case 'A':
			m.acknowledge()
		case 'E':
			if m.errors++; strings.HasPrefix(m.pending, "S") {
				m.failed = m.pending
			}
			m.pending = ""
		case 'X', 'Z':
			m.end = line
		}
		if onLine != nil {
			onLine(line)
		}
	}
}

func (m *model) acknowledge() {
	if m.cut.Load() {
		m.late = append(m.late, m.pending)
	} else {
		m.apply(m.pending)
	}
	if m.pending[0] == 'S' {
		m.failed = ""
	}
	m.pending, m.acked = "", m.acked+1
}

func (m *model) clone() *model {
	return &model{first: m.first, last: m.last, stable: m.stable, term: maps.Clone(m.term)}
}

// judge compares a node with the model. Allowed is the acknowledged state, and
// that state with what was under way, or failed, done as well.
func (m *model) judge(s *observation) (verdict, string) {
	if v, detail := s.refusal(); v != "" {
		return v, detail
	}
	found, detail := m.match(s)
	n, todo := m.clone(), slices.Clone(m.late)
	for _, op := range append(todo, m.pending, m.failed) {
		if v, _ := n.match(s); v == unharmed {
			return unharmed, ""
		}
		n.apply(n.partly(op, s))
	}
	if v, _ := n.match(s); v == unharmed {
		return unharmed, ""
	}
	return found, detail
}

// partly turns a deletion of the log's beginning, which goes in pieces, into the
// part of it that a crash let happen.
func (m *model) partly(op string, s *observation) string {
	var from, to uint64
	if n, _ := fmt.Sscanf(op, "D %d %d", &from, &to); n == 2 && from <= m.first && m.first < s.First && s.First <= to {
		return fmt.Sprintf("D %d %d", from, s.First-1)
	}
	return op
}

func (m *model) match(s *observation) (verdict, string) {
	for i, t := range s.Terms {
		index := s.First + uint64(i)
		if t == wrongEntry {
			return silent + " wrong entry", fmt.Sprint(index)
		}
		if want, ok := m.term[index]; ok && want != t {
			return silent + " old entry back", fmt.Sprintf("entry %d is of term %d, want %d", index, t, want)
		}
	}
	switch {
	case s.Last < m.last:
		return silent + " lost tail", fmt.Sprintf("ends at %d, want %d", s.Last, m.last)
	case s.Last > m.last:
		return silent + " extra tail", fmt.Sprintf("ends at %d, want %d", s.Last, m.last)
	case s.First != m.first:
		return silent + " wrong first", fmt.Sprintf("begins at %d, want %d", s.First, m.first)
	case m.stable > 0 && (s.Term < m.stable || s.Vote != vote):
		return silent + " stable value back", fmt.Sprintf("term %d, want %d; vote %q", s.Term, m.stable, s.Vote)
	}
	return unharmed, ""
}

// adopt takes what a node shows for the truth, after it was judged.
func (m *model) adopt(s *observation) {
	m.first, m.last, m.pending, m.failed = s.First, s.Last, "", ""
	m.term = map[uint64]uint64{}
	for i, t := range s.Terms {
		m.term[s.First+uint64(i)] = t
	}
	m.stable = max(m.stable, s.Term)
	m.acked, m.errors, m.end, m.late = 0, 0, "", nil
	m.cut.Store(false)
}

const vote = "node-b.example:7000"

func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// entry is a function of profile, index and term, so that a reader needs no copy
// of what was written.
func entry(profile string, index, term uint64) *logstoretest.Entry {
	d := make([]byte, entrySize(profile, index, term))
	x := mix(index*31+term) | 1
	for o := 0; o < len(d); o += 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], x)
		copy(d[o:], b[:])
	}
	return logstoretest.Command(index, term, d, time.Unix(1_700_000_000+int64(index), 0).UTC())
}

func entrySize(profile string, index, term uint64) int {
	h := mix(index<<20 ^ term)
	if profile == "mixed" {
		switch r := h >> 32 % 1000; {
		case r < 3:
			return 10 << 20
		case r < 15:
			return 1 << 20
		case r < 100:
			return 16 << 10
		}
	}
	return 64 + int(h%512)
}
