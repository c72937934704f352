package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// Freeze returns the state of this node, in constant time, at a point that holds everything acknowledged before the
// call. The errors are the errors of a linearizable read.
func (n *Node) Freeze(ctx context.Context) (*fsm.Frozen, error) {
	p, err := n.point(ctx)
	if err != nil {
		return nil, err
	}
	if err := n.await(ctx, p.Index); err != nil {
		return nil, err
	}
	return n.machine.Fork(), nil
}

// ErrBackupLevel says that not every node of the cluster answers that it knows the feature level of a backup.
var ErrBackupLevel = errors.New("cluster: not every node is of a version that knows the backup's feature level, or not every node answers")

// BackupRoom returns the most bytes to which a backup may unpack in this process: half of what its memory limit leaves
// free, because a state takes more memory than its records. Without a memory limit it returns 0, which is unlimited.
func BackupRoom() int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return 0
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return max(1, (limit-int64(m.HeapAlloc))/2)
}

// incoming is the pattern of the names of backups in the data directory while they are restored.
const incoming = "restore-*.tmp"

// RestoreBackup replaces the state of this cluster, which has to be empty, by that of a backup; see
// docs/design/backup.md. The backup is written to the data directory and verified completely before anything enters the
// log. The errors are the errors of fsm.VerifyBackup and of reading r, ErrBackupLevel, the refusals of fsm.StageBackup
// and fsm.RestoreBackup, and the errors of a fsm.Proposer: after fsm.ErrUnknown the restore may have been done.
func (n *Node) RestoreBackup(ctx context.Context, r io.Reader) (out fsm.Restoration, err error) {
	if err := n.refuseRestore(ctx); err != nil {
		return out, err
	}
	file, err := n.spool(r)
	if err != nil {
		return out, err
	}
	defer func() { file.Close(); os.Remove(file.Name()) }()
	b, err := verifyFile(file)
	if err != nil {
		return out, err
	}
	if err := n.knowLevel(ctx, b); err != nil {
		return out, err
	}
	n.log.Info("restoring a backup", "cluster", b.ClusterID, "index", b.Index, "bytes", b.Bytes, "sum", b.Sum)
	ref, err := n.bring(ctx, file, b.Bytes, "")
	if err == nil {
		out, err = insist(context.WithoutCancel(ctx), n, fsm.RestoreBackup, ref)
	}
	if err == nil {
		n.log.Info("restored a backup", "index", out.Index, "epoch", out.Epoch, "keys", out.Contents.Keys())
	}
	return out, err
}

// refuseRestore says early what the log would say in the end: that the cluster is not empty.
func (n *Node) refuseRestore(ctx context.Context) error {
	var has string
	_, err := n.Read(ctx, fsm.Reading{}, func(v *fsm.View) {
		c := v.Contents()
		has = c.Remarkable()
	})
	if err == nil && has != "" {
		err = &fsm.Error{Code: fsm.ErrNotEmpty.Code, Text: fsm.ErrNotEmpty.Text + "; this one has " + has}
	}
	return err
}

// spool writes r into a file of the data directory.
func (n *Node) spool(r io.Reader) (*os.File, error) {
	file, err := n.SpoolFile()
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(file, r); err != nil {
		file.Close()
		os.Remove(file.Name())
		return nil, fmt.Errorf("cluster: receive the backup: %w", err)
	}
	return file, nil
}

// removeIncoming removes the files that a process was receiving when it died.
func removeIncoming(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, incoming)) // the pattern is right
	for _, name := range left {
		os.Remove(name)
	}
}

// verifyFile verifies everything in a backup. So a fault that would stop every reader of the log only ends this request.
func verifyFile(file *os.File) (b fsm.Backup, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", fsm.ErrBackup, p)
		}
	}()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return b, err
	}
	b, _, err = fsm.VerifyBackup(file, BackupRoom(), nil)
	return b, err
}

// knowLevel asks all nodes, if the backup would raise the cluster's feature level.
func (n *Node) knowLevel(ctx context.Context, b fsm.Backup) error {
	if b.Level <= n.level() || n.commonLevel(ctx) >= b.Level {
		return nil
	}
	return fmt.Errorf("%w: %d", ErrBackupLevel, b.Level)
}

// bring makes all nodes keep the file, in parts: a backup, or messages for a database.
func (n *Node) bring(ctx context.Context, file io.ReaderAt, size int64, database string) (ref fsm.BackupRef, err error) {
	ref = fsm.BackupRef{ID: newID(), Size: uint64(size)}
	buf := make([]byte, fsm.PartBytes)
	for at := int64(0); at < size && err == nil; {
		part := buf[:min(int64(len(buf)), size-at)]
		if _, err = file.ReadAt(part, at); err != nil {
			err = fmt.Errorf("cluster: read the backup again: %w", err)
			break
		}
		if n.store.Accepting() != nil {
			err = fsm.ErrLowSpace
			break
		}
		_, err = insist(ctx, n, fsm.StageBackup, fsm.BackupPart{ID: ref.ID, Offset: uint64(at), Data: part, Database: database})
		at += int64(len(part))
	}
	if err != nil {
		n.callOff(ref.ID)
	}
	return ref, err
}

// callOff forgets the parts that have arrived. If that fails, they expire.
func (n *Node) callOff(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if _, err := fsm.Do(ctx, n, fsm.StageBackup, fsm.BackupPart{ID: id}); err != nil {
		n.log.Warn("the parts of a backup that isn't restored are kept for a while", "error", err)
	}
}

// patience bounds how long a restore retries while no node answers, in addition to the deadline of each request.
const patience = time.Minute

// insist proposes an operation until it has an outcome. The operation must be safe to propose again. A large restore
// takes longer than the deadline of a request.
func insist[A, R any](ctx context.Context, n *Node, op *fsm.Operation[A, R], arg A) (out R, err error) {
	for began := time.Now(); ; {
		out, err = fsm.Do(ctx, n, op, arg)
		if !errors.Is(err, fsm.ErrUnknown) && !errors.Is(err, fsm.ErrNoLeader) || time.Since(began) > patience || !pause(ctx, 100*time.Millisecond) {
			return out, err
		}
	}
}

// replaced renews what a restored backup has ended: this process's session, and on the leader the clock, which may be
// behind the backup's.
func (n *Node) replaced() {
	n.proposer.dropLostSession()
	if n.openTerm.Load() != 0 {
		n.clock.AtLeast(n.machine.Time())
	}
	n.log.Info("the state is that of a backup now")
}

// ImportMessages imports, on all nodes, the records of messages and runs in file into a database without any.
// fsm.AppendRecord made the records in a cluster of that feature level. The caller removes the file.
//
// The errors are the errors of reading, fsm.ErrBadRecords, the refusals of fsm.StageBackup and fsm.ImportMessages, and
// the errors of a fsm.Proposer: after fsm.ErrUnknown the import may have been done.
func (n *Node) ImportMessages(ctx context.Context, ref fsm.MessageImport, file *os.File) (out fsm.ImportedMessages, err error) {
	if err := n.refuseMessages(ctx, ref); err != nil {
		return out, err
	}
	size, err := checkRecords(file)
	if err != nil {
		return out, err
	}
	n.log.Info("importing messages", "database", ref.Database, "bytes", size)
	if ref.BackupRef, err = n.bring(ctx, file, size, ref.Database); err != nil {
		return out, err
	}
	out, err = insist(context.WithoutCancel(ctx), n, fsm.ImportMessages, ref)
	if err == nil {
		n.log.Info("imported messages", "database", ref.Database, "messages", out.Messages.Messages, "runs", out.Workflows.Runs)
	}
	return out, err
}

// refuseMessages says early what the log would say in the end: that the messages have no place.
func (n *Node) refuseMessages(ctx context.Context, ref fsm.MessageImport) error {
	var refused error
	_, err := n.Read(ctx, fsm.Reading{}, func(v *fsm.View) {
		if refused = v.MessagesImportable(ref.Database); refused == nil && ref.Level > v.Level() {
			refused = fsm.ErrRecordLevel
		}
	})
	return errors.Join(err, refused)
}

// checkRecords reads all of a file as every node will. So a fault that would stop every reader of the log only ends this request.
func checkRecords(file *os.File) (size int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fsm.BadRecords(fmt.Errorf("%v", p))
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("cluster: read the messages again: %w", err)
	}
	if room := BackupRoom(); room > 0 && info.Size() > room {
		return 0, &fsm.Error{Code: fsm.ErrRecordMemory.Code, Text: fmt.Sprintf("this node has memory for %d bytes of messages, and these take %d", room, info.Size())}
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		return 0, fmt.Errorf("cluster: read the messages again: %w", err)
	}
	_, err = fsm.CheckRecords(text)
	return int64(len(text)), err
}

// SpoolFile returns a new file in the data directory for incoming data; the caller removes it.
func (n *Node) SpoolFile() (*os.File, error) {
	file, err := os.CreateTemp(n.opts.DataDir, incoming)
	if err != nil {
		return nil, fmt.Errorf("cluster: keep what comes in: %w", err)
	}
	return file, nil
}
