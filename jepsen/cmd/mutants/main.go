package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/jepsen/mutant"
)

// limit bounds the search for one fault.
const limit = 90 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	table := flag.String("table", "", "file for the table, beside printing it")
	only := flag.String("only", "", "the faults to look for, separated by commas; all if empty")
	first := flag.Uint64("seed", 1, "the first seed")
	flag.Parse()
	if err := run(ctx, *table, *only, *first); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run looks for the faults and writes the table. The error says that it could not, or how many were not found.
func run(ctx context.Context, table, only string, first uint64) error {
	found, err := perform(ctx, only, first)
	if err != nil {
		return err
	}
	text := document(found)
	fmt.Print(text)
	if table != "" {
		if err := os.WriteFile(table, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if n := missed(found); n > 0 {
		return fmt.Errorf("%d of %d faults were not found", n, len(found))
	}
	return nil
}

// perform looks for the faults in turn, each from the first seed on.
func perform(ctx context.Context, only string, first uint64) (all []verdict, err error) {
	b := &builds{first: first}
	if b.dir, err = os.MkdirTemp("", "trireme-mutants-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.dir)
	wanted, err := chosen(only)
	if err != nil {
		return nil, err
	}
	for _, f := range wanted {
		v := verdict{fault: f}
		if w, real := workloads[f.Name]; real {
			err = b.look(ctx, w, &v)
		} else if t, is := tests[f.Name]; is {
			err = b.tested(ctx, t, &v)
		} else if e, real := experiments[f.Name]; real {
			err = b.try(ctx, e, &v)
		} else {
			err = b.simulated(ctx, &v)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return all, fmt.Errorf("%s: %w", f.Name, err)
		}
		fmt.Fprintln(os.Stderr, v.line())
		all = append(all, v)
	}
	return all, nil
}

// chosen are the faults of a list of names; all if it is empty.
func chosen(only string) (faults []mutant.Fault, err error) {
	if only == "" {
		return mutant.All(), nil
	}
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(mutant.All(), func(f mutant.Fault) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no fault is called %q: package mutant has their names", name)
		}
		faults = append(faults, mutant.All()[i])
	}
	return faults, nil
}
