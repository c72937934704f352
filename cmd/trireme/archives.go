package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/archive"
)

// openedBackup is a backup that is read: one file, or one that names payloads.
type openedBackup struct {
	io.ReadCloser
	// find finds the payloads that it names. It is nil for a backup in one file.
	find fsm.Finder
}

// opener opens backups.
type opener struct {
	// keyFile has the keys that decrypt encrypted backups, empty without one.
	keyFile string
	// dir is where the payloads of incremental backups are unpacked, empty for TMPDIR.
	dir string
	// stdin is standard input. What is damaged of an incremental backup is written to warnings.
	stdin    io.Reader
	warnings io.Writer
}

// newOpener returns an opener with the streams of a command.
func newOpener(cmd *cobra.Command, keyFile, dir string) *opener {
	return &opener{keyFile: keyFile, dir: dir, stdin: cmd.InOrStdin(), warnings: cmd.ErrOrStderr()}
}

// open opens a backup: standard input, a file, or an object in a bucket. It decrypts an encrypted one.
func (o *opener) open(ctx context.Context, name string) (*openedBackup, error) {
	var file io.ReadCloser
	switch {
	case name == standardStream:
		file = io.NopCloser(o.stdin)
	case strings.HasPrefix(name, "s3://"):
		location, query, _ := strings.Cut(name, "?")
		at := strings.LastIndexByte(location, '/')
		kept, err := archive.Open(location[:at] + "/?" + query)
		if err != nil {
			return nil, cli.Usagef("%w", err)
		}
		base := location[at+1:]
		if b, ok := archive.ParseName(base); ok && b.Packed {
			return o.archived(ctx, kept, b)
		}
		if file, err = kept.Get(ctx, base); err != nil {
			return nil, err
		}
	default:
		if b, ok := archive.ParseName(filepath.Base(name)); ok && b.Packed {
			kept, err := archive.Open(filepath.Dir(name))
			if err != nil {
				return nil, cli.Usagef("%w", err)
			}
			return o.archived(ctx, kept, b)
		}
		var err error
		if file, err = os.Open(name); err != nil {
			return nil, cli.Usagef("can't open the backup: %w", err)
		}
	}
	file, err := decrypted(file, name, o.keyFile)
	return &openedBackup{ReadCloser: file}, err
}

// decrypted decrypts a backup if its name or a given key says that it is encrypted.
func decrypted(file io.ReadCloser, name, keyFile string) (io.ReadCloser, error) {
	base, _, _ := strings.Cut(name, "?")
	if !strings.HasSuffix(base, ".age") && keyFile == "" {
		return file, nil
	}
	opened, err := openEncrypted(file, keyFile)
	if err != nil {
		file.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{opened, file}, nil
}

func openEncrypted(file io.Reader, keyFile string) (io.Reader, error) {
	keys, err := identities(keyFile)
	if err != nil {
		return nil, err
	}
	return archive.Unseal(file, keys)
}

// identities reads the keys that open encrypted backups.
func identities(keyFile string) ([]age.Identity, error) {
	if keyFile == "" {
		return nil, cli.Usagef("the backup is encrypted: --key-file names the file with its key")
	}
	keys, err := archive.Identities(keyFile)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	return keys, nil
}

// newest opens the newest backup at a location and returns its name.
func (o *opener) newest(ctx context.Context, location string) (file *openedBackup, name string, err error) {
	kept, err := archive.Open(location)
	if err != nil {
		return nil, "", cli.Usagef("%w", err)
	}
	all, err := archive.List(ctx, kept, "")
	if err != nil {
		return nil, "", err
	}
	if len(all) == 0 {
		return nil, "", fmt.Errorf("there are no backups in %s", kept)
	}
	file, err = o.archived(ctx, kept, all[0])
	return file, all[0].Name, err
}

// archivedView is a backup in an archive as --json prints it.
type archivedView struct {
	Name    string `json:"name"`
	Cluster string `json:"cluster"`
	Time    string `json:"time"`
	Sealed  bool   `json:"encrypted"`
	Packed  bool   `json:"incremental"`
}

func listBackupsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list LOCATION",
		Short: "List the scheduled backups in a folder or bucket",
		Long: "Lists the scheduled backups (--backup-to) in a folder or in s3://BUCKET/PREFIX, newest first.\n" +
			"The credentials of a bucket come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, from the files of the AWS tools, or\n" +
			"from the machine's role; AWS_ENDPOINT_URL_S3 names a server other than Amazon's.\n" +
			"Exit codes: 0 done, 1 failed, 2 wrong usage.",
		Example: "  trireme backup list /backups\n  trireme backup list s3://backups/trireme",
		Args:    cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			kept, err := archive.Open(args[0])
			if err != nil {
				return cli.Usagef("%w", err)
			}
			// A node makes the folder with its first backup. Here a folder that is missing is a wrong name rather.
			if _, err := os.Stat(args[0]); !strings.Contains(args[0], "://") && errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("there is no folder %s", args[0])
			}
			all, err := archive.List(cmd.Context(), kept, "")
			if err != nil {
				return err
			}
			return printArchived(cmd.OutOrStdout(), all, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printArchived(out io.Writer, all []archive.Backup, asJSON bool) error {
	views := []archivedView{}
	for _, b := range all {
		views = append(views, archivedView{Name: b.Name, Cluster: b.Cluster, Time: b.Time.Format(time.RFC3339), Sealed: b.Sealed, Packed: b.Packed})
	}
	if asJSON {
		return json.NewEncoder(out).Encode(views)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tCLUSTER\tENCRYPTED\tINCREMENTAL\tNAME")
	for _, v := range views {
		fmt.Fprintf(w, "%s\t%s\t%t\t%t\t%s\n", v.Time, v.Cluster, v.Sealed, v.Packed, v.Name)
	}
	return w.Flush()
}
