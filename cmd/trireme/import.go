package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cli/importer"
	"github.com/trireme-dev/trireme/internal/plural"
)

// importOptions are the flags of import.
type importOptions struct {
	importer.Options
	messages      string
	connection    cli.Connection
	asJSON, quiet bool
	// tokenFrom is the variable that Token is of, otherToken one that is set too and was passed over.
	tokenFrom, otherToken string
}

// rdbFlags are the flags that apply to RDB files only.
var rdbFlags = []string{"from", "replace", "skip", "workers", "max-request", "patience"}

func importCommand() *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import {FILE | --messages FILE}",
		Short: "Import a Redis RDB file, or messages that were exported",
		Long: "Reads an RDB file of Redis 7 or 8 (- reads standard input) and sends its keys to the node at TRIREME_URL\n" +
			"(default " + defaultURL + "), with the token of the database in TRIREME_TOKEN, or that in TRIREME_ADMIN_TOKEN.\n" +
			"--messages imports a file of `trireme export --messages` into a database without messages, all of it or nothing. It\n" +
			"needs the token in TRIREME_ADMIN_TOKEN.\n" +
			"Each key is imported completely or not at all: an import that was stopped can be repeated, or resumed with --skip.\n" +
			"Exit codes: 0 all imported, 1 failed or not all imported, 2 wrong usage; with --messages also 3 no answer, 4 token\n" +
			"refused, 5 no such database.",
		Example: "  trireme import dump.rdb\n  trireme import --messages messages.jsonl --database shop",
		Args:    cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case (len(args) == 0) == (o.messages == ""):
				return cli.Usagef("one of FILE and --messages FILE is needed, or %s for standard input", standardStream)
			case o.messages != "" && anyChanged(cmd, rdbFlags...):
				return cli.Usagef("--messages can be combined with --database, --json and --quiet only")
			case o.messages != "":
				return importMessages(cmd, &o)
			}
			return importFile(cmd, args[0], &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.messages, "messages", "", "import the messages and workflow runs of this `FILE`")
	f.StringVar(&o.Database, "database", "", "database that receives the keys (default: the one named default)")
	f.Uint64Var(&o.From, "from", 0, "number of the source database in the file")
	f.BoolVar(&o.Replace, "replace", false, "overwrite existing keys; without it they are kept")
	f.Int64Var(&o.Skip, "skip", 0, "number of keys to skip first, to resume an import that was stopped")
	f.IntVar(&o.Workers, "workers", 0, "maximum number of concurrent requests (default 4)")
	f.IntVar(&o.MaxRequest, "max-request", 0, "maximum size of a request in bytes; larger values are sent in parts (default 8388608)")
	f.DurationVar(&o.Patience, "patience", time.Minute, "how long an unanswered request is retried")
	f.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	f.BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

// importFile imports a file and prints the report.
func importFile(cmd *cobra.Command, path string, o *importOptions) error {
	if o.Skip < 0 || o.Workers < 0 || o.MaxRequest < 0 || o.Patience <= 0 {
		return cli.Usagef("--skip, --workers and --max-request must not be negative, and --patience must be positive")
	}
	if err := o.target(); err != nil {
		return err
	}
	file, size, err := openImport(cmd.InOrStdin(), path)
	if err != nil {
		return err
	}
	defer file.Close()
	if !o.quiet {
		o.Watch, o.Every = showProgress(cmd.ErrOrStderr(), size)
	}
	ctx, stop := untilInterrupt(cmd)
	defer stop()
	report, err := importer.Run(ctx, file, o.Options)
	if !o.quiet {
		fmt.Fprintln(cmd.ErrOrStderr())
	}
	if printed := o.print(cmd.OutOrStdout(), report); printed != nil && err == nil {
		err = printed
	}
	switch failed := report.Failed(); {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("stopped: %s", howToContinue(report))
	case err != nil:
		return fmt.Errorf("%w%s: %s", err, o.whichToken(err), howToContinue(report))
	case failed > 0:
		return fmt.Errorf("not imported: %d of the file's keys and libraries", failed)
	}
	return nil
}

// whichToken names the token that was refused, and the other one.
func (o *importOptions) whichToken(err error) string {
	switch {
	case !errors.Is(err, importer.ErrRefused):
		return ""
	case o.otherToken != "":
		return fmt.Sprintf(" (with the token of %s; %s is set too: unset %s to use that)", o.tokenFrom, o.otherToken, o.tokenFrom)
	}
	return fmt.Sprintf(" (with the token of %s)", o.tokenFrom)
}

// howToContinue describes the result of an unfinished import and how to continue it.
func howToContinue(r *importer.Report) string {
	return fmt.Sprintf("%s done from the beginning of the file, and each other key is in the database completely or not at all; resume with --skip %d, or start again without it", plural.Of(r.Done, "key"), r.Done)
}

// target reads the node's URL and the token from the environment.
func (o *importOptions) target() error {
	if o.URL = os.Getenv("TRIREME_URL"); o.URL == "" {
		o.URL = defaultURL
	}
	if u, err := url.Parse(o.URL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return cli.Usagef("TRIREME_URL must look like %s, got %q", defaultURL, o.URL)
	}
	for _, name := range []string{"TRIREME_TOKEN", "TRIREME_ADMIN_TOKEN"} {
		token, err := secretVariable(name)
		switch {
		case err != nil:
			return err
		case token != "" && o.Token == "":
			o.Token, o.tokenFrom = token, name
		case token != "":
			o.otherToken = name
		}
	}
	if o.Token != "" {
		return nil
	}
	return cli.Usagef("neither TRIREME_TOKEN nor TRIREME_ADMIN_TOKEN is set: set the one that may write to %s", o.URL)
}

// openImport opens the file and returns its size, 0 if unknown.
func openImport(stdin io.Reader, path string) (io.ReadCloser, int64, error) {
	if path == "-" {
		return io.NopCloser(stdin), 0, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, cli.Usagef("can't open the file: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return file, 0, nil
	}
	return file, info.Size(), nil
}

// The pauses between two lines of progress: on a terminal the line is written over.
const (
	terminalPause = 200 * time.Millisecond
	logPause      = 10 * time.Second
)

// showProgress writes lines of progress.
func showProgress(w io.Writer, size int64) (show func(importer.Progress), every time.Duration) {
	format, every := "%s\n", logPause
	if cli.IsTerminal(w) {
		format, every = "\r%-78s", terminalPause
	}
	return func(p importer.Progress) { fmt.Fprintf(w, format, p.Line(size)) }, every
}

// print writes the report.
func (o *importOptions) print(w io.Writer, r *importer.Report) error {
	if !o.asJSON {
		return r.Write(w)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
