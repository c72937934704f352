package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/trireme-dev/trireme/fsm"
)

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
