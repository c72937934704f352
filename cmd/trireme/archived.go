package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"filippo.io/age"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/payloads"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/internal/archive"
	"github.com/trireme-dev/trireme/internal/plural"
)

// unpackedBackup has the payloads of an incremental backup in files of a temporary directory.
type unpackedBackup struct {
	*archive.Opened
	dir   string
	store *payloads.Store
}

// archived opens a backup of an archive. The payloads of an incremental one are unpacked into a temporary directory.
func (o *opener) archived(ctx context.Context, kept archive.Archive, b archive.Backup) (*openedBackup, error) {
	if !b.Packed {
		file, err := kept.Get(ctx, b.Name)
		if err != nil {
			return nil, err
		}
		file, err = decrypted(file, b.Name, o.keyFile)
		return &openedBackup{ReadCloser: file}, err
	}
	var keys []age.Identity
	var err error
	if b.Sealed || o.keyFile != "" {
		if keys, err = identities(o.keyFile); err != nil {
			return nil, err
		}
	}
	u := &unpackedBackup{}
	if err := u.begin(o.dir); err != nil {
		return nil, errors.Join(err, u.remove())
	}
	if u.Opened, err = archive.Read(ctx, kept, b, keys, u.put); err != nil {
		return nil, errors.Join(err, u.remove())
	}
	for _, d := range u.Damaged {
		fmt.Fprintf(o.warnings, "damaged: %s\n", d)
	}
	return &openedBackup{ReadCloser: u, find: u.find}, nil
}

// begin makes the directory, in dir.
func (ub *unpackedBackup) begin(dir string) (err error) {
	if ub.dir, err = os.MkdirTemp(dir, "trireme-backup-"); err != nil {
		return fmt.Errorf("make a directory for the payloads of the backup: %w", err)
	}
	ub.store, err = payloads.Open(payloads.Options{DataDir: ub.dir, Fatal: func(err error) {
		fmt.Fprintf(os.Stderr, "trireme: the temporary directory: %v\n", err)
		_ = os.RemoveAll(ub.dir)
		os.Exit(cli.ExitFailed)
	}})
	return err
}

func (ub *unpackedBackup) put(b []byte) error { return ub.store.Write([][]byte{b}) }

// find is a fsm.Finder.
func (ub *unpackedBackup) find(list []payload.Reference) ([]payload.Kept, error) {
	missing := 0
	for i := range list {
		if !ub.store.Has(list[i].Digest) {
			missing++
		}
	}
	if missing > 0 {
		return nil, fmt.Errorf("%s that the backup names %s in no pack that can be read", plural.Of(missing, "payload"), map[bool]string{true: "is", false: "are"}[missing == 1])
	}
	return ub.store.Named(list), nil
}

// Close closes the backup, and removes the directory.
func (ub *unpackedBackup) Close() error { return errors.Join(ub.Opened.Close(), ub.remove()) }

func (ub *unpackedBackup) remove() error { return os.RemoveAll(ub.dir) }

// whole returns the backup in one file, as a restore takes it. All of it is verified before the first byte comes.
func (ob *openedBackup) whole() io.ReadCloser {
	if ob.find == nil {
		return ob.ReadCloser
	}
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := fsm.ExpandBackup(w, ob, cluster.BackupRoom(), ob.find)
		w.CloseWithError(err)
	}()
	return &expanding{Reader: r, close: func() error {
		r.CloseWithError(errors.New("not read to its end"))
		<-done
		return ob.Close()
	}}
}

// expanding is a backup that is expanded while it is read.
type expanding struct {
	io.Reader
	close func() error
}

// Close ends that.
func (e *expanding) Close() error { return e.close() }
