package fsm_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"trireme/fsm"
	"trireme/fsm/acl"
	"trireme/fsm/command"
)

// applied is a machine that entries are applied to by hand.
type applied struct {
	*fsm.Machine
	index uint64
}

func (m *applied) write(t testing.TB, rows ...[][]byte) {
	t.Helper()
	m.index++
	body := fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Mode: fsm.Pipeline, Rows: rows})
	e := fsm.Entry{Stamp: int64(m.index), Term: 1, Requests: []fsm.Request{{Code: fsm.Exec.Code, Body: body}}}
	if _, err := m.Apply(m.index, 1, e.Encode()); err != nil {
		t.Fatal(err)
	}
}

func (m *applied) fill(t testing.TB, keys int) {
	for from := 0; from < keys; from += 10_000 {
		var rows [][][]byte
		for i := from; i < min(keys, from+10_000); i++ {
			rows = append(rows, set(fmt.Sprint("key", i), "value"))
		}
		m.write(t, rows...)
	}
}

func set(key, value string) [][]byte { return [][]byte{[]byte("SET"), []byte(key), []byte(value)} }

func get(v *fsm.View, words ...string) string {
	var argv [][]byte
	for _, w := range words {
		argv = append(argv, []byte(w))
	}
	return v.Exec(acl.Trusted(acl.DefaultName), command.Inside, argv).Text()
}

// TestLongReadsSeeOneStateWhileWritesGoOn writes in the middle of a long read.
func TestLongReadsSeeOneStateWhileWritesGoOn(t *testing.T) {
	m := &applied{Machine: fsm.NewMachine()}
	m.write(t, set("k", "before"))
	m.ViewFork(0, [16]byte{}, func(v *fsm.View) {
		m.write(t, set("k", "after")) // would wait for ever for the end of a View
		if got := get(v, "GET", "k"); got != "before" || v.Index() != 1 {
			t.Errorf("the fork at %d says %q", v.Index(), got)
		}
	})
	m.View(0, [16]byte{}, func(v *fsm.View) {
		if got := get(v, "GET", "k"); got != "after" {
			t.Errorf("the state says %q", got)
		}
	})
}

// BenchmarkWritesBesideKeys times single writes while KEYS runs over and over on a
// million keys, on the state itself and on forks.
func BenchmarkWritesBesideKeys(b *testing.B) {
	m := &applied{Machine: fsm.NewMachine()}
	m.fill(b, 1_000_000)
	for _, how := range []struct {
		name string
		show func(int64, [16]byte, func(*fsm.View))
	}{{"view", m.View}, {"fork", m.ViewFork}} {
		b.Run(how.name, func(b *testing.B) {
			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() { // ends with the benchmark
				for {
					select {
					case <-stop:
						return
					default:
						how.show(0, [16]byte{}, func(v *fsm.View) { get(v, "KEYS", "none*") })
					}
				}
			})
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				m.write(b, set(fmt.Sprint("key", len(took)*7919%1_000_000), "new"))
				took = append(took, time.Since(began))
				time.Sleep(100 * time.Microsecond)
			}
			close(stop)
			wg.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
		})
	}
}
