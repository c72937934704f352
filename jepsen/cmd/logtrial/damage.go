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
	dbFile        = "raft.db"
	markLen       = 20
	formerMarkLen = 28 // of raft.mark
	metaLen       = 80 // page header and meta record
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

// segments are the files of the log, in order, by their names below the node's directory.
func segments(dir string) (names []string) {
	paths, err := filepath.Glob(filepath.Join(dir, "log", "*.seg"))
	must(err)
	slices.Sort(paths)
	for _, path := range paths {
		names = append(names, filepath.Join("log", filepath.Base(path)))
	}
	return names
}

// sector is the least that a disk writes as a whole, in bytes.
const sector = 512

// written are the sectors of the log that hold something: what was appended, or a former use of the file.
func written(dir string) (out []place) {
	for _, name := range segments(dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		must(err)
		for at := 0; at < len(b); at += sector {
			if !bytes.Equal(b[at:at+sector], make([]byte, sector)) {
				out = append(out, place{name, at, at + sector})
			}
		}
	}
	return out
}

func metaRecords(string) []place {
	ps := os.Getpagesize()
	return []place{{dbFile, 0, metaLen}, {dbFile, ps, ps + metaLen}}
}

func markRecords(string) []place {
	return []place{{"stable.mark", 0, markLen}, {filepath.Join("log", "mark"), 0, markLen}, {filepath.Join("log", "oldest"), 0, markLen}, {"raft.mark", 0, formerMarkLen}}
}

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

// tornLog: sectors of a killed node's log are zeroed, or hold another one's content, or a file is cut or gone.
func (r *rig) tornLog() *tally {
	good, work := r.path("good"), r.path("work")
	m := r.goodNode(good, work, "-abandon")
	places := written(good)
	t := newTally(refused)
	for k := range r.n {
		copyNode(good, work)
		from, to := places[r.rng.Intn(len(places))], places[r.rng.Intn(len(places))]
		path := filepath.Join(work, to.file)
		b, err := os.ReadFile(path)
		must(err)
		switch k % 4 {
		case 0:
			clear(b[to.from:to.to])
		case 1:
			other, err := os.ReadFile(filepath.Join(work, from.file))
			must(err)
			copy(b[to.from:to.to], other[from.from:from.to])
		case 2:
			b = b[:r.rng.Intn(len(b))]
		default:
			must(os.Remove(path))
			v, detail, _ := r.judge(m, work, "small")
			t.add(v, detail)
			continue
		}
		must(os.WriteFile(path, b, 0o600))
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
