package cluster

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
)

const mb, gb = 1 << 20, 1 << 30

func defaultOptions() *Options {
	o := &Options{}
	o.defaults()
	return o
}

// TestSnapshotsInProportion checks when a snapshot is due: its cost is compared with what a restart has to apply again.
func TestSnapshotsInProportion(t *testing.T) {
	o := defaultOptions()
	for name, c := range map[string]struct {
		since      appliedSince
		size, keys int64
		want       bool
	}{
		"nothing applied":                          {},
		"many entries":                             {appliedSince{entries: 50_000, bytes: 11 * mb}, 10 * mb, 100_000, true},
		"few entries":                              {appliedSince{entries: 49_999, bytes: 11 * mb}, 10 * mb, 100_000, false},
		"many entries in fewer bytes":              {appliedSince{entries: 50_000, bytes: 9 * mb}, 10 * mb, 100_000, false},
		"a tiny state, many entries":               {appliedSince{entries: 50_000, bytes: mb / 2}, mb, 100, true},
		"a tiny state, a moment ago":               {appliedSince{entries: 50_000, bytes: mb / 2, lately: true}, mb, 100, false},
		"many entries, a moment ago":               {appliedSince{entries: 50_000, bytes: 11 * mb, lately: true}, 10 * mb, 100_000, false},
		"a large state, many small entries":        {appliedSince{entries: 400_000, bytes: 80 * mb}, gb, 20_000_000, false},
		"a large state, entries of as many bytes":  {appliedSince{entries: 60_000, bytes: 301 * mb}, 300 * mb, 3_000_000, true},
		"a small state, many bytes":                {appliedSince{entries: 10, bytes: 257 * mb}, mb, 10, true},
		"a small state, fewer bytes":               {appliedSince{entries: 10, bytes: 255 * mb}, mb, 10, false},
		"a state of 300 MB, 299 MB of log":         {appliedSince{entries: 10, bytes: 299 * mb}, 300 * mb, 3_000_000, false},
		"a state of 300 MB, 301 MB of log":         {appliedSince{entries: 10, bytes: 301 * mb}, 300 * mb, 3_000_000, true},
		"a state of 8 GB, more log than is kept":   {appliedSince{entries: 10, bytes: 2*gb + 1}, 8 * gb, 20_000_000, true},
		"bodies that went to files":                {appliedSince{entries: 10, bytes: 400 * mb, files: 400 * mb}, 210 * mb, 100_000, false},
		"bodies that went to files, a small state": {appliedSince{entries: 10, bytes: 400 * mb, files: 400 * mb}, 190 * mb, 100_000, true},
		"many commands":                            {appliedSince{entries: 10, bytes: 20 * mb, commands: 1_000_001}, mb, 10, true},
		"many commands in few bytes":               {appliedSince{entries: 10, bytes: 20 * mb, commands: 1_000_001}, 21 * mb, 10, false},
		"many commands, more keys":                 {appliedSince{entries: 10, bytes: gb, commands: 1_000_001}, gb, 20_000_000, true},
		"few bytes that took long":                 {appliedSince{entries: 10, bytes: mb, took: 10*time.Second + 1}, gb, 10, true},
		"simple commands that took long":           {appliedSince{entries: 10, bytes: mb, commands: 1_000_000, took: 16 * time.Second}, gb, 10, false},
		"simple commands that took longer":         {appliedSince{entries: 10, bytes: mb, commands: 1_000_000, took: 17 * time.Second}, gb, 10, true},
		"commands that compute":                    {appliedSince{entries: 10, bytes: mb, commands: 500_000, took: 10*time.Second + 1}, gb, 10, true},
		"more entries than a restart reads":        {appliedSince{entries: 2_000_001, bytes: mb}, gb, 10, true},
		"a snapshot that itself takes long":        {appliedSince{entries: 10, bytes: mb, took: 19 * time.Second}, gb, 20_000_000, false},
		"a snapshot that takes as long as the log": {appliedSince{entries: 10, bytes: mb, took: 20*time.Second + 1}, gb, 20_000_000, true},
	} {
		if reason := o.due(c.since, c.size, c.keys); (reason != "") != c.want {
			t.Errorf("%s: due because of %q", name, reason)
		}
		if c.want && o.due(c.since, 0, 0) == "" {
			t.Errorf("%s: not due for an empty state, and therefore never asked about", name)
		}
	}
	o.SnapshotThreshold = math.MaxUint64
	if o.due(appliedSince{entries: 1 << 20}, 0, 0) != "" {
		t.Error("the greatest threshold overflows")
	}
}

// TestSnapshotsWriteNoMoreThanTheLog checks, for states and writes of many sizes, that snapshots write at most as many
// bytes as the log does, or their bound in time if they are tiny.
func TestSnapshotsWriteNoMoreThanTheLog(t *testing.T) {
	const (
		snapshots  = 20
		entryTakes = 20 * time.Microsecond // 50,000 entries a second
	)
	for _, size := range []int64{1 << 10, mb, mb + 1, 60 * mb, 255 * mb, gb, 2 * gb} {
		for _, entry := range []int64{30, 200, 10_000, mb} {
			for _, commands := range []int64{1, 10} {
				t.Run(fmt.Sprintf("%d bytes, entries of %d, %d commands", size, entry, commands), func(t *testing.T) {
					o, written, logged, now := defaultOptions(), int64(0), int64(0), time.Duration(0)
					for range snapshots {
						var since appliedSince
						for begun := now; ; {
							n := max(min(mb/entry, 1000), 1)
							since.entries, since.bytes, since.commands = since.entries+n, since.bytes+n*entry, since.commands+n*commands
							now += time.Duration(n) * entryTakes
							if since.lately = now-begun < entriesEvery; o.due(since, size, size/100) != "" {
								break
							}
						}
						written, logged = written+size, logged+since.bytes
						if since.replay() >= mostReplay {
							return // these are due for the sake of a restart
						}
					}
					most := logged
					if size <= tinySnapshot {
						most += size * int64(now/entriesEvery)
					}
					if written > most {
						t.Errorf("snapshots of %d bytes beside %d of log in %v", written, logged, now)
					}
				})
			}
		}
	}
}

// TestTrailingEntries checks how much of the log stays behind a snapshot.
func TestTrailingEntries(t *testing.T) {
	o := defaultOptions()
	for name, c := range map[string]struct {
		since appliedSince
		size  int64
		want  uint64
	}{
		"entries of 1 KiB, a small state": {appliedSince{entries: 100, bytes: 100 << 10}, mb, 64 << 10},
		"a state of 128 MiB":              {appliedSince{entries: 100, bytes: 100 << 10}, 128 * mb, 128 << 10},
		"a state of 8 GiB":                {appliedSince{entries: 100, bytes: 200 << 10}, 8 * gb, 128 << 10},
		"small entries":                   {appliedSince{entries: 100, bytes: 4000}, gb, 250_000},
		"large entries":                   {appliedSince{entries: 100, bytes: 100 * mb}, mb, 256},
		"entries without bytes":           {appliedSince{entries: 100}, mb, 250_000},
	} {
		if got := o.trailing(c.since, c.size); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// BenchmarkRestore reads a compressed snapshot of a million keys of 13 bytes with random values of 64, as a start does.
func BenchmarkRestore(b *testing.B) {
	const keys = 1_000_000
	a := adapter{m: fsm.NewMachine(), ceiling: &clock.Ceiling{}, restored: func() {}}
	fillMachine(b, a.m, keys)
	var snapshot bytes.Buffer
	if err := writeSnapshot(&snapshot, a.m.Fork(), nil); err != nil {
		b.Fatal(err)
	}
	size := snapshot.Len()
	for b.Loop() {
		fresh := adapter{m: fsm.NewMachine(), ceiling: &clock.Ceiling{}, restored: func() {}}
		if err := fresh.Restore(bytes.NewReader(snapshot.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*keys), "ns/key")
	b.ReportMetric(float64(size)/keys, "snapshot-B/key")
}

// fillMachine applies SETs of that many keys, a thousand to an entry.
func fillMachine(b *testing.B, m *fsm.Machine, keys int) {
	const rows = 1000
	r := rand.New(rand.NewPCG(1, 2))
	for at := 0; at < keys; at += rows {
		batch := fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.OriginHTTP, Mode: fsm.Pipeline}
		for i := range rows {
			value := make([]byte, 0, 80)
			for len(value) < 64 {
				value = fmt.Appendf(value, "%016x", r.Uint64())
			}
			batch.Rows = append(batch.Rows, [][]byte{[]byte("SET"), fmt.Appendf(nil, "k%012d", at+i), value})
		}
		e := &fsm.Entry{Stamp: 1000, Term: 1, Requests: []fsm.Request{{Code: fsm.Exec.Code, Body: fsm.Exec.Body(batch)}}}
		if _, err := m.Apply(uint64(at/rows+1), 1, e.Encode()); err != nil {
			b.Fatal(err)
		}
	}
}
