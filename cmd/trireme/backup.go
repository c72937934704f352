package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
)

// toStandard is the name of standard output, or input.
const toStandard = "-"

func backupCommand() *cobra.Command {
	var out string
	var asJSON, stale bool
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Write a backup of a running cluster",
		Long: "Asks the node at TRIREME_URL (default " + defaultURL + ") with the token in TRIREME_ADMIN_TOKEN for a backup of\n" +
			"everything: all databases, messages, workflow runs, users, settings and tokens, as of one moment. Writes continue\n" +
			"meanwhile. The file gets its name only when all of it is on the disk.\n" +
			"Exit codes: 0 done, 1 failed, 2 wrong usage.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usagef("--out is needed: a file, or %s for standard output", toStandard)
			}
			r, err := newRemote()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if out == toStandard {
				b, err := r.backup(ctx, cmd.OutOrStdout(), stale)
				if err != nil {
					return err
				}
				return printBackup(cmd.ErrOrStderr(), b, nil, asJSON)
			}
			b, err := r.backupFile(ctx, out, stale)
			if err != nil {
				return err
			}
			return printBackup(cmd.OutOrStdout(), b, nil, asJSON)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the `FILE` to write, or - for standard output")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was written as JSON")
	cmd.Flags().BoolVar(&stale, "stale", false, "write this node's own state without asking the others, for when their majority is lost")
	cmd.AddCommand(verifyCommand(), listBackupsCommand())
	return cmd
}

// backup writes a backup to w and looks at it on the way. The error says so if it is not whole.
func (r *remote) backup(ctx context.Context, w io.Writer, stale bool) (b fsm.Backup, err error) {
	resp, err := r.stream(ctx, "GET", "/admin/backup?stale="+strconv.FormatBool(stale), nil)
	if err != nil {
		return b, err
	}
	defer resp.Body.Close()
	b, err = fsm.CheckBackup(io.TeeReader(resp.Body, w))
	if err != nil {
		return b, fmt.Errorf("the backup did not come whole: %w", err)
	}
	return b, nil
}

// stream is call for what is no JSON, and takes as long as it takes.
func (r *remote) stream(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	if body != nil {
		req.Header.Set("Expect", "100-continue") // a node that refuses does so before all of it is sent
	}
	patient := *r.client
	patient.Timeout = 0
	resp, err := patient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // whatever came of it
	return nil, r.refusal(resp.StatusCode, text)
}

// backupFile writes a backup to a temporary file next to path and renames it when it is on the disk.
func (r *remote) backupFile(ctx context.Context, path string, stale bool) (b fsm.Backup, err error) {
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, filepath.Base(path)+".partial-*") // for its owner alone: it holds secrets
	if err != nil {
		return b, usagef("can't write the backup: %w", err)
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	out := bufio.NewWriterSize(file, 1<<20)
	if b, err = r.backup(ctx, out, stale); err != nil {
		return b, err
	}
	if err := errors.Join(out.Flush(), file.Sync(), file.Close()); err != nil {
		return b, fmt.Errorf("write the backup: %w", err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return b, fmt.Errorf("name the backup: %w", err)
	}
	return b, syncFolder(dir)
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
	var asJSON bool
	var keyFile string
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Verify a backup and print its contents",
		Long: "Reads a backup (- reads standard input, s3://BUCKET/PREFIX/NAME an object) as a restore does, without a node: checks every checksum, every section and\n" +
			"the digest of the state. Needs as much memory as the state.\n" +
			"Exit codes: 0 whole, 1 damaged or of a newer version, 2 wrong usage.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := openBackup(cmd.Context(), cmd.InOrStdin(), args[0], keyFile)
			if err != nil {
				return err
			}
			defer file.Close()
			limitMemory(slog.New(slog.DiscardHandler))
			b, c, err := fsm.VerifyBackup(file, cluster.BackupRoom())
			if err != nil {
				return err
			}
			return printBackup(cmd.OutOrStdout(), b, &c, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	keyFileFlag(cmd, &keyFile)
	return cmd
}

// keyFileFlag declares what opens an encrypted backup.
func keyFileFlag(cmd *cobra.Command, keyFile *string) {
	cmd.Flags().StringVar(keyFile, "key-file", "", "`FILE` of age-keygen that opens an encrypted backup")
}

// backupView is what the commands say of a backup.
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

// contentsView says how much there is in a backup.
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

// tellBackup prints what is known of a backup.
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
			fmt.Fprintf(w, "DATABASE\t%s: %d keys, %d bytes, %d users\n", d.Name, d.Keys, d.Bytes, d.Users)
		}
		fmt.Fprintf(w, "MESSAGES\t%d, %d dead letters, %d queues, %d schedules, %d URL groups\n", c.Messages, c.Dead, c.Queues, c.Schedules, c.Groups)
		fmt.Fprintf(w, "WORKFLOWS\t%d runs, %d dead letters\nFUNCTIONS\t%d libraries\n", c.Runs, c.DeadRuns, c.Libraries)
	}
	return w.Flush()
}
