package logstore

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

// mapped is how many bytes of a file are in this process's memory. It skips the test where the system does not tell.
func mapped(t *testing.T, path string) (bytes int) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	ours := false
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		switch {
		case len(fields) > 1 && strings.Contains(fields[0], "-"):
			ours = fields[len(fields)-1] == path
		case ours && fields[0] == "Rss:":
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			bytes += kib << 10
		}
	}
	return bytes
}

// TestMemoryIsGivenBack: what was read of the database's file does not stay in memory after a write or a deletion, and
// can be read again.
func TestMemoryIsGivenBack(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir()) // as the system shows it
	if err != nil {
		t.Fatal(err)
	}
	path := dbPath(dir)
	d, err := openDatabase(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.db == nil {
		t.Fatal("the store's database was not found")
	}
	const entries, size, limit = 64, 256 << 10, 2 << 20
	data := strings.Repeat("x", size)
	store := func(from, n int) {
		t.Helper()
		for i := from; i < from+n; i++ {
			if err := d.StoreLog(&raft.Log{Index: uint64(i), Data: []byte(data)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	readAll := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			var l raft.Log
			if err := d.GetLog(uint64(i), &l); err != nil || string(l.Data) != data {
				t.Fatal(fmt.Errorf("entry %d: %d bytes, %w", i, len(l.Data), err))
			}
		}
		if n := mapped(t, path); n < (to-from)*size {
			t.Fatalf("%d bytes are in memory after %d were read: the test can't see them", n, (to-from)*size)
		}
	}
	store(1, entries)
	readAll(1, entries+1)
	store(entries+1, giveBackEvery/size)
	if n := mapped(t, path); n > limit {
		t.Errorf("%d bytes are in memory after writes", n)
	}
	readAll(1, entries+1)
	if err := d.DeleteRange(1, 8); err != nil {
		t.Fatal(err)
	}
	if n := mapped(t, path); n > limit {
		t.Errorf("%d bytes are in memory after a deletion", n)
	}
	readAll(9, entries+1)
}
