package cluster

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestIdentityNoticesEveryFlippedBit flips every bit of the file in turn: each must be
// refused or change nothing.
func TestIdentityNoticesEveryFlippedBit(t *testing.T) {
	dir := t.TempDir()
	id, err := loadIdentity(dir, "n1")
	if err != nil {
		t.Fatal(err)
	}
	id.ClusterID, id.Disks = "c", map[string]string{"n1": id.DiskID}
	if err := id.boot(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, identityFile))
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for bit := range 8 * len(good) {
		bad := append([]byte(nil), good...)
		bad[bit/8] ^= 1 << (bit % 8)
		got, err := decodeIdentity(bad)
		if err != nil {
			refused++
			continue
		}
		got.dir = dir
		if !reflect.DeepEqual(got, id) {
			t.Fatalf("bit %d flipped: read as %+v", bit, got)
		}
	}
	if refused < 8*len(good)/2 {
		t.Fatalf("only %d of %d flips were refused", refused, 8*len(good))
	}
	if again, err := readIdentity(dir, "n1"); err != nil || !reflect.DeepEqual(again, id) {
		t.Fatalf("the untouched file is read as %+v, %v", again, err)
	}
}
