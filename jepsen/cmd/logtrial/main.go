package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
)

// rig holds the parameters that every experiment receives.
type rig struct {
	dir      string // work directory
	n        int    // trials
	ops      int    // operations that make the node to be broken
	rng      *rand.Rand
	children bool // look at broken nodes in a process of its own
}

// experiment is one line of the report.
type experiment struct {
	name string
	n    int                 // trials at full length
	can  func() error        // why it cannot run here; nil: it always can
	run  func(r *rig) *tally // does r.n trials
}

func experiments() []experiment {
	return []experiment{
		{"flip-live", 1000, nil, func(r *rig) *tally { return r.flips(livePages) }},
		{"flip-any", 1000, nil, func(r *rig) *tally { return r.flips(anywhere) }},
		{"flip-meta", 800, nil, func(r *rig) *tally { return r.flips(metaRecords) }},
		{"flip-mark", 200, nil, func(r *rig) *tally { return r.flips(markRecords) }},
		{"flip-log", 1000, nil, func(r *rig) *tally { return r.flips(written) }},
		{"flip-log-of-killed", 1000, nil, func(r *rig) *tally { return r.flips(written, "-abandon") }},
		{"torn-log", 300, nil, (*rig).tornLog},
		{"cut-anywhere", 200, nil, func(r *rig) *tally { return r.torn(cutAnywhere) }},
		{"cut-end", 200, nil, func(r *rig) *tally { return r.torn(cutEnd) }},
		{"zero-end", 200, nil, func(r *rig) *tally { return r.torn(zeroEnd) }},
		{"misplaced-page", 200, nil, func(r *rig) *tally { return r.torn(misplacedPage) }},
		{"zero-live-page", 200, nil, func(r *rig) *tally { return r.torn(zeroLivePage) }},
		{"snapshot-damage", 400, nil, (*rig).snapshots},
		{"kill", 300, nil, func(r *rig) *tally { return r.kill(nil) }},
		{"kill-tiny-segments", 100, nil, func(r *rig) *tally { return r.kill([]string{"-segment", "8192"}) }},
		{"kill-large-entries", 60, nil, func(r *rig) *tally { return r.kill([]string{"-profile", "mixed"}) }},
		{"kill-at-system-call", 300, needStrace, (*rig).killAt},
		{"write-EIO", 120, needStrace, func(r *rig) *tally { return r.inject("pwrite64,pwritev", "EIO") }},
		{"write-ENOSPC", 120, needStrace, func(r *rig) *tally { return r.inject("pwrite64,pwritev", "ENOSPC") }},
		{"sync-EIO", 120, needStrace, func(r *rig) *tally { return r.inject("fsync,fdatasync", "EIO") }},
		{"full-disk", 20, needRoot, (*rig).full},
		{"power-cut", 90, needRoot, (*rig).power},
	}
}

func main() {
	if len(os.Args) > 1 && runChild(os.Args[1], os.Args[2:]) {
		return
	}
	only := flag.String("only", "", "comma-separated experiments; all without it")
	scale := flag.Float64("scale", 1, "share of the full number of trials")
	base := flag.String("dir", "", "where to work; the system's temporary directory without it")
	seed := flag.Int64("seed", 1, "of the random choices")
	state := flag.String("state", "", "file of finished experiments, so that a run can be resumed")
	list := flag.Bool("list", false, "name the experiments")
	flag.Parse()
	if *list {
		for _, e := range experiments() {
			fmt.Println(e.name)
		}
		return
	}
	ok, err := run(*only, *scale, *base, *seed, *state)
	if err != nil {
		fmt.Fprintln(os.Stderr, "trial:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

func run(only string, scale float64, base string, seed int64, state string) (ok bool, err error) {
	done, err := readState(state)
	if err != nil {
		return false, err
	}
	ok = true
	for _, e := range experiments() {
		if only != "" && !strings.Contains(","+only+",", ","+e.name+",") {
			continue
		}
		if line := done[e.name]; line != "" {
			fmt.Println(line)
			continue
		}
		if e.can != nil {
			if err := e.can(); err != nil {
				fmt.Printf("%s: skipped: %v\n", e.name, err)
				continue
			}
		}
		r := &rig{n: max(1, int(float64(e.n)*scale)), ops: 320, rng: rand.New(rand.NewSource(seed)), children: true}
		t, err := one(e, r, base)
		if err != nil {
			return false, fmt.Errorf("%s: %w", e.name, err)
		}
		line := t.line(e.name)
		fmt.Println(line)
		if t.bad() > 0 {
			ok = false
		} else if err := appendState(state, line); err != nil {
			return false, err
		}
	}
	return ok, nil
}

// one runs an experiment in a directory of its own. Errors of the rig itself
// travel as panics from deep inside and end here.
func one(e experiment, r *rig, base string) (t *tally, err error) {
	if r.dir, err = os.MkdirTemp(base, "logstore-trial-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.dir)) }()
	defer func() {
		if p := recover(); p != nil {
			broken, ok := p.(rigError)
			if !ok {
				panic(p)
			}
			err = broken.error
		}
	}()
	return e.run(r), nil
}

// rigError is a failure of the rig, not of the store under trial.
type rigError struct{ error }

func must(err error) {
	if err != nil {
		panic(rigError{err})
	}
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

func readState(path string) (map[string]string, error) {
	done := map[string]string{}
	if path == "" {
		return done, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return done, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		name, _, _ := strings.Cut(sc.Text(), ":")
		done[name] = sc.Text()
	}
	return done, nil
}

func appendState(path, line string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}
