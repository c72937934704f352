package fsm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/rdb"
)

// bomb is a payload of RESTORE that is a string of so many equal bytes, packed 88 times shorter.
func bomb(size int) string {
	var packed []byte
	packed = append(packed, 0, 'x')
	left := size - 1
	for ; left >= 264+3; left -= 264 {
		packed = append(packed, 7<<5, 255, 0)
	}
	for ; left > 0; left -= min(left, 32) {
		n := min(left, 32)
		packed = append(append(packed, byte(n-1)), bytes.Repeat([]byte{'x'}, n)...)
	}
	b := []byte{byte(rdb.TypeString), 0xC3, 0x80}
	b = binary.BigEndian.AppendUint32(b, uint32(len(packed)))
	b = binary.BigEndian.AppendUint32(append(b, 0x80), uint32(size))
	return string(rdb.Frame(append(b, packed...)))
}

// TestOvershoot fills a database to just below --max-memory. A command that would exceed it by more than a hundredth is
// undone, whatever makes it large: its arguments, what it copies, what a packed payload becomes, a script.
func TestOvershoot(t *testing.T) {
	const limit = 10 << 20
	d := newDatabases(t)
	d.propose(fsm.SetLevel.Code, fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel}))
	as := acl.Trusted(acl.DefaultName)
	d.run(as, "SET", "big", strings.Repeat("x", 4<<20))
	d.run(as, "SET", "rest", strings.Repeat("x", 5<<20+800<<10))
	d.run(as, "RPUSH", "list", "a")
	d.propose(fsm.Configure.Code, fsm.Configure.Body(fsm.Settings{MaxMemory: limit}))
	used := func() (bytes int64) {
		d.m.View(0, [16]byte{}, func(v *fsm.View) { _, bytes = v.Usage() })
		return bytes
	}
	before := used()
	if before > limit || before < limit-limit/20 {
		t.Fatalf("%d bytes of %d", before, limit)
	}
	for _, argv := range [][]string{
		{"SET", "new", strings.Repeat("y", 1<<20)},
		{"COPY", "big", "copy"},
		{"SETRANGE", "far", "2000000", "x"},
		{"BITOP", "NOT", "not", "big"},
		{"RESTORE", "packed", "0", bomb(8 << 20)},
		append([]string{"RPUSH", "list"}, strings.Split(strings.Repeat("element ", 100_000), " ")...),
		{"EVAL", "redis.call('SET', 'new', string.rep('y', 1048576)) return 1", "0"},
		{"EVAL", "for i = 1, 100000 do redis.call('RPUSH', 'list', string.rep('y', 1000)) end", "0"},
	} {
		got, _ := d.run(as, argv...)
		if !strings.Contains(got, "capacity quota exceeded") && !strings.Contains(got, "OOM") {
			t.Errorf("%s: %.80q", argv[0], got)
		}
		if now := used(); now > limit+limit/100+4096 {
			t.Errorf("%s: %d bytes of %d", argv[0], now, limit)
		}
		d.run(as, "LTRIM", "list", "0", "0")
	}
	var keys int
	d.m.View(0, [16]byte{}, func(v *fsm.View) { keys, _ = v.Usage() })
	if keys != 3 || used() > before+1024 {
		t.Errorf("%d keys and %d bytes more, after what was undone", keys, used()-before)
	}
	if got, _ := d.run(as, "SET", "small", strings.Repeat("y", 50_000)); got != "OK" {
		t.Errorf("a small one: %q", got)
	}
}

// TestBackupBomb reads a backup of few bytes that unpacks to many: a reader that has less room refuses it, before it
// has taken that much memory.
func TestBackupBomb(t *testing.T) {
	d := newDatabases(t)
	for _, key := range []string{"a", "b", "c", "d"} {
		if got, _ := d.run(acl.Trusted(acl.DefaultName), "SET", key, strings.Repeat("x", 32<<20)); got != "OK" {
			t.Fatal(got)
		}
	}
	file, made := backup(t, d.m)
	if len(file) > 1<<20 {
		t.Fatalf("%d bytes are no bomb", len(file))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := fsm.VerifyBackup(bytes.NewReader(file), 8<<20, nil)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, fsm.ErrBackupLarge) || grown > 100<<20 {
		t.Errorf("%v, after %d MiB", err, grown>>20)
	}
	if b, _, err := fsm.VerifyBackup(bytes.NewReader(file), 1<<30, nil); err != nil || b != made {
		t.Errorf("with room: %v", err)
	}
}
