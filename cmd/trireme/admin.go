package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/trireme-dev/trireme/cli/doctor"
	"github.com/trireme-dev/trireme/cli/messagesfile"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/rdb"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/node/samples"
)

// admin implements the operations of /admin.
type admin struct {
	engine  *nodeEngine
	gossip  func() []membership.Member
	examine func(context.Context) doctor.Report
	drain   func(*cluster.Node) // nil without --drain
	history *samples.History
}

func (a *admin) node() (*cluster.Node, error) {
	if n := a.engine.node.Load(); n != nil {
		return n, nil
	}
	return nil, &httpapi.AdminError{Status: http.StatusServiceUnavailable, Text: errStarting.Error()}
}

// unreachable is the status of a node that doesn't answer; see cluster.NodeStatus.
const unreachable = "unreachable"

// namedHistories is the most databases whose short histories are named.
const namedHistories = 10

// historyOf names the records of a history as metrics and replies do.
func historyOf(h *fsm.ShortHistory) string {
	if h.Runs {
		return "runs"
	}
	return "events"
}

// Cluster returns the cluster as this node sees it. A node that doesn't answer is described from its
// gossip.
func (a *admin) Cluster(ctx context.Context) (httpapi.ClusterStatus, error) {
	n, err := a.node()
	if err != nil {
		return httpapi.ClusterStatus{}, err
	}
	s := n.Status(ctx)
	gossiped := map[string]membership.Member{}
	for _, m := range a.gossip() {
		gossiped[m.ID] = m
	}
	out := httpapi.ClusterStatus{Leader: s.Leader, Term: s.Term, Nodes: make([]httpapi.NodeStatus, len(s.Nodes))}
	for i, one := range s.Nodes {
		if one.HTTP == "" {
			one.HTTP, one.Version = gossiped[one.ID].HTTP, gossiped[one.ID].Version
		}
		if one.State == unreachable {
			one.LastContactMs = -1
		}
		out.Nodes[i] = httpapi.NodeStatus{
			ID: one.ID, HTTP: one.HTTP, Cluster: one.Cluster, Suffrage: one.Suffrage, State: one.State,
			AppliedIndex: one.AppliedIndex, LastContactMs: one.LastContactMs, Version: one.Version, Leaving: one.Leaving, SlowDiskMs: one.SlowDiskMs,
		}
		if p := one.Poison; p != nil {
			out.Nodes[i].Poison = &httpapi.PoisonEntry{Index: p.Index, Database: p.Database, Operation: p.Operation, Databases: p.Databases}
		}
	}
	n.Machine().View(0, [16]byte{}, func(v *fsm.View) {
		for _, h := range v.ShortHistories(namedHistories) {
			out.ShortHistories = append(out.ShortHistories, httpapi.ShortHistory{
				Database: h.Database, Of: historyOf(&h), ReachMs: v.Now() - h.Oldest, RetentionMs: h.Age, MaxBytes: h.Bytes,
			})
		}
	})
	return out, nil
}

// TransferLeader moves leadership, whichever node leads.
func (a *admin) TransferLeader(ctx context.Context, to string) error {
	n, err := a.node()
	if err != nil {
		return err
	}
	switch err := n.MoveLeadership(ctx, to); {
	case errors.Is(err, cluster.ErrNoSuchNode):
		return &httpapi.AdminError{Status: http.StatusNotFound, Text: err.Error()}
	case errors.Is(err, cluster.ErrAlone):
		return &httpapi.AdminError{Status: http.StatusConflict, Text: err.Error()}
	case err != nil:
		return &httpapi.AdminError{Status: http.StatusServiceUnavailable, Text: err.Error()}
	}
	return nil
}

// Drain drains this node as a stop does. A stop that follows does not drain it again.
func (a *admin) Drain(ctx context.Context) error {
	n, err := a.node()
	if err != nil {
		return err
	}
	if a.drain == nil {
		return &httpapi.AdminError{Status: http.StatusConflict, Text: "ERR this node was started without --drain: clients have no time to leave before it stops"}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.drain(n)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// RemoveNode takes a node out of the cluster.
func (a *admin) RemoveNode(ctx context.Context, id string, force bool) (bool, error) {
	return a.change(id, func(n *cluster.Node) error { return n.RemoveNode(ctx, id, force) })
}

// ReplaceNode replaces a node by another.
func (a *admin) ReplaceNode(ctx context.Context, id, with string) (bool, error) {
	return a.change(id, func(n *cluster.Node) error { return n.ReplaceNode(ctx, id, with) })
}

// change runs a change of the cluster's nodes and reports whether node id is gone when it returns. This
// node never is: before it leaves it finishes its requests, this one among them.
func (a *admin) change(id string, run func(*cluster.Node) error) (gone bool, err error) {
	n, err := a.node()
	if err != nil {
		return false, err
	}
	switch err := run(n); {
	case errors.Is(err, cluster.ErrNoServer):
		return false, &httpapi.AdminError{Status: http.StatusNotFound, Text: "ERR " + err.Error()}
	case errors.Is(err, cluster.ErrUnsafe):
		return false, &httpapi.AdminError{Status: http.StatusConflict, Text: "ERR " + err.Error()}
	case err != nil:
		return false, &httpapi.AdminError{Status: http.StatusServiceUnavailable, Text: "ERR " + err.Error()}
	}
	return id != n.ID(), nil
}

// Examine returns the doctor's report on this node.
func (a *admin) Examine(ctx context.Context) any { return a.examine(ctx) }

// History returns the history of all nodes that answer, or of the node that is named. Before this node has found its cluster, it is this
// node's alone.
func (a *admin) History(ctx context.Context, of samples.Question, node string) samples.Cluster {
	n, err := a.node()
	if err != nil {
		return samples.Merge([]samples.Named{{Node: "this node", Columns: a.history.Read(of)}}, nil)
	}
	var all []samples.Named
	var missing []samples.Missing
	for _, h := range n.Histories(ctx, []byte(of.String())) {
		if node != "" && h.Node != node {
			continue
		}
		one := samples.Named{Node: h.Node}
		err := h.Err
		if err == nil {
			err = json.Unmarshal(h.Data, &one.Columns)
		}
		switch {
		case err == nil:
			all = append(all, one)
		case cluster.IsUnknownCall(err):
			missing = append(missing, samples.Missing{Node: h.Node, Why: "its version is older and doesn't tell"})
		default:
			missing = append(missing, samples.Missing{Node: h.Node, Why: "it is not reached: " + err.Error()})
		}
	}
	return samples.Merge(all, missing)
}

// Snapshot makes this node write a snapshot.
func (a *admin) Snapshot(context.Context) (httpapi.SnapshotStatus, error) {
	n, err := a.node()
	if err != nil {
		return httpapi.SnapshotStatus{}, err
	}
	if err := n.Snapshot(); err != nil {
		return httpapi.SnapshotStatus{}, err
	}
	newest, err := n.NewestSnapshot()
	if err != nil {
		return httpapi.SnapshotStatus{}, err
	}
	return httpapi.SnapshotStatus{ID: newest.ID, Index: newest.Index, Bytes: newest.Bytes}, nil
}

// frozen returns the state as it is now, if it has the database.
func (a *admin) frozen(ctx context.Context, database string) (*fsm.Frozen, error) {
	n, err := a.node()
	if err != nil {
		return nil, err
	}
	frozen, err := n.Freeze(ctx)
	if err == nil && !frozen.HasDatabase(database) {
		err = fsm.ErrNoDatabase
	}
	return frozen, err
}

// Export fixes a database as it is now. The function that it returns writes it.
func (a *admin) Export(ctx context.Context, database string, target rdb.Target) (func(io.Writer) (rdb.Written, error), error) {
	frozen, err := a.frozen(ctx, database)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) (rdb.Written, error) { return frozen.Export(w, database, target, version) }, nil
}

// Backup fixes the newest state, or with stale this node's state. The function that it returns writes it.
func (a *admin) Backup(ctx context.Context, stale bool) (func(io.Writer) error, error) {
	n, err := a.node()
	if err != nil {
		return nil, err
	}
	frozen := n.Machine().Fork()
	if !stale {
		if frozen, err = n.Freeze(ctx); err != nil {
			return nil, err
		}
	}
	return func(w io.Writer) error {
		_, err := frozen.Backup(w, version)
		return err
	}, nil
}

// Restore replaces the empty state by that of a backup.
func (a *admin) Restore(ctx context.Context, backup io.Reader) (fsm.Restoration, error) {
	n, err := a.node()
	if err != nil {
		return fsm.Restoration{}, err
	}
	out, err := n.RestoreBackup(ctx, backup)
	if errors.Is(err, cluster.ErrBackupLevel) {
		err = &httpapi.AdminError{Status: http.StatusConflict, Text: "ERR " + err.Error()}
	}
	return out, err
}

// ExportMessages fixes the messages and runs of a database as they are now. The function that it returns writes them.
func (a *admin) ExportMessages(ctx context.Context, database string) (func(io.Writer) error, error) {
	frozen, err := a.frozen(ctx, database)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error { return messagesfile.Write(w, frozen, database, version) }, nil
}

// Quarantine makes all nodes continue without a database.
func (a *admin) Quarantine(ctx context.Context, database string) (fsm.QuarantineOrder, error) {
	n, err := a.node()
	if err != nil {
		return fsm.QuarantineOrder{}, err
	}
	order, err := n.Quarantine(ctx, database)
	if errors.Is(err, cluster.ErrRecover) {
		err = &httpapi.AdminError{Status: http.StatusConflict, Text: "ERR " + strings.TrimPrefix(err.Error(), "cluster: ")}
	}
	return order, err
}

// ImportMessages imports a file of ExportMessages into a database without messages.
func (a *admin) ImportMessages(ctx context.Context, database string, file io.Reader) (out fsm.ImportedMessages, err error) {
	n, err := a.node()
	if err != nil {
		return out, err
	}
	spool, err := n.SpoolFile()
	if err != nil {
		return out, err
	}
	defer func() { _ = errors.Join(spool.Close(), os.Remove(spool.Name())) }()
	w := bufio.NewWriterSize(spool, 1<<20)
	var record []byte
	head, _, err := messagesfile.Read(file, func(store fsm.RecordStore, b []byte) error {
		record = fsm.AppendRecord(record[:0], store, b)
		_, err := w.Write(record)
		return err
	})
	if err == nil {
		err = w.Flush()
	}
	if errors.Is(err, messagesfile.ErrFile) {
		err = &httpapi.AdminError{Status: http.StatusBadRequest, Text: "ERR " + err.Error()}
	}
	if err != nil {
		return out, err
	}
	return n.ImportMessages(ctx, fsm.MessageImport{Database: database, Level: head.Level}, spool)
}
