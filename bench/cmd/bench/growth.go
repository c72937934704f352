package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"trireme/bench/internal/report"
)

// growth draws how the cost of a request grows, into a folder.
func growth(ctx context.Context, args []string) int {
	s := &settings{}
	fs := flag.NewFlagSet("bench growth", flag.ContinueOnError)
	s.define(fs)
	charts := fs.String("charts", "", "folder for the charts (default DIR/charts)")
	most := fs.Int("most-keys", 10_000_000, "leave out points with more keys")
	if err := fs.Parse(args); err != nil {
		return exitUsage
	}
	if err := s.check(); err != nil || fs.NArg() > 0 || *most < 1 {
		fmt.Fprintln(os.Stderr, "bench:", err, fs.Args())
		return exitUsage
	}
	if *charts == "" {
		*charts = filepath.Join(s.dir, "charts")
	}
	b, err := s.bench()
	if err != nil {
		return fail(err)
	}
	if err := os.MkdirAll(*charts, 0o755); err != nil {
		return fail(err)
	}
	if err := b.Growth(ctx, *most, func(name string, c report.Chart) error { return draw(filepath.Join(*charts, name+".svg"), c) }); err != nil {
		return fail(err)
	}
	fmt.Println("charts:", *charts)
	return 0
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
			fmt.Printf("  %s %s", report.Figure(p.Size, ""), report.Figure(p.Figure, "us"))
		}
		fmt.Println()
	}
	if err := c.SVG(f); err != nil {
		return err
	}
	return f.Close()
}
