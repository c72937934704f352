package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore/logstoretest"
)

// Exit codes of a child.
const (
	exitOpen  = 3 // could not open
	exitError = 4 // an operation failed and the store is still usable
	exitFatal = 9 // the store said that the process must end
)

// runChild runs this program as one of its own children.
func runChild(verb string, args []string) bool {
	switch verb {
	case "child-write":
		writeChild(args)
	case "child-look":
		fs := flag.NewFlagSet(verb, flag.ExitOnError)
		dir, profile := fs.String("dir", "", ""), fs.String("profile", "", "")
		fs.Parse(args)
		json.NewEncoder(os.Stdout).Encode(look(*dir, *profile))
	default:
		return false
	}
	return true
}

// options returns the options of a node without background work, so that a trial breaks
// what it means to break, and without snapshots: the writers shorten logs freely.
func options(dir string, fatal func(error)) logstore.Options {
	return logstore.Options{
		Dir: dir, Fatal: fatal, ProbeEvery: -1, ScrubEvery: -1,
		SegmentSize: 64 << 10,        // full again and again
		Heartbeat:   5 * time.Second, // a busy machine is not a stalled disk: that has a test of its own
		Space:       logstore.Space{Reserve: -1, Floor: logstore.Floor{Bytes: 1}},
	}
}

// observation is the state of a node at one check.
type observation struct {
	Err         string
	Damaged     bool
	Open        bool
	First, Last uint64
	Terms       []uint64 // of First..Last, or wrongEntry
	Term        uint64
	Vote        string
}

const wrongEntry = ^uint64(0)

// refusal is the verdict on a node that did not open, or failed while reading.
func (o *observation) refusal() (verdict, string) {
	switch {
	case o.Err == "":
		return "", ""
	case o.Damaged:
		return refused, o.Err
	case !o.Open:
		return failed, o.Err
	}
	return died, o.Err
}

func look(dir, profile string) *observation {
	s := &observation{}
	note := func(err error) *observation {
		if err != nil && s.Err == "" {
			s.Err, s.Damaged = err.Error(), errors.Is(err, logstore.ErrDamaged)
		}
		return s
	}
	st, err := logstore.Open(options(dir, func(err error) { note(err) }))
	if err != nil {
		return note(err)
	}
	s.Open = true
	note(s.readAll(st, profile))
	return note(st.Close())
}

func (o *observation) readAll(st *logstore.Store, profile string) (err error) {
	if o.First, err = st.FirstIndex(); err != nil {
		return err
	}
	if o.Last, err = st.LastIndex(); err != nil {
		return err
	}
	for i := o.First; i <= o.Last && i != 0; i++ {
		var l logstoretest.Entry
		if err := st.GetLog(i, &l); err != nil {
			return err
		}
		w, term := entry(profile, i, l.Term), l.Term
		if l.Index != i || l.Type != w.Type || !bytes.Equal(l.Data, w.Data) || len(l.Extensions) != 0 || !l.AppendedAt.Equal(w.AppendedAt) {
			term = wrongEntry
		}
		o.Terms = append(o.Terms, term)
	}
	if o.Term, err = st.GetUint64([]byte("CurrentTerm")); err != nil && err.Error() != "not found" {
		return err
	}
	v, err := st.Get([]byte("LastVoteCand"))
	if o.Vote = string(v); err != nil && err.Error() != "not found" {
		return err
	}
	return nil
}

// writer appends and truncates until it is killed, or for a number of operations.
type writer struct {
	st                *logstore.Store
	rng               *rand.Rand
	profile           string
	first, last, term uint64
	head, tail        bool
	batch             int
	wait              bool // after an error: ask the parent before going on
	in                *bufio.Reader
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func writeChild(args []string) {
	fs := flag.NewFlagSet("child-write", flag.ExitOnError)
	dir, profile := fs.String("dir", "", ""), fs.String("profile", "small", "")
	seed, ops := fs.Int64("seed", 1, ""), fs.Int("ops", 1<<30, "")
	head, tail, batch := fs.Bool("head", false, ""), fs.Bool("tail", false, ""), fs.Int("batch", 32, "")
	segment := fs.Int64("segment", 64<<10, "size of a segment in bytes")
	reserve := fs.Int64("reserve", -1, "size of the reserve file in bytes")
	abandon := fs.Bool("abandon", false, "end as if killed, without closing the store")
	wait := fs.Bool("wait", false, "after an error wait for a line")
	fs.Parse(args)
	runtime.LockOSThread() // strace counts the calls of one thread
	o := options(*dir, func(err error) {
		say("X fatal: %v", err)
		os.Exit(exitFatal)
	})
	o.Space.Reserve = *reserve
	o.SegmentSize = *segment
	w := &writer{rng: rand.New(rand.NewSource(*seed)), profile: *profile, head: *head, tail: *tail, batch: *batch, wait: *wait, in: bufio.NewReader(os.Stdin)}
	var err error
	for range 20 { // a node waits for room, too
		if w.st, err = logstore.Open(o); !errors.Is(err, logstore.ErrNoSpace) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err == nil {
		err = w.resume()
	}
	if err != nil {
		say("X open: %v", err)
		os.Exit(exitOpen)
	}
	w.newTerm()
	for range *ops {
		w.step()
	}
	if *abandon {
		say("Z")
		os.Exit(0)
	}
	if err := w.st.Close(); err != nil {
		say("X close: %v", err)
		os.Exit(exitError)
	}
	say("Z")
}

func (w *writer) resume() (err error) {
	if w.first, err = w.st.FirstIndex(); err != nil {
		return err
	}
	if w.last, err = w.st.LastIndex(); err != nil {
		return err
	}
	w.term, err = w.st.GetUint64([]byte("CurrentTerm"))
	if err != nil && err.Error() == "not found" {
		err = nil
	}
	return err
}

// do runs one operation and keeps the journal.
func (w *writer) do(op string, f func() error) bool {
	say("B %s", op)
	err := f()
	if err == nil {
		say("A")
		return true
	}
	say("E %v", err)
	if !errors.Is(err, logstore.ErrNoSpace) {
		os.Exit(exitError)
	}
	if w.wait {
		say("W")
		w.in.ReadString('\n')
	}
	return false
}

func (w *writer) newTerm() {
	w.term++
	ok := w.do(fmt.Sprintf("T %d", w.term), func() error {
		if err := w.st.SetUint64([]byte("CurrentTerm"), w.term); err != nil {
			return err
		}
		return w.st.Set([]byte("LastVoteCand"), []byte(vote))
	})
	if !ok {
		say("X the term could not be stored, where raft panics")
		os.Exit(exitError)
	}
}

func (w *writer) step() {
	r := w.rng.Intn(100)
	switch {
	case w.head && r < 3 && w.last-w.first > 200:
		to := w.first + uint64(w.rng.Int63n(int64(w.last-w.first-50)))
		if w.do(fmt.Sprintf("D %d %d", w.first, to), func() error { return w.st.DeleteRange(w.first, to) }) {
			w.first = to + 1
		}
	case w.tail && r >= 97 && w.last > w.first+50:
		w.newTerm()
		from := w.last - uint64(w.rng.Intn(40))
		if w.do(fmt.Sprintf("D %d %d", from, w.last), func() error { return w.st.DeleteRange(from, w.last) }) {
			w.last = from - 1
		}
	default:
		w.append(1 + w.rng.Intn(w.batch))
	}
}

// append stores a batch. After a failure it continues as a new leader would have
// it: other entries, of a newer term, from the same index on.
func (w *writer) append(k int) {
	logs := make([]*logstoretest.Entry, k)
	for i := range logs {
		logs[i] = entry(w.profile, w.last+1+uint64(i), w.term)
	}
	op := fmt.Sprintf("S %d %d %d", w.last+1, k, w.term)
	if !w.do(op, func() error { return w.st.StoreLogs(logs) }) {
		w.newTerm()
		return
	}
	w.first = max(w.first, 1)
	w.last += uint64(k)
}
