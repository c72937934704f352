package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

const (
	dbFile   = "raft.db"
	markFile = "raft.mark"
	journal  = "raft.journal"
	markLen  = 28
	metaLen  = 80 // page header and meta record
)

// place is a range of bytes of one of a node's files.
type place struct {
	file     string
	from, to int
}

// livePages are the database's pages in use.
func livePages(dir string) (out []place) {
	ps, ids := live(filepath.Join(dir, dbFile))
	for _, id := range ids {
		out = append(out, place{dbFile, id * ps, (id + 1) * ps})
	}
	return out
}

func live(path string) (pageSize int, ids []int) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, PreLoadFreelist: true, Timeout: time.Second})
	must(err)
	defer db.Close()
	must(db.View(func(tx *bbolt.Tx) error {
		for id := 0; ; {
			p, err := tx.Page(id)
			if err != nil || p == nil {
				return err
			}
			for k := range p.OverflowCount + 1 {
				if p.Type != "free" {
					ids = append(ids, id+k)
				}
			}
			id += 1 + p.OverflowCount
		}
	}))
	return db.Info().PageSize, ids
}

func anywhere(dir string) []place {
	st, err := os.Stat(filepath.Join(dir, dbFile))
	must(err)
	return []place{{dbFile, 0, int(st.Size())}}
}

// journalBlocks are the blocks of the journal that were ever written.
func journalBlocks(dir string) (out []place) {
	b, err := os.ReadFile(filepath.Join(dir, journal))
	must(err)
	for at := 0; at < len(b); at += journalBlock {
		if !bytes.Equal(b[at:at+journalBlock], make([]byte, journalBlock)) {
			out = append(out, place{journal, at, at + journalBlock})
		}
	}
	return out
}

const journalBlock = 4096

func metaRecords(string) []place {
	ps := os.Getpagesize()
	return []place{{dbFile, 0, metaLen}, {dbFile, ps, ps + metaLen}}
}

func markRecord(string) []place { return []place{{markFile, 0, markLen}} }

// goodNode makes the node that is broken again and again, and makes sure that a
// copy of it opens unbroken.
func (r *rig) goodNode(good, work string, more ...string) *model {
	m := r.build(good, r.ops, append(more, "-batch", "16", "-head", "-tail")...)
	copyNode(good, work)
	if v, detail, _ := r.judge(m, work, "small"); v != unharmed {
		must(fmt.Errorf("the node failed before the fault was injected: %s %s", v, detail))
	}
	return m
}

// flips: one flipped bit in a stopped node.
func (r *rig) flips(where func(dir string) []place, more ...string) *tally {
	good, work := r.path("good"), r.path("work")
	m := r.goodNode(good, work, more...)
	places := where(good)
	t := newTally(refused)
	for range r.n {
		copyNode(good, work)
		p := places[r.rng.Intn(len(places))]
		path := filepath.Join(work, p.file)
		b, err := os.ReadFile(path)
		must(err)
		b[p.from+r.rng.Intn(p.to-p.from)] ^= 1 << r.rng.Intn(8)
		must(os.WriteFile(path, b, 0o600))
		v, detail, _ := r.judge(m, work, "small")
		t.add(v, detail)
	}
	return t
}

// tornJournal: blocks of a killed node's journal are zeroed, or hold another one's
// content, or the file is cut.
func (r *rig) tornJournal() *tally {
	good, work := r.path("good"), r.path("work")
	m := r.goodNode(good, work, "-abandon")
	places := journalBlocks(good)
	whole, err := os.ReadFile(filepath.Join(good, journal))
	must(err)
	t := newTally(refused)
	for k := range r.n {
		copyNode(good, work)
		b := slices.Clone(whole)
		from, to := places[r.rng.Intn(len(places))], places[r.rng.Intn(len(places))]
		switch k % 3 {
		case 0:
			clear(b[from.from:from.to])
		case 1:
			copy(b[to.from:to.to], whole[from.from:from.to])
		default:
			b = b[:r.rng.Intn(len(b))]
		}
		must(os.WriteFile(filepath.Join(work, journal), b, 0o600))
		v, detail, _ := r.judge(m, work, "small")
		t.add(v, detail)
	}
	return t
}

// tear makes a torn file of a good one.
type tear func(r *rig, b []byte, dir string) []byte

func cutAnywhere(r *rig, b []byte, _ string) []byte { return b[:r.rng.Intn(len(b))] }

// cutEnd cuts within the last two pages in use; what the file has allocated
// behind them goes too.
func cutEnd(r *rig, b []byte, dir string) []byte {
	places := livePages(dir)
	return b[:places[len(places)-1].to-1-r.rng.Intn(8192)]
}

// zeroEnd zeroes within the last two pages in use.
func zeroEnd(r *rig, b []byte, dir string) []byte {
	places := livePages(dir)
	end := places[len(places)-1].to
	clear(b[end-1-r.rng.Intn(8192) : end])
	return b
}

// misplacedPage has one page in use written where another one belongs.
func misplacedPage(r *rig, b []byte, dir string) []byte {
	places := livePages(dir)
	from := r.rng.Intn(len(places))
	to := (from + 1 + r.rng.Intn(len(places)-1)) % len(places)
	copy(b[places[to].from:places[to].to], b[places[from].from:places[from].to])
	return b
}

func zeroLivePage(r *rig, b []byte, dir string) []byte {
	places := livePages(dir)
	p := places[r.rng.Intn(len(places))]
	clear(b[p.from:p.to])
	return b
}

// torn: a torn database file in a stopped node.
func (r *rig) torn(how tear) *tally {
	good, work := r.path("good"), r.path("work")
	m := r.goodNode(good, work)
	whole, err := os.ReadFile(filepath.Join(good, dbFile))
	must(err)
	t := newTally(refused)
	for range r.n {
		copyNode(good, work)
		must(os.WriteFile(filepath.Join(work, dbFile), how(r, slices.Clone(whole), good), 0o600))
		v, detail, _ := r.judge(m, work, "small")
		t.add(v, detail)
	}
	return t
}
