package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/internal/archive"
	"github.com/trireme-dev/trireme/scheduler/cron"
)

// backupSettings holds the flags of scheduled backups.
type backupSettings struct {
	To, Cron, Recipients string
	Keep                 int
}

// The defaults of scheduled backups: nightly, for two weeks.
const (
	defaultBackupCron = "0 3 * * *"
	defaultBackupKeep = 14
)

func backupFlags(f *pflag.FlagSet, b *backupSettings) {
	f.StringVar(&b.To, "backup-to", "", "`LOCATION` of scheduled backups: a folder or s3://BUCKET/PREFIX (default: no scheduled backups)")
	f.StringVar(&b.Cron, "backup-cron", defaultBackupCron, "cron `EXPRESSION` of scheduled backups; the prefix CRON_TZ=ZONE sets a time zone")
	f.IntVar(&b.Keep, "backup-keep", defaultBackupKeep, "number of scheduled backups that are kept (0 = all)")
	f.StringVar(&b.Recipients, "backup-recipients", "", "`FILE` with public keys of age, one a line, for which scheduled backups are encrypted (default: not encrypted)")
}

// schedule returns the schedule that the flags ask for, or nil.
func (bs *backupSettings) schedule() (*archive.Schedule, error) {
	if bs.To == "" {
		return nil, nil
	}
	kept, err := archive.Open(bs.To)
	if err != nil {
		return nil, cli.Usagef("--backup-to: %w", err)
	}
	times, err := cron.Parse(bs.Cron)
	switch {
	case err != nil:
		return nil, cli.Usagef("--backup-cron: %w", err)
	case bs.Keep < 0:
		return nil, cli.Usagef("--backup-keep must not be negative")
	}
	s := &archive.Schedule{Archive: kept, Keep: bs.Keep, Next: func(after time.Time) time.Time { return times.Next(after, after) }}
	if bs.Recipients != "" {
		if s.Recipients, err = archive.Recipients(bs.Recipients); err != nil {
			return nil, cli.Usagef("--backup-recipients: %w", err)
		}
	}
	return s, nil
}

// runBackups makes scheduled backups while this node leads, until ctx ends.
func (pr *process) runBackups(ctx context.Context, node *cluster.Node) {
	s := pr.scheduled
	if s == nil {
		return
	}
	s.Leads, s.Log = node.IsLeader, pr.log
	s.Cluster = func() (id string) {
		node.Machine().View(0, [16]byte{}, func(v *fsm.View) { id = v.ClusterID() })
		return id
	}
	s.Take = func(ctx context.Context) (src archive.Source, err error) {
		frozen, err := node.Freeze(ctx)
		if err != nil {
			return src, err
		}
		node.Machine().View(0, [16]byte{}, func(v *fsm.View) {
			src.Cluster, src.Key = v.ClusterID(), v.Derive(archiveKey)
		})
		return archiveSource(src, frozen), nil
	}
	s.Run(ctx)
}

// archiveKey is the purpose of the key by which payloads are found in an archive.
const archiveKey = "payloads in an archive"

// archiveSource completes what an archive keeps: an incremental backup, unless the binary of a former level has to be able to restore it.
func archiveSource(src archive.Source, frozen *fsm.Frozen) archive.Source {
	write := frozen.Backup
	if frozen.Level() >= env.Files {
		write = frozen.BackupNames
		src.Payloads = func(each func(archive.Payload) error) error {
			return frozen.Payloads(func(k payload.Kept) error { return each(k) })
		}
	}
	src.Write = func(w io.Writer) error {
		_, err := write(w, version)
		return err
	}
	return src
}
