package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/report"
	"github.com/trireme-dev/trireme/bench/internal/scenario"
)

// growth measures how the cost of a request grows, and draws charts into a folder.
func growth(ctx context.Context, args []string) int {
	s := &settings{}
	flags := flag.NewFlagSet("bench growth", flag.ContinueOnError)
	s.define(flags)
	charts := flags.String("charts", "", "folder for the charts (default DIR/charts)")
	most := flags.Int("most-keys", 10_000_000, "leave out points with more data than so many keys with ordinary values")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if s.out == "" {
		s.out = filepath.Join(s.dir, "growth.json")
	}
	if err := s.check(); err != nil || flags.NArg() > 0 || *most < 1 {
		fmt.Fprintln(os.Stderr, "bench:", err, flags.Args())
		return exitUsage
	}
	if *charts == "" {
		*charts = filepath.Join(s.dir, "charts")
	}
	study, err := s.study()
	if err != nil {
		return fail(err)
	}
	b, err := s.bench()
	if err != nil {
		return fail(err)
	}
	err = b.Growth(ctx, *most, study, func() error { return study.Save(s.out) })
	if err := errors.Join(err, drawAll(*charts, study)); err != nil {
		return fail(err)
	}
	return 0
}

// study is a new one, or with -resume the one that an interrupted run left.
func (s *settings) study() (*report.Study, error) {
	now := &report.Study{Started: time.Now(), Machine: report.ThisMachine(), Pairs: s.pairs, Seconds: s.seconds.Seconds()}
	if !s.resume {
		return now, nil
	}
	old, err := report.LoadStudy(s.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return now, nil
	case err != nil:
		return nil, err
	case old.Pairs != now.Pairs || old.Seconds != now.Seconds:
		return nil, fmt.Errorf("%s has %d turns of %g s: resume with the same, or start over", s.out, old.Pairs, old.Seconds)
	}
	return old, nil
}

// drawAll writes the study's charts into dir.
func drawAll(dir string, study *report.Study) error {
	charts := scenario.GrowthCharts(study)
	if len(charts) == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(charts)) {
		if err := draw(filepath.Join(dir, name+".svg"), charts[name]); err != nil {
			return err
		}
	}
	fmt.Println("charts:", dir)
	return nil
}

// draw writes a chart and prints its figures.
func draw(path string, c report.Chart) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Printf("%s (%s)\n", c.Title, c.Along)
	for _, l := range c.Lines {
		fmt.Printf("  %s:", l.Name)
		for _, p := range l.Points {
			fmt.Printf("  %s: %s", c.Size(p.Size), report.Figure(p.Figure, "us"))
		}
		fmt.Println()
	}
	if err := c.SVG(f); err != nil {
		return err
	}
	return f.Close()
}
