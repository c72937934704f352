package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/fsm"
)

// drillOptions are the flags of backup drill.
type drillOptions struct {
	from, keyFile, dir string
	asJSON             bool
}

func drillCommand() *cobra.Command {
	var o drillOptions
	cmd := &cobra.Command{
		Use:   "drill {FILE | --from LOCATION}",
		Short: "Restore a backup into a throw-away node and compare",
		Long: "Starts a node in a temporary directory, restores the backup into it as `trireme restore` does, and compares key counts\n" +
			"and digests of every database with those of the file. The node listens nowhere, delivers nothing, and is removed.\n" +
			"FILE may be s3://BUCKET/PREFIX/NAME; --from takes the newest backup of a folder or bucket. Needs as much memory as\n" +
			"two states, and disk space for the file three times (--dir names the disk).\n" +
			"Exit codes: 0 restored and equal, 1 damaged, not restored or not equal, 2 wrong usage.",
		Example: "  trireme backup drill monday.backup\n  trireme backup drill --from s3://backups/trireme --key-file backup.key",
		Args:    cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (o.from == "") {
				return cli.Usagef("drill needs a FILE or --from LOCATION")
			}
			ctx, stop := untilInterrupt(cmd)
			defer stop()
			return o.run(ctx, cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "`LOCATION` whose newest backup is restored: a folder or s3://BUCKET/PREFIX")
	f.StringVar(&o.dir, "dir", "", "`DIR` in which the temporary directory is made (default: TMPDIR, or /tmp)")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	keyFileFlag(cmd, &o.keyFile)
	return cmd
}

// drill holds the findings of a drill, as --json prints them.
type drill struct {
	Name   string     `json:"name"`
	Backup backupView `json:"backup"`
	// RestoreMs is the duration of the restore in milliseconds.
	RestoreMs int64       `json:"restoreMs"`
	Parts     []drillPart `json:"parts"`
	Equal     bool        `json:"equal"`
}

// drillPart compares a part of a database in the backup with the same part after the restore.
type drillPart struct {
	Database       string `json:"database"`
	Part           string `json:"part"`
	Records        int    `json:"records"`
	Restored       int    `json:"restored"`
	Digest         string `json:"digest"`
	RestoredDigest string `json:"restoredDigest"`
	Equal          bool   `json:"equal"`
}

// run restores a backup in a directory of its own, which it removes afterwards.
func (o *drillOptions) run(ctx context.Context, cmd *cobra.Command, args []string) (err error) {
	dir, err := os.MkdirTemp(o.dir, "trireme-drill-")
	if err != nil {
		return cli.Usagef("can't make a temporary directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	limitMemory(slog.New(slog.DiscardHandler))
	d := &drill{}
	file, err := o.fetch(ctx, cmd, args, dir, d)
	if err != nil {
		return err
	}
	defer file.Close()
	b, contents, parts, err := fsm.InspectBackup(file, cluster.BackupRoom())
	if err != nil {
		return err
	}
	d.Backup = viewBackup(b, &contents)
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the backup again: %w", err)
	}
	began := time.Now()
	restored, err := restoreOnce(ctx, dir, file)
	if err != nil {
		return fmt.Errorf("the backup is whole, but was not restored: %w", fullDrill(dir, err))
	}
	d.RestoreMs = time.Since(began).Milliseconds()
	d.compare(parts, restored)
	if err := d.print(cmd.OutOrStdout(), o.asJSON); err != nil {
		return err
	}
	if !d.Equal {
		return errors.New("the restored data differ from the backup")
	}
	return nil
}

// fetch copies the backup, decrypted, into a file in dir, because it is read twice.
func (o *drillOptions) fetch(ctx context.Context, cmd *cobra.Command, args []string, dir string, d *drill) (*os.File, error) {
	var opened *openedBackup
	var err error
	if o.from != "" {
		opened, d.Name, err = newOpener(cmd, o.keyFile, dir).newest(ctx, o.from)
	} else {
		d.Name = args[0]
		opened, err = newOpener(cmd, o.keyFile, dir).open(ctx, d.Name)
	}
	if err != nil {
		return nil, err
	}
	in := opened.whole()
	defer in.Close()
	file, err := os.CreateTemp(dir, "backup-*")
	if err != nil {
		return nil, err
	}
	if _, err = io.Copy(file, in); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy the backup: %w", fullDrill(dir, err)), file.Close())
	}
	return file, nil
}

// drillFloor is the space that a drill leaves free on the disk, in bytes.
const drillFloor = 64 << 20

// fullDrill explains err if it says that the disk is full: it names the disk and the space that a drill needs.
func fullDrill(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, fsm.ErrLowSpace) {
		return fmt.Errorf("the disk of %s is full: a drill needs room for the backup three times and %d MiB more; --dir names another disk (%w)",
			filepath.Dir(dir), drillFloor>>20, err)
	}
	return err
}

// restoreOnce restores a backup into a node of its own, and returns the parts of its state as they were in the entry that
// restored them: later the node removes what has expired.
func restoreOnce(ctx context.Context, dir string, backup io.Reader) ([]fsm.Part, error) {
	var node atomic.Pointer[cluster.Node]
	var parts []fsm.Part
	machine := fsm.NewMachine()
	machine.Hooks.Restored = func() {
		if node.Load() != nil {
			parts = machine.Fork().Parts()
		}
	}
	o := cluster.Options{
		NodeID: devNodeID, DataDir: dir,
		Addresses: cluster.Addresses{Bind: devAddr, NoPort: true, Version: version},
		Entrance:  cluster.Entrance{InitialCluster: []cluster.Peer{{ID: devNodeID, Addr: devAddr}}},
		Heartbeat: devHeartbeat, Space: logstore.Space{Reserve: -1, Floor: logstore.Floor{Bytes: drillFloor}}, DiskStall: singleNodeStall,
		Machine: machine,
		Owner: cluster.Owner{
			Bootstrap: func(bool) (fsm.Bootstrap, bool) { return fsm.Bootstrap{}, false },
			Fatal: func(reason string) {
				fmt.Fprintln(os.Stderr, "trireme: "+reason)
				_ = os.RemoveAll(dir)
				os.Exit(cli.ExitFailed)
			},
		},
	}
	n, err := cluster.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer n.Close(context.WithoutCancel(ctx))
	node.Store(n)
	for !n.Ready(ctx) {
		select {
		case <-ctx.Done():
			return nil, errors.New("stopped")
		case <-time.After(5 * time.Millisecond):
		}
	}
	if _, err := n.RestoreBackup(ctx, backup); err != nil {
		return nil, err
	}
	_, err = n.Freeze(ctx) // it answers reads
	return parts, err
}

// compare pairs the parts of the backup with the restored ones. Both are in the order of databases.
func (d *drill) compare(backup, restored []fsm.Part) {
	type key struct{ database, part string }
	found := map[key]fsm.Part{}
	for _, p := range restored {
		found[key{p.Database, p.Name}] = p
	}
	d.Equal = len(backup) == len(restored)
	for _, p := range backup {
		r := found[key{p.Database, p.Name}]
		one := drillPart{p.Database, p.Name, p.Records, r.Records, p.Digest, r.Digest, p == r}
		d.Parts, d.Equal = append(d.Parts, one), d.Equal && one.Equal
	}
}

// shownDigest is the length of the digests in the table, in hexadecimal digits.
const shownDigest = 16

func (d *drill) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(d)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "BACKUP\t%s\nCLUSTER\t%s\nTIME\t%s\nINDEX\t%d\n", d.Name, d.Backup.Cluster, d.Backup.Time, d.Backup.Index)
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nDATABASE\tPART\tIN BACKUP\tRESTORED\tDIGEST\tVERDICT")
	for _, p := range d.Parts {
		verdict := "equal"
		if !p.Equal {
			verdict = "DIFFERS"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.*s\t%s\n", p.Database, p.Part, p.Records, p.Restored, shownDigest, p.Digest, verdict)
	}
	verdict := "the backup was restored, and all digests are equal"
	if !d.Equal {
		verdict = "the backup was restored, but NOT all digests are equal"
	}
	fmt.Fprintf(w, "\n%s (%d ms)\n", verdict, d.RestoreMs)
	return w.Flush()
}
