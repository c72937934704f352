package cluster_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

var writeCompat = flag.Bool("compat.write", false, "write testdata/compat for this binary's feature level anew")

// compatKeys is the number of keys in each directory of testdata/compat; half of them were written after the snapshot.
const compatKeys = 40

// oldOptions returns the options of a node on a directory of testdata/compat.
func oldOptions(t *testing.T, dir string, fatal func(string)) cluster.Options {
	addr := clustertest.Ports(t, 1)[0]
	return cluster.Options{
		NodeID: "n1", DataDir: dir, Addresses: cluster.Addresses{Bind: addr}, Heartbeat: 100 * time.Millisecond,
		LevelAfter: 100 * time.Millisecond, Entrance: cluster.Entrance{InitialCluster: []cluster.Peer{{ID: "n1", Addr: addr}}},
		Owner: cluster.Owner{Fatal: fatal, Bootstrap: func(bool) (fsm.Bootstrap, bool) { return fsm.Bootstrap{}, false }},
	}
}

// TestOldDirectories: a node starts on the data directory of every level from env.Base on, finds what was written, in the
// snapshot and in the log after it, and goes on. A directory of a later level is refused with an error that names the
// levels, one of an earlier level with the ways that lead to this version. Both are left as they are.
func TestOldDirectories(t *testing.T) {
	if *writeCompat {
		recordDirectory(t)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "compat", "level-*.tar.gz"))
	if err != nil || len(files) < 2 {
		t.Fatalf("directories of earlier and later versions are missing: %v, %v", files, err)
	}
	for _, f := range files {
		var level uint32
		if _, err := fmt.Sscanf(filepath.Base(f), "level-%d.tar.gz", &level); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(level), func(t *testing.T) {
			dir := t.TempDir()
			untar(t, f, dir)
			switch {
			case level > uint32(fsm.MaxLevel):
				newer(t, dir, level)
			case level < uint32(env.Base):
				former(t, dir, level)
			default:
				older(t, dir)
			}
		})
	}
}

func older(t *testing.T, dir string) {
	c := &clustertest.Cluster{T: t}
	n, err := cluster.Open(t.Context(), oldOptions(t, dir, func(reason string) { t.Errorf("the node must stop: %s", reason) }))
	if err != nil {
		t.Fatal(err)
	}
	c.Nodes = []*cluster.Node{n}
	defer c.StopAll()
	eventually(t, "the node serves", func() bool { return n.Ready(context.Background()) })
	for i := range compatKeys {
		if v, err := c.Read(0, "GET", fmt.Sprint("k", i)); err != nil || v.Text() != fmt.Sprint("v", i) {
			t.Errorf("k%d is %q, %v", i, v.Text(), err)
		}
	}
	if v, err := c.Write(0, "INCR", "n"); err != nil || v.IsError() {
		t.Errorf("writes go on: %v, %v", v, err)
	}
}

func newer(t *testing.T, dir string, level uint32) {
	before := listing(t, dir)
	_, err := cluster.Open(t.Context(), oldOptions(t, dir, func(reason string) { t.Errorf("the node must stop: %s", reason) }))
	if !errors.Is(err, cluster.ErrLevel) || !strings.Contains(err.Error(), fmt.Sprintf("is at feature level %d, this version knows %d; start the node with", level, fsm.MaxLevel)) {
		t.Fatalf("a directory of a later level: %v", err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the refused directory was changed:\n%s\nbefore:\n%s", after, before)
	}
}

// former starts a node on a directory below env.Base: as it is, and with its log alone. It is refused with the ways that lead to this
// version.
func former(t *testing.T, dir string, level uint32) {
	for _, about := range []string{"with snapshots", "with a log alone"} {
		before := listing(t, dir)
		_, err := cluster.Open(t.Context(), oldOptions(t, dir, func(reason string) { t.Errorf("the node must stop: %s", reason) }))
		if !errors.Is(err, fsm.ErrFormerLevel) || !strings.Contains(err.Error(), fmt.Sprintf("%s: its data is of feature level %d, which this version does not read: run version 0.2.0", dir, level)) {
			t.Fatalf("%s: a directory of an earlier level: %v", about, err)
		}
		if after := listing(t, dir); after != before {
			t.Errorf("%s: the refused directory was changed:\n%s\nbefore:\n%s", about, after, before)
		}
		if err := os.RemoveAll(filepath.Join(dir, "snapshots")); err != nil {
			t.Fatal(err)
		}
	}
}

// listing returns the names of a directory's files with the digests of their contents, without the lock.
func listing(t *testing.T, dir string) string {
	var all strings.Builder
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "raft.lock" {
			return err
		}
		b, err := os.ReadFile(name)
		fmt.Fprintf(&all, "%s %x\n", name, sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// recordDirectory writes the directory of a node of this binary's level: a snapshot, and a log after it.
func recordDirectory(t *testing.T) {
	dir := t.TempDir()
	c := &clustertest.Cluster{T: t}
	n, err := cluster.Open(t.Context(), oldOptions(t, dir, func(reason string) { t.Errorf("the node must stop: %s", reason) }))
	if err != nil {
		t.Fatal(err)
	}
	c.Nodes = []*cluster.Node{n}
	eventually(t, "the level is in force", func() bool { return n.Ready(context.Background()) && n.FeatureLevel() == uint32(fsm.MaxLevel) })
	for i := range compatKeys {
		if v, err := c.Write(0, "SET", fmt.Sprint("k", i), fmt.Sprint("v", i)); err != nil || v.IsError() {
			t.Fatal(v, err)
		}
		if i == compatKeys/2 {
			if err := n.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.StopAll()
	if err := os.MkdirAll(filepath.Join("testdata", "compat"), 0o755); err != nil {
		t.Fatal(err)
	}
	archive(t, dir, filepath.Join("testdata", "compat", fmt.Sprintf("level-%d.tar.gz", fsm.MaxLevel)))
}

// archive packs a directory, except the reserve, which holds nothing.
func archive(t *testing.T, dir, path string) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(d.Name(), "reserve") {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: rel, Mode: 0o600, Size: int64(len(b))}); err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
	if err := errors.Join(err, w.Close(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func untar(t *testing.T, path, dir string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		b, err := io.ReadAll(r)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, b, 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
}
