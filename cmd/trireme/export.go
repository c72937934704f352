package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/fsm/rdb"
	"github.com/trireme-dev/trireme/internal/plural"
)

// exportOptions are the flags of export.
type exportOptions struct {
	rdb, messages          string
	database, redis        string
	modules, force, asJSON bool
	connection             cli.Connection
}

func exportCommand() *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export {--rdb | --messages} FILE",
		Short: "Write a database as a Redis RDB file, or its messages as lines of JSON",
		Long: "Asks the node at TRIREME_URL (default " + defaultURL + ") with the token in TRIREME_ADMIN_TOKEN for the keys and functions\n" +
			"of a database, as of one moment. Writes continue meanwhile. The file gets its name only after all of it is on the disk.\n" +
			"JSON documents, arrays and vector indexes are left out unless --modules is given, and deadlines of hash fields unless\n" +
			"--redis is 7.4; the report counts them.\n" +
			"--messages writes the messages, dead letters, queues, schedules, URL groups and workflow runs of the database\n" +
			"instead, as lines of JSON for `trireme import --messages`. Signing keys and settings are not in that file.\n" +
			"Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no answer, 4 token refused, 5 no such database.",
		Example: "  trireme export --rdb dump.rdb\n  trireme export --rdb - --database shop | ssh redis1 'cat >/var/lib/redis/dump.rdb'\n  trireme export --messages messages.jsonl --database shop",
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return export(cmd, &o) },
	}
	f := cmd.Flags()
	o.connection.Flags(f)
	f.StringVar(&o.rdb, "rdb", "", "the `FILE` to write, or - for standard output")
	f.StringVar(&o.messages, "messages", "", "the `FILE` to write messages to, or - for standard output")
	f.StringVar(&o.database, "database", "default", "database to export")
	f.StringVar(&o.redis, "redis", "7.0", "oldest `VERSION` of Redis that can read the file: 7.0 or 7.4")
	f.BoolVar(&o.modules, "modules", false, "include JSON documents, for a Redis with the JSON module, and arrays and vector indexes, for Trireme")
	f.BoolVar(&o.force, "force", false, "replace an existing file")
	f.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	return cmd
}

// exported is the node's summary of an export.
type exported struct {
	Keys      int64 `json:"keys"`
	Functions int64 `json:"functions"`
	LeftOut   int64 `json:"leftOut"`
	Undated   int64 `json:"undated"`
	Bytes     int64 `json:"bytes"`
}

func export(cmd *cobra.Command, o *exportOptions) error {
	switch {
	case (o.rdb == "") == (o.messages == ""):
		return cli.Usagef("one of --rdb and --messages is needed: a file, or %s for standard output", standardStream)
	case o.messages != "" && anyChanged(cmd, "redis", "modules"):
		return cli.Usagef("--redis and --modules apply to RDB files only, not to --messages")
	case o.redis != "7.0" && o.redis != "7.4":
		return cli.Usagef("--redis must be 7.0 or 7.4, got %q", o.redis)
	}
	r, err := newRemote(&o.connection)
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupt(cmd)
	defer stop()
	if o.messages != "" {
		return r.exportMessages(ctx, cmd, o)
	}
	var out exported
	report, err := saved(cmd, o.rdb, o.force, func(w io.Writer) error {
		out, err = r.export(ctx, w, o)
		return err
	})
	if err != nil {
		return err
	}
	return out.print(report, o.asJSON)
}

// export writes a database to w and verifies the file on the way. If it is not whole the error says so.
func (r *remote) export(ctx context.Context, w io.Writer, o *exportOptions) (out exported, err error) {
	query := url.Values{"redis": {o.redis}, "modules": {strconv.FormatBool(o.modules)}}
	resp, err := r.stream(ctx, "GET", "/admin/databases/"+url.PathEscape(o.database)+"/export?"+query.Encode(), nil)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	if err := wholeRDB(io.TeeReader(resp.Body, w)); err != nil {
		return out, fmt.Errorf("the file is incomplete: %w", err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil { // the trailer follows the body
		return out, fmt.Errorf("the file is incomplete: %w", err)
	}
	if err := json.Unmarshal([]byte(resp.Trailer.Get("Trireme-Export")), &out); err != nil {
		return out, fmt.Errorf("%s sent no summary of the file: is it a Trireme node?", r.URL())
	}
	return out, nil
}

// maxNameOrValue bounds the names and values that the check reads, in bytes. Redis has no larger ones.
const maxNameOrValue = 512 << 20

// wholeRDB reads a file to its end, and checks its checksum.
func wholeRDB(r io.Reader) error {
	file, err := rdb.OpenFile(r, maxNameOrValue)
	for err == nil {
		_, err = file.Next()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// print writes the report.
func (e *exported) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(e)
	}
	fmt.Fprintf(w, "%s and %s exported, %s\n", plural.Of(e.Keys, "key"), plural.Of(e.Functions, "function library"), plural.Of(e.Bytes, "byte"))
	if e.LeftOut > 0 {
		fmt.Fprintf(w, "%d JSON documents, arrays and vector indexes left out (--modules includes them)\n", e.LeftOut)
	}
	if e.Undated > 0 {
		fmt.Fprintf(w, "%s exported without the deadlines of their fields (--redis 7.4 keeps them)\n", plural.Of(e.Undated, "hash"))
	}
	return nil
}
