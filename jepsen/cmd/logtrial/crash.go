package main

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// kill: kill -9 at a random moment under load, three times in a row on each
// node, so that a start after an unclean end is killed too.
func (r *rig) kill(more []string) *tally {
	profile := "small"
	if len(more) == 2 {
		profile = more[1]
	}
	t, acked, k := newTally(), 0, 0
	for ; t.total < r.n; k++ {
		node := r.path("node")
		must(os.RemoveAll(node))
		m := newModel()
		for cycle := 0; cycle < 3 && t.total < r.n; cycle++ {
			if !r.killOnce(t, m, node, profile, more) {
				break
			}
			acked += m.acked
			m.acked = 0
		}
	}
	t.note("%d acknowledged operations", acked)
	return t
}

// killOnce says whether the node may be killed again.
func (r *rig) killOnce(t *tally, m *model, node, profile string, more []string) bool {
	args := append([]string{"child-write", "-dir", node, "-seed", fmt.Sprint(r.rng.Int63()), "-head", "-tail"}, more...)
	c := self(args...)
	stopAt, wait := r.rng.Intn(120), time.Duration(r.rng.Intn(6000))*time.Microsecond
	lines, done := 0, make(chan struct{})
	follow(c, m, func(string) {
		if lines++; lines == 1+stopAt {
			go func() {
				defer close(done)
				time.Sleep(wait) // the random moment itself
				c.Process.Signal(syscall.SIGKILL)
			}()
		}
	})
	if lines <= stopAt {
		t.add(stuck, m.end)
		return false
	}
	<-done
	acked := m.acked
	v, detail, s := r.judge(m, node, profile)
	t.add(v, detail)
	if v != unharmed {
		return false
	}
	m.adopt(s)
	m.acked = acked
	return true
}

// killAt: kill -9 at the n-th system call that touches the disk, from the first
// creation of the files on; then the node must go on.
func (r *rig) killAt() *tally {
	const calls = "pwrite64,pwritev,fsync,fdatasync,openat,renameat,renameat2,unlinkat,ftruncate,fallocate"
	t := newTally()
	for k := range r.n {
		node := r.path("node")
		must(os.RemoveAll(node))
		m, more := newModel(), []string{"-head", "-tail"}
		if k%3 == 0 { // an existing node
			m = r.build(node, 60, "-batch", "16", "-head")
			m.acked, m.end = 0, ""
			more = append(more, "-segment", "8192")
		}
		when := 1 + r.rng.Intn(60)
		if k%2 == 1 {
			when = 30 + r.rng.Intn(200)
		}
		args := append([]string{"child-write", "-dir", node, "-seed", fmt.Sprint(k + 1), "-ops", "200", "-batch", "6"}, more...)
		follow(traced(calls, fmt.Sprintf("signal=KILL:when=%d", when), args...), m, nil)
		v, detail, _ := r.judge(m, node, "small")
		if v == unharmed && !r.goesOn(node) {
			v, detail = stuck, "after a kill at call "+fmt.Sprint(when)
		}
		t.add(v, detail)
	}
	return t
}

// inject: one failing system call. A full disk must be survived in the process;
// a failed sync, or a failed write of another kind, must end it.
func (r *rig) inject(calls, errno string) *tally {
	t, hit := newTally(), 0
	for k := range r.n {
		node := r.path("node")
		must(os.RemoveAll(node))
		m := newModel()
		follow(traced(calls, fmt.Sprintf("error=%s:when=%d", errno, 12+r.rng.Intn(90)),
			"child-write", "-dir", node, "-seed", fmt.Sprint(k+1), "-ops", "60", "-batch", "6", "-head", "-tail", "-reserve", "262144"), m, nil)
		if m.end != "Z" || m.errors > 0 {
			hit++
		}
		v, detail, _ := r.judge(m, node, "small")
		switch {
		case v != unharmed:
		case m.end == "Z" && errno == "EIO" && m.errors > 0:
			v, detail = wentOn, "an error was reported, and the process went on"
		case m.end != "Z" && errno == "ENOSPC":
			v, detail = stuck, m.end
		case !r.goesOn(node):
			v, detail = stuck, "after the restart; before: "+m.end
		}
		t.add(v, detail)
	}
	t.note("the fault was seen in %d", hit)
	return t
}
