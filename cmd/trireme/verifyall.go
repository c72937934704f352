package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/archive"
	"github.com/trireme-dev/trireme/internal/plural"
)

// archiveCheck is the result of verify --all, as --json prints it.
type archiveCheck struct {
	Backups int            `json:"backups"`
	Packs   int            `json:"packs"`
	Faults  []archiveFault `json:"faults"`
}

// archiveFault is a damaged or missing file.
type archiveFault struct {
	Name      string   `json:"name"`
	Reason    string   `json:"reason"`
	Backups   []string `json:"backups"`
	Discarded bool     `json:"discarded"`
}

// verifyAll reads every file at a location. It fails if one is damaged or missing.
func verifyAll(cmd *cobra.Command, location, keyFile string, discard, asJSON bool) error {
	kept, err := archive.Open(location)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	n, faults, err := archive.Check(cmd.Context(), kept, func(b archive.Backup, r io.Reader) error {
		if b.Sealed && keyFile == "" {
			_, err := io.Copy(io.Discard, r) // only its key can tell
			return err
		}
		file, err := decrypted(io.NopCloser(r), b.Name, keyFile)
		if err == nil {
			_, err = fsm.CheckBackup(file)
		}
		return err
	})
	if err != nil {
		return err
	}
	v := archiveCheck{Backups: n.Backups, Packs: n.Packs, Faults: []archiveFault{}}
	for _, f := range faults {
		one := archiveFault{Name: f.Name, Reason: f.Reason, Backups: f.Backups}
		if discard {
			if one.Discarded, err = archive.Discard(cmd.Context(), kept, f); err != nil {
				return fmt.Errorf("remove %s: %w", f.Name, err)
			}
		}
		v.Faults = append(v.Faults, one)
	}
	if err := v.print(cmd.OutOrStdout(), asJSON); err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("%s of %s damaged or missing", plural.Of(len(faults), "file"), kept)
	}
	return nil
}

func (ac *archiveCheck) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(ac)
	}
	for _, f := range ac.Faults {
		fmt.Fprintf(out, "%s: %s\n", f.Name, f.Reason)
		for _, b := range f.Backups {
			fmt.Fprintf(out, "  needed by %s\n", b)
		}
		if f.Discarded {
			fmt.Fprintln(out, "  removed: the next backup writes again what it needs of it")
		}
	}
	_, err := fmt.Fprintf(out, "%s and %s read\n", plural.Of(ac.Backups, "backup"), plural.Of(ac.Packs, "pack"))
	return err
}
