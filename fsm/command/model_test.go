package command

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// model is a keyspace as simple as can be.
type model struct {
	now  int64
	keys map[string]modelKey
}

type modelKey struct {
	text   string
	expire int64
}

func (m *model) find(key string) (modelKey, bool) {
	k, ok := m.keys[key]
	return k, ok && (k.expire == 0 || k.expire > m.now)
}

func (m *model) put(key, text string, expire int64) {
	m.keys[key] = modelKey{text, expire}
	if expire != 0 && expire <= m.now {
		delete(m.keys, key)
	}
}

func (m *model) live() []string {
	var live []string
	for key := range m.keys {
		if _, ok := m.find(key); ok {
			live = append(live, key)
		}
	}
	slices.Sort(live)
	return live
}

func intIf(b bool) reply.Value {
	if b {
		return reply.Int(1)
	}
	return reply.Int(0)
}

func bulkIf(k modelKey, ok bool) reply.Value {
	if !ok {
		return reply.Nil()
	}
	return reply.Bulk(k.text)
}

// move is one command with what the model says of it.
type modelMove func(t *rapid.T, m *model) (argv []string, want reply.Value)

func drawKey(t *rapid.T) string { return fmt.Sprint("k", rapid.IntRange(0, 12).Draw(t, "key")) }

func drawText(t *rapid.T) string {
	return rapid.OneOf(rapid.Map(rapid.Int64Range(-20, 20), func(n int64) string { return strconv.FormatInt(n, 10) }),
		rapid.StringN(0, 6, 10)).Draw(t, "text")
}

var modelMoves = map[string]modelMove{
	"set": func(t *rapid.T, m *model) ([]string, reply.Value) {
		key, text := drawKey(t), drawText(t)
		argv := []string{"SET", key, text}
		old, had := m.find(key)
		expire, get, write := int64(0), false, true
		switch rapid.IntRange(0, 5).Draw(t, "cond") {
		case 1:
			argv, write = append(argv, "NX"), !had
		case 2:
			argv, write = append(argv, "XX"), had
		case 3:
			match := drawText(t)
			argv, write = append(argv, "IFEQ", match), had && old.text == match
		case 4:
			match := drawText(t)
			argv, write = append(argv, "IFNE", match), !had || old.text != match
		}
		switch rapid.IntRange(0, 4).Draw(t, "time") {
		case 1:
			n := rapid.Int64Range(1, 50).Draw(t, "ms")
			argv, expire = append(argv, "PX", strconv.FormatInt(n, 10)), m.now+n
		case 2:
			n := m.now + rapid.Int64Range(-5, 50).Draw(t, "at")
			argv, expire = append(argv, "PXAT", strconv.FormatInt(n, 10)), n
		case 3:
			argv = append(argv, "KEEPTTL")
			if had {
				expire = old.expire
			}
		}
		if rapid.Bool().Draw(t, "get") {
			argv, get = append(argv, "GET"), true
		}
		if write {
			m.put(key, text, expire)
		}
		switch {
		case get:
			return argv, bulkIf(old, had)
		case write:
			return argv, reply.OK()
		}
		return argv, reply.Nil()
	},
	"get": func(t *rapid.T, m *model) ([]string, reply.Value) {
		key := drawKey(t)
		k, ok := m.find(key)
		return []string{"GET", key}, bulkIf(k, ok)
	},
	"incrby": func(t *rapid.T, m *model) ([]string, reply.Value) {
		key, n := drawKey(t), rapid.Int64Range(-5, 5).Draw(t, "n")
		argv := []string{"INCRBY", key, strconv.FormatInt(n, 10)}
		k, ok := m.find(key)
		old := int64(0)
		if ok {
			var err error
			if old, err = strconv.ParseInt(k.text, 10, 64); err != nil || strconv.FormatInt(old, 10) != k.text {
				return argv, ErrNotInteger
			}
		} else {
			k.expire = 0
		}
		m.put(key, strconv.FormatInt(old+n, 10), k.expire)
		return argv, reply.Int(old + n)
	},
	"append": func(t *rapid.T, m *model) ([]string, reply.Value) {
		key, text := drawKey(t), drawText(t)
		k, ok := m.find(key)
		if !ok {
			k = modelKey{}
		}
		m.put(key, k.text+text, k.expire)
		return []string{"APPEND", key, text}, reply.Int(int64(len(k.text + text)))
	},
	"setrange": func(t *rapid.T, m *model) ([]string, reply.Value) {
		key, text, offset := drawKey(t), drawText(t), rapid.IntRange(0, 8).Draw(t, "offset")
		argv := []string{"SETRANGE", key, strconv.Itoa(offset), text}
		k, ok := m.find(key)
		if !ok {
			k = modelKey{}
		}
		if text == "" {
			return argv, reply.Int(int64(len(k.text)))
		}
		b := []byte(k.text)
		for len(b) < offset+len(text) {
			b = append(b, 0)
		}
		copy(b[offset:], text)
		m.put(key, string(b), k.expire)
		return argv, reply.Int(int64(len(b)))
	},
	"getrange": func(t *rapid.T, m *model) ([]string, reply.Value) {
		key := drawKey(t)
		from, to := rapid.IntRange(-10, 10).Draw(t, "from"), rapid.IntRange(-10, 10).Draw(t, "to")
		k, ok := m.find(key)
		part := ""
		for i := range len(k.text) {
			above := i >= from && from >= 0 || from < 0 && i-len(k.text) >= from
			below := i <= to && to >= 0 || to < 0 && i-len(k.text) <= to
			if ok && above && below {
				part += k.text[i : i+1]
			}
		}
		return []string{"GETRANGE", key, strconv.Itoa(from), strconv.Itoa(to)}, reply.Bulk(part)
	},
	"del": func(t *rapid.T, m *model) ([]string, reply.Value) {
		a, b := drawKey(t), drawKey(t)
		n := int64(0)
		for _, key := range []string{a, b} {
			if _, ok := m.find(key); ok {
				n++
			}
			delete(m.keys, key)
		}
		return []string{"DEL", a, b}, reply.Int(n)
	},
	"exists": func(t *rapid.T, m *model) ([]string, reply.Value) {
		a, b := drawKey(t), drawKey(t)
		n := int64(0)
		for _, key := range []string{a, b} {
			if _, ok := m.find(key); ok {
				n++
			}
		}
		return []string{"EXISTS", a, b}, reply.Int(n)
	},
	"pexpire": func(t *rapid.T, m *model) ([]string, reply.Value) {
		key, ms := drawKey(t), rapid.Int64Range(-5, 60).Draw(t, "ms")
		flag := rapid.SampledFrom([]string{"", "NX", "XX", "GT", "LT"}).Draw(t, "flag")
		argv := []string{"PEXPIRE", key, strconv.FormatInt(ms, 10)}
		if flag != "" {
			argv = append(argv, flag)
		}
		k, ok := m.find(key)
		const never = int64(1) << 62
		old, at := k.expire, m.now+ms
		if old == 0 {
			old = never
		}
		set := ok && map[string]bool{"": true, "NX": old == never, "XX": old != never, "GT": at > old, "LT": at < old}[flag]
		if set {
			m.put(key, k.text, at)
		}
		return argv, intIf(set)
	},
	"pttl": func(t *rapid.T, m *model) ([]string, reply.Value) {
		key := drawKey(t)
		k, ok := m.find(key)
		switch {
		case !ok:
			return []string{"PTTL", key}, reply.Int(-2)
		case k.expire == 0:
			return []string{"PTTL", key}, reply.Int(-1)
		}
		return []string{"PTTL", key}, reply.Int(k.expire - m.now)
	},
	"persist": func(t *rapid.T, m *model) ([]string, reply.Value) {
		key := drawKey(t)
		k, ok := m.find(key)
		ok = ok && k.expire != 0
		if ok {
			m.put(key, k.text, 0)
		}
		return []string{"PERSIST", key}, intIf(ok)
	},
	"rename": func(t *rapid.T, m *model) ([]string, reply.Value) {
		from, to := drawKey(t), drawKey(t)
		k, ok := m.find(from)
		if !ok {
			return []string{"RENAME", from, to}, ErrNoKey
		}
		delete(m.keys, from)
		m.put(to, k.text, k.expire)
		return []string{"RENAME", from, to}, reply.OK()
	},
	"copy": func(t *rapid.T, m *model) ([]string, reply.Value) {
		from, to, replace := drawKey(t), drawKey(t), rapid.Bool().Draw(t, "replace")
		argv := []string{"COPY", from, to}
		if replace {
			argv = append(argv, "REPLACE")
		}
		if from == to {
			return argv, errSameObject
		}
		k, ok := m.find(from)
		if _, taken := m.find(to); taken && !replace {
			ok = false
		}
		if ok {
			m.put(to, k.text, k.expire)
		}
		return argv, intIf(ok)
	},
	"dbsize": func(t *rapid.T, m *model) ([]string, reply.Value) {
		return []string{"DBSIZE"}, reply.Int(int64(len(m.live())))
	},
	"flushall": func(t *rapid.T, m *model) ([]string, reply.Value) {
		if rapid.IntRange(0, 9).Draw(t, "rare") > 0 {
			return []string{"PING"}, reply.Status("PONG")
		}
		clear(m.keys)
		return []string{"FLUSHALL"}, reply.OK()
	},
}

func argvOf(words []string) [][]byte {
	argv := make([][]byte, len(words))
	for i, w := range words {
		argv[i] = []byte(w)
	}
	return argv
}

// TestAgainstModel runs random commands with time passing, sweeps, forks and
// restores between them, and compares every reply with a simple model's.
func TestAgainstModel(t *testing.T) {
	var names []string
	for name := range modelMoves {
		names = append(names, name)
	}
	slices.Sort(names)
	table := NewTable()
	rapid.Check(t, func(t *rapid.T) {
		m := &model{now: 1000, keys: map[string]modelKey{}}
		tx := &Tx{DB: keyspace.New(), User: acl.Default, Table: table}
		for i := range rapid.IntRange(1, 120).Draw(t, "commands") {
			m.now += rapid.SampledFrom([]int64{0, 0, 0, 1, 7, 30}).Draw(t, "pause")
			tx.Env = env.New(uint64(i+1), m.now, env.Latest, [16]byte{}, 0)
			switch rapid.IntRange(0, 15).Draw(t, "turn") {
			case 0:
				tx.DB.Sweep(tx.Env, 3)
			case 1:
				tx.DB = tx.DB.Fork()
			case 2:
				tx.DB = reloaded(t, tx.DB)
			}
			argv, want := modelMoves[rapid.SampledFrom(names).Draw(t, "command")](t, m)
			if got := tx.Exec(argvOf(argv)); !got.Equal(want) {
				t.Fatalf("%q: got %v, want %v", argv, got, want)
			}
		}
		checkKeys(t, tx, m)
		reloaded(t, tx.DB)
	})
}

// checkKeys compares what KEYS and a whole SCAN give with the model.
func checkKeys(t *rapid.T, tx *Tx, m *model) {
	var listed, scanned []string
	for _, k := range tx.Exec(argvOf([]string{"KEYS", "k*"})).Elems() {
		listed = append(listed, k.Text())
	}
	for cursor := "0"; ; {
		page := tx.Exec(argvOf([]string{"SCAN", cursor, "COUNT", "2", "MATCH", "k*"})).Elems()
		for _, k := range page[1].Elems() {
			scanned = append(scanned, k.Text())
		}
		if cursor = page[0].Text(); cursor == "0" {
			break
		}
	}
	slices.Sort(listed)
	slices.Sort(scanned)
	if live := m.live(); !slices.Equal(listed, live) || !slices.Equal(scanned, live) {
		t.Fatalf("KEYS %s, SCAN %s, want %s", strings.Join(listed, " "), strings.Join(scanned, " "), strings.Join(live, " "))
	}
}

// reloaded is db loaded from its own records: it must hold the same, and count the
// same memory.
func reloaded(t *rapid.T, db *keyspace.DB) *keyspace.DB {
	saved := func(db *keyspace.DB) (all []byte) {
		if err := db.Save(func(record []byte) error { all = append(append(all, byte(len(record))), record...); return nil }); err != nil {
			t.Fatalf("save: %v", err)
		}
		return all
	}
	l := keyspace.NewLoader()
	if err := db.Save(l.Add); err != nil {
		t.Fatalf("load: %v", err)
	}
	again, err := l.Finish()
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	if again.Used() != db.Used() || again.Len() != db.Len() || !bytes.Equal(saved(db), saved(again)) {
		t.Fatalf("loaded %d keys of %d, %d bytes of %d", again.Len(), db.Len(), again.Used(), db.Used())
	}
	return again
}

// TestScanMeetsEveryKeyThatStays adds and removes keys between the pages of a scan.
func TestScanMeetsEveryKeyThatStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tx := &Tx{Env: env.New(1, 1000, env.Latest, [16]byte{}, 0), DB: keyspace.New(), User: acl.Default, Table: NewTable()}
		stay := rapid.IntRange(0, 60).Draw(t, "stay")
		for i := range stay {
			tx.Exec(argvOf([]string{"SET", fmt.Sprint("stay", i), "v"}))
		}
		met := map[string]bool{}
		cursor, n := "0", 0
		for {
			page := tx.Exec(argvOf([]string{"SCAN", cursor, "COUNT", strconv.Itoa(rapid.IntRange(1, 9).Draw(t, "count"))})).Elems()
			for _, k := range page[1].Elems() {
				met[k.Text()] = true
			}
			if cursor = page[0].Text(); cursor == "0" {
				break
			}
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				n++
				tx.Exec(argvOf([]string{"SET", fmt.Sprint("new", n), "v"}))
				tx.Exec(argvOf([]string{"DEL", fmt.Sprint("new", n/2)}))
			}
			if n > 500 {
				break // the scan is outrun; what stays was met or is still ahead
			}
		}
		for i := range stay {
			if key := fmt.Sprint("stay", i); !met[key] && cursor == "0" {
				t.Fatalf("%s was never met", key)
			}
		}
	})
}
