package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/plural"
)

// standardStream is the name of standard output, or input.
const standardStream = "-"

func backupCommand() *cobra.Command {
	var out string
	var asJSON, stale, force bool
	var connection cli.Connection
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a backup of a running cluster",
		Long: "Asks the node at TRIREME_URL (default " + defaultURL + ") with the token in TRIREME_ADMIN_TOKEN for a backup of\n" +
			"everything: all databases, messages, workflow runs, users, settings and tokens, as of one moment. Writes continue\n" +
			"meanwhile. The file gets its name only after all of it is on the disk; --force replaces an existing file.\n" +
			"Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no answer, 4 token refused.",
		Example: "  trireme backup monday.backup\n  trireme backup - | age -r age1… >monday.backup.age",
		Args:    cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && out != "":
				return cli.Usagef("both a file and --out are given: give one of them")
			case len(args) > 0:
				out = args[0]
			case out == "":
				return cli.Usagef("a file is needed, or %s for standard output", standardStream)
			}
			r, err := newRemote(&connection)
			if err != nil {
				return err
			}
			ctx, stop := untilInterrupt(cmd)
			defer stop()
			var b fsm.Backup
			report, err := saved(cmd, out, force, func(w io.Writer) error {
				b, err = r.backup(ctx, w, stale)
				return err
			})
			if err != nil {
				return err
			}
			return printBackup(report, b, nil, asJSON)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write, instead of the argument")
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	connection.Flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was written as JSON")
	cmd.Flags().BoolVar(&stale, "stale", false, "write this node's own state without asking the others; for clusters that have lost their majority")
	cmd.AddCommand(verifyCommand(), drillCommand(), listBackupsCommand())
	return cmd
}

// backup writes a backup to w and verifies it on the way. If it is not whole the error says so.
func (r *remote) backup(ctx context.Context, w io.Writer, stale bool) (b fsm.Backup, err error) {
	resp, err := r.stream(ctx, "GET", "/admin/backup?stale="+strconv.FormatBool(stale), nil)
	if err != nil {
		return b, err
	}
	defer resp.Body.Close()
	b, err = fsm.CheckBackup(io.TeeReader(resp.Body, w))
	if err != nil {
		return b, fmt.Errorf("the backup is incomplete: %w", err)
	}
	return b, nil
}

// syncFolder makes a new name in a folder last.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the folder of the backup: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync the folder of the backup: %w", err)
	}
	return nil
}

func verifyCommand() *cobra.Command {
	var asJSON, discard bool
	var keyFile, all string
	cmd := &cobra.Command{
		Use:   "verify {FILE | --all LOCATION}",
		Short: "Verify a backup and print its contents",
		Long: "Verifies a backup without a node: every checksum, every section and the digest of the state. FILE may be - for standard\n" +
			"input, or s3://BUCKET/PREFIX/NAME. Needs as much memory as the state, and for an incremental backup room for its\n" +
			"bodies in TMPDIR. --all reads every file of a folder or bucket instead, without a key and without much memory, and\n" +
			"names the backups that need what is damaged; --discard removes damaged packs, so that the next backup writes again\n" +
			"what it needs of them.\n" +
			"Exit codes: 0 whole, 1 damaged or of a newer version, 2 wrong usage.",
		Example: "  trireme backup verify monday.backup\n  trireme backup verify s3://backups/trireme/monday.backup.age --key-file backup.key\n" +
			"  trireme backup verify --all s3://backups/trireme",
		Args: cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case (len(args) == 0) == (all == ""):
				return cli.Usagef("verify needs a FILE or --all LOCATION")
			case all != "":
				return verifyAll(cmd, all, keyFile, discard, asJSON)
			case discard:
				return cli.Usagef("--discard goes with --all")
			}
			file, err := newOpener(cmd, keyFile, "").open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			limitMemory(slog.New(slog.DiscardHandler))
			b, c, err := fsm.VerifyBackup(file, cluster.BackupRoom(), file.find)
			if err != nil {
				return err
			}
			return printBackup(cmd.OutOrStdout(), b, &c, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&all, "all", "", "`LOCATION` of which every file is read: a folder or s3://BUCKET/PREFIX")
	cmd.Flags().BoolVar(&discard, "discard", false, "with --all, remove damaged packs")
	keyFileFlag(cmd, &keyFile)
	return cmd
}

// keyFileFlag declares --key-file, the keys that open an encrypted backup.
func keyFileFlag(cmd *cobra.Command, keyFile *string) {
	cmd.Flags().StringVar(keyFile, "key-file", "", "`FILE` of age-keygen that opens an encrypted backup")
}

// backupView is a backup as --json prints it.
type backupView struct {
	Cluster string `json:"cluster"`
	Version string `json:"version"`
	Level   uint64 `json:"level"`
	Index   uint64 `json:"index"`
	Time    string `json:"time"`
	Bytes   int64  `json:"bytes"`
	Digest  string `json:"digest"`
	Sum     string `json:"sum"`
	// Contents are there after a look at everything.
	Contents *contentsView `json:"contents,omitempty"`
}

// databaseView is a database of a backup.
type databaseView struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Keys  int    `json:"keys"`
	Bytes int64  `json:"bytes"`
	Users int    `json:"users"`
}

// contentsView counts the contents of a backup.
type contentsView struct {
	Databases []databaseView `json:"databases"`
	Libraries int            `json:"libraries"`
	Messages  int            `json:"messages"`
	Queues    int            `json:"queues"`
	Schedules int            `json:"schedules"`
	Groups    int            `json:"groups"`
	Dead      int            `json:"deadLetters"`
	Runs      int            `json:"runs"`
	DeadRuns  int            `json:"deadRuns"`
}

func viewBackup(b fsm.Backup, c *fsm.Contents) backupView {
	v := backupView{
		Cluster: b.ClusterID, Version: b.Version, Level: uint64(b.Level), Index: b.Index, Bytes: b.Bytes, Digest: b.Digest, Sum: b.Sum,
		Time: time.UnixMilli(b.Clock).UTC().Format(time.RFC3339),
	}
	if c == nil {
		return v
	}
	v.Contents = &contentsView{
		Libraries: c.Libraries, Messages: c.Messages.Messages, Queues: c.Messages.Queues, Schedules: c.Messages.Schedules,
		Groups: c.Messages.Groups, Dead: c.Messages.Dead, Runs: c.Workflows.Runs, DeadRuns: c.Workflows.Dead,
	}
	for _, d := range c.Databases {
		v.Contents.Databases = append(v.Contents.Databases, databaseView{Name: d.Name, Path: "/db/" + d.Name, Keys: d.Keys, Bytes: d.Bytes, Users: d.Users})
	}
	return v
}

// printBackup prints the description of a backup, and of its contents unless c is nil.
func printBackup(out io.Writer, b fsm.Backup, c *fsm.Contents, asJSON bool) error {
	v := viewBackup(b, c)
	if asJSON {
		return json.NewEncoder(out).Encode(v)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "CLUSTER\t%s\nTIME\t%s\nINDEX\t%d\nVERSION\t%s, feature level %d\nBYTES\t%d\nDIGEST\t%s\nSHA256\t%s\n",
		v.Cluster, v.Time, v.Index, v.Version, v.Level, v.Bytes, v.Digest, v.Sum)
	if c := v.Contents; c != nil {
		for _, d := range c.Databases {
			fmt.Fprintf(w, "DATABASE\t%s: %s, %s, %s\n", d.Name, plural.Of(d.Keys, "key"), plural.Of(d.Bytes, "byte"), plural.Of(d.Users, "user"))
		}
		fmt.Fprintf(w, "MESSAGES\t%d, %s, %s, %s, %s\n", c.Messages, plural.Of(c.Dead, "dead letter"), plural.Of(c.Queues, "queue"), plural.Of(c.Schedules, "schedule"), plural.Of(c.Groups, "URL group"))
		fmt.Fprintf(w, "WORKFLOWS\t%s, %s\nFUNCTIONS\t%s\n", plural.Of(c.Runs, "run"), plural.Of(c.DeadRuns, "dead letter"), plural.Of(c.Libraries, "library"))
	}
	return w.Flush()
}
