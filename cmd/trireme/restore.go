package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/plural"
)

func restoreCommand() *cobra.Command {
	var asJSON bool
	var from, keyFile string
	var connection cli.Connection
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore a backup into an empty cluster",
		Long: "Verifies a backup and sends it to the node at TRIREME_URL (default " + defaultURL + ") with the token in\n" +
			"TRIREME_ADMIN_TOKEN. FILE may be - for standard input, or s3://BUCKET/PREFIX/NAME; --from restores the newest backup\n" +
			"of a folder or bucket. All nodes restore it in one log entry. The cluster must be empty, and keeps its own\n" +
			"nodes and id; settings, users and tokens, the admin token included, are then those of the backup.\n" +
			"Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no answer, 4 token refused.",
		Example: "  trireme restore last.backup\n  trireme restore --from s3://backups/trireme --key-file backup.key",
		Args:    cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (from == "") {
				return cli.Usagef("restore needs a FILE or --from LOCATION")
			}
			r, err := newRemote(&connection)
			if err != nil {
				return err
			}
			var file *openedBackup
			if from != "" {
				var name string
				if file, name, err = newOpener(cmd, keyFile, "").newest(cmd.Context(), from); err == nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "restoring %s\n", name)
				}
			} else {
				file, err = newOpener(cmd, keyFile, "").open(cmd.Context(), args[0])
			}
			if err != nil {
				return err
			}
			in := file.whole()
			defer in.Close()
			return r.restore(cmd, in, asJSON)
		},
	}
	connection.Flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	cmd.Flags().StringVar(&from, "from", "", "`LOCATION` whose newest backup is restored: a folder or s3://BUCKET/PREFIX")
	keyFileFlag(cmd, &keyFile)
	return cmd
}

// restore sends a backup if it passes the checks that need no node. A file that can be read twice is checked before
// anything is sent.
func (r *remote) restore(cmd *cobra.Command, in io.Reader, asJSON bool) error {
	ctx, stop := untilInterrupt(cmd)
	defer stop()
	if file, ok := in.(io.ReadSeeker); ok {
		if _, err := fsm.CheckBackup(file); err != nil {
			return err
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read the backup again: %w", err)
		}
	}
	resp, err := r.stream(ctx, "POST", "/admin/restore", io.NopCloser(in))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", r.URL(), err)
	}
	var v struct {
		Index, Epoch                               uint64
		Databases, Keys, Messages, Schedules, Runs int
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("%s did not reply with JSON: is it a Trireme node?", r.URL())
	}
	if asJSON {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "restored %s with %s, %s, %s and %s\n%s\n", plural.Of(v.Databases, "database"), plural.Of(v.Keys, "key"),
		plural.Of(v.Messages, "message"), plural.Of(v.Schedules, "schedule"), plural.Of(v.Runs, "run"), r.tokensInForce(ctx))
	return err
}

// tokensInForce describes whose tokens are valid after a restore, and whether the token of this command still is.
func (r *remote) tokensInForce(ctx context.Context) string {
	const whose = "the tokens in force are those of the backup"
	var status json.RawMessage
	if err := r.Call(ctx, "GET", "/admin/cluster", nil, &status); err != nil {
		return whose + ": the token that you have used opens nothing any more, and neither do those that this cluster was started with"
	}
	return whose + "; the token that you have used is one of them"
}
