package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
	"github.com/trireme-dev/trireme/bench/internal/scenario"
)

// parse reads the flags of a measuring subcommand.
func parse(name string, args []string) (*settings, error) {
	s := &settings{}
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	s.define(fs)
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("%q is not understood", fs.Args())
	}
	return s, s.check()
}

// rows measures the rows of the plan.
func rows(ctx context.Context, args []string) int {
	s, err := parse("bench", args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return exitUsage
	}
	if s.markdown {
		return printMarkdown(s.out)
	}
	want := s.wanted()
	if s.resume {
		want = unfinished(want, s.out)
	}
	return measure(ctx, s, s.out, args, func(b *scenario.Bench, put func([]*report.Row)) error { return b.Run(ctx, want, put) })
}

// unfinished returns the rows of want without a figure in the saved report.
func unfinished(want []string, out string) []string {
	old, err := report.Load(out)
	if err != nil {
		return want
	}
	return slices.DeleteFunc(want, old.Done)
}

// accept measures one acceptance run, into a file of its own.
func accept(ctx context.Context, name string, args []string) int {
	s, err := parse("bench "+name, args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return exitUsage
	}
	out := filepath.Join(s.dir, name+".json")
	return measure(ctx, s, out, args, func(b *scenario.Bench, put func([]*report.Row)) error {
		switch name {
		case "messages":
			put(b.Messages(ctx))
		case "workflows":
			put(b.Workflows(ctx))
		case "beside":
			b.Beside(ctx, put)
		case "memory":
			b.Memory(ctx, put)
		case "traces":
			put(b.Traces(ctx))
		case "steady":
			put([]*report.Row{b.Steady(ctx)})
		default:
			put([]*report.Row{b.Stall(ctx)})
		}
		return ctx.Err()
	})
}

// measure runs work, saving the report after each scenario, and prints the
// table. The exit code judges the rows of this run alone, or with -resume all.
func measure(ctx context.Context, s *settings, out string, args []string, work func(*scenario.Bench, func([]*report.Row)) error) int {
	b, err := s.bench()
	if err != nil {
		return fail(err)
	}
	if s.install {
		peer.Install(ctx, b.Log)
	}
	now := &report.Report{Started: time.Now().UTC(), Machine: report.ThisMachine(), Servers: b.Servers, Flags: args}
	saved, judged := now, now
	if s.merge || s.resume {
		saved = merged(now, out)
	}
	if s.resume {
		judged = saved
	}
	var failed error
	err = work(b, func(rows []*report.Row) {
		for _, r := range rows {
			now.Put(r)
			saved.Put(r)
		}
		if err := saved.Save(out); err != nil {
			failed = err
		}
	})
	if e := judged.Text(os.Stdout); failed == nil {
		failed = e
	}
	if err != nil || failed != nil {
		return fail(firstError(err, failed))
	}
	fmt.Printf("results: %s; logs: %s\n", out, b.Env.Logs)
	return judged.Exit()
}

// merged is the report that was saved before, if any, under now's heading.
func merged(now *report.Report, out string) *report.Report {
	all := *now
	if old, err := report.Load(out); err == nil {
		all.Rows = old.Rows
		for k, v := range old.Servers {
			if _, ok := all.Servers[k]; !ok {
				all.Servers[k] = v
			}
		}
	}
	return &all
}

// firstError is the first that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// printMarkdown prints saved results.
func printMarkdown(path string) int {
	r, err := report.Load(path)
	if err == nil {
		err = r.Markdown(os.Stdout)
	}
	if err != nil {
		return fail(err)
	}
	return 0
}
