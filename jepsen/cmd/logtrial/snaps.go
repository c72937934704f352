package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore/logstoretest"
)

// snapshots: a node with two snapshots and a log; a flipped bit in, or a cut
// of, a file of the newest one. It must be refused, or replaced by the older one
// and the log, which then has to reach past the damaged one.
func (r *rig) snapshots() *tally {
	t, replaced := newTally(refused), 0
	for k := range r.n {
		dir := r.path("node")
		must(os.RemoveAll(dir))
		from := uint64(40 + r.rng.Intn(80)) // covers from the older one (80) on, or not
		r.snapshotNode(dir, from)
		r.corruptNewest(dir, k%4 == 3)
		v, detail, fell := readSnapshots(dir)
		if v == unharmed && fell {
			replaced++
		}
		t.add(v, detail)
	}
	t.note("the log replaced it in %d", replaced)
	return t
}

const (
	olderIndex = 80
	newerIndex = 200
	lastIndex  = 260
)

func (r *rig) snapshotNode(dir string, from uint64) {
	st, err := logstore.Open(options(dir, func(err error) { must(err) }))
	must(err)
	var logs []*logstoretest.Entry
	for i := from; i <= lastIndex; i++ {
		logs = append(logs, entry("small", i, 1))
	}
	must(st.StoreLogs(logs))
	must(st.Close())
	s, err := logstore.OpenSnapshots(dir, 2, hclog.NewNullLogger())
	must(err)
	for _, index := range []uint64{olderIndex, newerIndex} {
		must(logstoretest.WriteSnapshot(s, index, 1, entry("small", index, 99).Data))
	}
}

func (r *rig) corruptNewest(dir string, cut bool) {
	list, err := logstore.CheckSnapshots(dir)
	must(err)
	path := filepath.Join(list[0].Path, []string{"meta.json", "state.bin"}[r.rng.Intn(2)])
	b, err := os.ReadFile(path)
	must(err)
	at := r.rng.Intn(len(b))
	if cut {
		b = b[:at]
	} else {
		b[at] ^= 1 << r.rng.Intn(8)
	}
	must(os.WriteFile(path, b, 0o600))
}

// readSnapshots starts a node as the product does, and reads what raft would
// restore. fell says that it was the older one.
func readSnapshots(dir string) (v verdict, detail string, fell bool) {
	o := options(dir, func(error) {})
	var err error
	o.Snapshots, err = logstore.CheckSnapshots(dir)
	must(err)
	st, err := logstore.Open(o)
	if errors.Is(err, logstore.ErrDamaged) {
		return refused, err.Error(), false
	} else if err != nil {
		return failed, err.Error(), false
	}
	defer st.Close()
	s, err := logstore.OpenSnapshots(dir, 2, hclog.NewNullLogger())
	must(err)
	list, err := s.List()
	must(err)
	for _, m := range list {
		meta, in, err := s.Open(m.ID)
		if err != nil {
			return failed, "a damaged snapshot was left in place: " + err.Error(), false
		}
		got, err := io.ReadAll(in)
		in.Close()
		must(err)
		index := meta.Index
		if !bytes.Equal(got, entry("small", index, 99).Data) || meta.Term != 1 || index != olderIndex && index != newerIndex {
			return silent + " wrong snapshot", fmt.Sprintf("index %d", index), false
		}
		first, err := st.FirstIndex()
		must(err)
		if first > index+1 {
			return silent + " gap behind the snapshot", fmt.Sprintf("snapshot to %d, log from %d", index, first), false
		}
		return unharmed, "", index == olderIndex
	}
	return silent + " no snapshot", "", false
}
