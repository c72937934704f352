package command_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// TestSettingsTravel writes what CONFIG SET changed into a record and reads it back; what was not
// changed takes no bytes, so that old records stay as they are.
func TestSettingsTravel(t *testing.T) {
	r, now := newReplica(t), int64(scripttest.Start)
	for _, line := range []string{"CONFIG SET hash-max-ziplist-entries 3 stream-node-max-entries 0", "CONFIG SET slowlog-log-slower-than -1 slowlog-max-len 5"} {
		if v := r.run(now, stepOf(inWords(line))); v.Text() != "OK" {
			t.Fatalf("%s: %s", line, v.Text())
		}
	}
	var w wire.Writer
	(&command.Config{}).EncodeSettings(&w)
	if len(w.B) != 0 {
		t.Errorf("settings that are as they were take %d bytes", len(w.B))
	}
	var bad command.Config
	bad.DecodeSettings(wire.NewReader([]byte{0xff, 0xff, 3, 9, 7, 0x8f, 3, 6, 0x80}))
	if got := bad.Thresholds(); got != (&command.Config{}).Thresholds() {
		t.Errorf("a record without sense became %+v", got)
	}
}

// TestEncodingThresholds asks for the form of values while the thresholds change.
func TestEncodingThresholds(t *testing.T) {
	r, now := newReplica(t), int64(scripttest.Start)
	for _, c := range [][2]string{
		{"HSET h a 1 b 2", ""}, {"ZADD z 1 a 2 bbbb", ""}, {"SADD i 1 2 3", ""}, {"SADD s a", ""}, {"RPUSH l a", ""},
		{"OBJECT ENCODING h", "listpack"}, {"OBJECT ENCODING z", "listpack"}, {"OBJECT ENCODING i", "intset"}, {"OBJECT ENCODING s", "hashtable"}, {"OBJECT ENCODING l", "quicklist"},
		{"CONFIG SET hash-max-listpack-entries 1 zset-max-ziplist-value 3 set-max-intset-entries 2", "OK"},
		{"OBJECT ENCODING h", "hashtable"}, {"OBJECT ENCODING z", "skiplist"}, {"OBJECT ENCODING i", "hashtable"},
		{"CONFIG SET hash-max-listpack-entries 2 zset-max-ziplist-value 4 set-max-intset-entries 3", "OK"},
		{"OBJECT ENCODING h", "listpack"}, {"OBJECT ENCODING z", "listpack"}, {"OBJECT ENCODING i", "intset"},
		{"CONFIG SET zset-max-listpack-entries 1 hash-max-ziplist-value 0", "OK"}, {"OBJECT ENCODING z", "skiplist"}, {"OBJECT ENCODING h", "hashtable"},
	} {
		if v := r.run(now, stepOf(inWords(c[0]))); c[1] != "" && v.Text() != c[1] {
			t.Errorf("%s: %s, want %s", c[0], v.Text(), c[1])
		}
	}
}

// TestFidelityOfNodes compares approximate trims of streams with a real server, for nodes of several
// sizes, with limits, exact trims and deletions at the head between them.
func TestFidelityOfNodes(t *testing.T) {
	real, ours, now := startRedis(t), newReplica(t), int64(scripttest.Start)
	real.setClock(now)
	random := rand.New(rand.NewPCG(*fidelitySeed, 21))
	for range 60 {
		nodes, n := [...]string{"1", "2", "7", "100"}[random.IntN(4)], 1+random.IntN(350)
		lines := []string{"DEL x", "CONFIG SET stream-node-max-entries " + nodes}
		for i := range n {
			lines = append(lines, "XADD x "+strconv.Itoa(i+1)+"-1 f v")
		}
		for range 5 {
			limit := [...]string{"", "", " LIMIT 0", " LIMIT 1", " LIMIT 10", " LIMIT 150"}[random.IntN(6)]
			m := strconv.Itoa(random.IntN(n + 5))
			lines = append(lines, [...]string{"XTRIM x MAXLEN ~ " + m + limit, "XTRIM x MINID ~ " + m + limit, "XADD x MAXLEN ~ " + m + limit + " * f v", "XTRIM x MAXLEN " + m, "XDEL x 1-1 2-1"}[random.IntN(5)], "XLEN x", "XRANGE x - + COUNT 1")
		}
		for i, line := range lines {
			s := stepOf(inWords(line))
			if we, they := scripttest.Print(ours.run(now, s)), scripttest.Print(real.do(s.Argv...)); we != they {
				t.Fatalf("nodes of %s, %d entries, %s: we answer %s, Redis %s", nodes, n, strings.Join(lines[n+2:i+1], "; "), we, they)
			}
		}
	}
	real.do(inWords("CONFIG SET stream-node-max-entries 100")...)
}

// TestFreedInBackground counts what UNLINK and FLUSHALL ASYNC free, as Redis does: great values
// and all keys, never packed ones.
func TestFreedInBackground(t *testing.T) {
	r, now := newReplica(t), int64(scripttest.Start)
	run := func(line string) string { return r.run(now, stepOf(inWords(line))).Text() }
	freed := func() string {
		_, rest, _ := strings.Cut(run("INFO memory"), "lazyfreed_objects:")
		n, _, _ := strings.Cut(rest, "\r")
		return n
	}
	members := strings.Repeat(" ", 1)
	for i := range 200 {
		members += " m" + strconv.Itoa(i)
	}
	for _, c := range [][2]string{
		{"SADD s" + members, "0"}, {"SET k v", "0"}, {"UNLINK k", "0"}, {"DEL s", "0"}, {"SADD s" + members, "0"}, {"UNLINK s none", "1"},
		{"MSET a 1 b 2", "1"}, {"FLUSHALL", "1"}, {"MSET a 1 b 2", "1"}, {"FLUSHALL ASYNC", "3"}, {"FLUSHDB SYNC", "3"},
	} {
		run(c[0])
		if got := freed(); got != c[1] {
			t.Errorf("after %.20s: %s objects, want %s", c[0], got, c[1])
		}
	}
}
