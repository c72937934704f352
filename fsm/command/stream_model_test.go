package command_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// modelPending is an entry that is pending in the model.
type modelPending struct {
	consumer  string
	delivered int64
	count     int64
}

// modelGroup is a consumer group of the model. Its IDs are numbers: the sequence number
// of an entry, whose time is always 1.
type modelGroup struct {
	last    int
	pending map[int]modelPending
}

// modelStream is a stream as simple as can be.
type modelStream struct {
	now     int64
	next    int // the last number given
	entries map[int]string
	groups  map[string]*modelGroup
}

func (ms *modelStream) ids() []int { return slices.Sorted(maps.Keys(ms.entries)) }

func idOf(n int) reply.Value { return reply.Bulk(fmt.Sprint("1-", n)) }

func (ms *modelStream) entry(n int) reply.Value {
	return reply.Array(idOf(n), reply.Array(reply.Bulk("f"), reply.Bulk(ms.entries[n])))
}

// needed reports whether some group was not given an entry, or did not acknowledge it.
func (ms *modelStream) needed(n int) bool {
	for _, g := range ms.groups {
		if _, pending := g.pending[n]; pending || n > g.last {
			return true
		}
	}
	return false
}

func (ms *modelStream) forget(n int) {
	for _, g := range ms.groups {
		delete(g.pending, n)
	}
}

// trim removes entries of the head as a trim with that word does, until enough are gone.
func (ms *modelStream) trim(refs string, heads []int, most int) (n int) {
	for _, id := range heads {
		if n == most {
			break
		}
		if refs == "ACKED" && ms.needed(id) {
			continue
		}
		if refs == "DELREF" {
			ms.forget(id)
		}
		delete(ms.entries, id)
		n++
	}
	return n
}

func (ms *modelStream) group(t *rapid.T) (name string, g *modelGroup) {
	name = draw(t, "group", "g", "h")
	return name, ms.groups[name]
}

func drawNumber(t *rapid.T, m *modelStream) int {
	return rapid.IntRange(max(1, m.next-15), m.next+2).Draw(t, "id")
}

// refsOf draws a word about references; the empty one stands for KEEPREF.
func refsOf(t *rapid.T) string { return draw(t, "references", "", "KEEPREF", "DELREF", "ACKED") }

func withRefs(argv []string, refs string) []string {
	if refs != "" {
		argv = append(argv, refs)
	}
	return argv
}

type streamMove func(t *rapid.T, m *modelStream) (argv []string, want reply.Value)

var streamMoves = []streamMove{
	func(t *rapid.T, m *modelStream) ([]string, reply.Value) { // XADD, with and without a trim
		refs, keep := refsOf(t), rapid.IntRange(0, 20).Draw(t, "keep")
		argv := []string{"XADD", "s"}
		trims := rapid.Bool().Draw(t, "trims")
		if trims {
			argv = withRefs(append(argv, "MAXLEN", draw(t, "how", "=", "~"), fmt.Sprint(keep)), refs)
		}
		m.next++
		m.entries[m.next] = fmt.Sprint("v", m.next)
		argv = append(argv, fmt.Sprint("1-", m.next), "f", m.entries[m.next])
		if trims {
			m.trim(refs, m.ids(), max(len(m.entries)-keep, 0))
		}
		return argv, idOf(m.next)
	},
	func(t *rapid.T, m *modelStream) ([]string, reply.Value) { // XTRIM
		refs := refsOf(t)
		limit, argv, heads, most := 0, []string{"XTRIM", "s"}, m.ids(), 0
		approx := rapid.Bool().Draw(t, "approx")
		how := map[bool]string{true: "~", false: "="}[approx]
		if rapid.Bool().Draw(t, "by ID") {
			min := drawNumber(t, m)
			argv = append(argv, "MINID", how, fmt.Sprint("1-", min))
			heads = heads[:0]
			for _, id := range m.ids() {
				if id < min {
					heads = append(heads, id)
				}
			}
			most = len(heads)
		} else {
			keep := rapid.IntRange(0, 20).Draw(t, "keep")
			argv = append(argv, "MAXLEN", how, fmt.Sprint(keep))
			most = max(len(m.entries)-keep, 0)
		}
		if approx && rapid.Bool().Draw(t, "limited") {
			limit = rapid.IntRange(1, 5).Draw(t, "limit")
			argv, most = append(argv, "LIMIT", fmt.Sprint(limit)), min(most, limit)
		}
		return withRefs(argv, refs), reply.Int(int64(m.trim(refs, heads, most)))
	},
	func(t *rapid.T, m *modelStream) ([]string, reply.Value) { // XDEL
		id := drawNumber(t, m)
		before := len(m.entries)
		delete(m.entries, id)
		return []string{"XDEL", "s", fmt.Sprint("1-", id)}, reply.Int(int64(before - len(m.entries)))
	},
	func(t *rapid.T, m *modelStream) ([]string, reply.Value) { // XDELEX
		id, refs := drawNumber(t, m), refsOf(t)
		_, exists := m.entries[id]
		code := int64(-1)
		switch {
		case refs == "ACKED" && exists && m.needed(id):
			code = 2
		case exists:
			code = 1
			delete(m.entries, id)
		}
		if refs == "DELREF" {
			m.forget(id)
		}
		return append(withRefs([]string{"XDELEX", "s"}, refs), "IDS", "1", fmt.Sprint("1-", id)), reply.Array(reply.Int(code))
	},
	func(t *rapid.T, m *modelStream) ([]string, reply.Value) { // XACKDEL
		id, refs := drawNumber(t, m), refsOf(t)
		name, g := m.group(t)
		argv := append(withRefs([]string{"XACKDEL", "s", name}, refs), "IDS", "1", fmt.Sprint("1-", id))
		if g == nil {
			return argv, reply.Array(reply.Int(-1))
		}
		if _, pending := g.pending[id]; !pending {
			return argv, reply.Array(reply.Int(-1))
		}
		delete(g.pending, id)
		if _, exists := m.entries[id]; exists && refs == "ACKED" && m.needed(id) {
			return argv, reply.Array(reply.Int(2))
		}
		if delete(m.entries, id); refs == "DELREF" {
			m.forget(id)
		}
		return argv, reply.Array(reply.Int(1))
	},
	func(t *rapid.T, m *modelStream) ([]string, reply.Value) { // XRANGE and XREVRANGE
		from, to := drawNumber(t, m), drawNumber(t, m)
		count := rapid.IntRange(1, 9).Draw(t, "count")
		found := []reply.Value{}
		for _, id := range m.ids() {
			if from <= id && id <= to {
				found = append(found, m.entry(id))
			}
		}
		argv := []string{"XRANGE", "s", fmt.Sprint("1-", from), fmt.Sprint("1-", to), "COUNT", fmt.Sprint(count)}
		if rapid.Bool().Draw(t, "backwards") {
			argv = []string{"XREVRANGE", "s", argv[3], argv[2], "COUNT", argv[5]}
			slices.Reverse(found)
		}
		return argv, reply.Array(found[:min(count, len(found))]...)
	},
	func(t *rapid.T, m *modelStream) ([]string, reply.Value) { // XGROUP CREATE and DESTROY
		name, g := m.group(t)
		if g != nil {
			if rapid.IntRange(0, 5).Draw(t, "rare") > 0 {
				return []string{"XGROUP", "CREATE", "s", name, "0", "MKSTREAM"}, reply.Error("BUSYGROUP Consumer Group name already exists")
			}
			delete(m.groups, name)
			return []string{"XGROUP", "DESTROY", "s", name}, reply.Int(1)
		}
		last := drawNumber(t, m)
		m.groups[name] = &modelGroup{last, map[int]modelPending{}}
		return []string{"XGROUP", "CREATE", "s", name, fmt.Sprint("1-", last), "MKSTREAM"}, reply.OK()
	},
	readNew, readNew, // XREADGROUP
	func(t *rapid.T, m *modelStream) ([]string, reply.Value) { // XREADGROUP of a consumer's own
		name, g := m.group(t)
		consumer, from := draw(t, "consumer", "ann", "bob"), drawNumber(t, m)
		argv := []string{"XREADGROUP", "GROUP", name, consumer, "STREAMS", "s", fmt.Sprint("1-", from)}
		if g == nil {
			return argv, noModelGroup(name, " in XREADGROUP with GROUP option")
		}
		found := []reply.Value{}
		for _, id := range slices.Sorted(maps.Keys(g.pending)) {
			p := g.pending[id]
			if p.consumer != consumer || id <= from {
				continue
			}
			if _, exists := m.entries[id]; !exists {
				found = append(found, reply.Array(idOf(id), reply.NilArray()))
				continue
			}
			g.pending[id] = modelPending{consumer, m.now, p.count + 1}
			found = append(found, m.entry(id))
		}
		return argv, reply.Keyed(reply.Bulk("s"), reply.Array(found...))
	},
	func(t *rapid.T, m *modelStream) ([]string, reply.Value) { // XACK
		name, g := m.group(t)
		argv, n := []string{"XACK", "s", name}, int64(0)
		for range rapid.IntRange(1, 4).Draw(t, "ids") {
			id := drawNumber(t, m)
			argv = append(argv, fmt.Sprint("1-", id))
			if g != nil {
				if _, pending := g.pending[id]; pending {
					delete(g.pending, id)
					n++
				}
			}
		}
		return argv, reply.Int(n)
	},
	claimSome, // XCLAIM
	func(t *rapid.T, m *modelStream) ([]string, reply.Value) { // XAUTOCLAIM
		name, g := m.group(t)
		consumer, from, idle := draw(t, "consumer", "ann", "bob"), drawNumber(t, m), rapid.Int64Range(0, 20).Draw(t, "idle")
		count := rapid.IntRange(1, 5).Draw(t, "count")
		argv := []string{"XAUTOCLAIM", "s", name, consumer, fmt.Sprint(idle), fmt.Sprint("1-", from), "COUNT", fmt.Sprint(count)}
		if g == nil {
			return argv, noModelGroup(name, "")
		}
		next, taken, gone, looked := reply.Bulk("0-0"), []reply.Value{}, []reply.Value{}, 0
		for _, id := range slices.Sorted(maps.Keys(g.pending)) {
			if id < from {
				continue
			}
			if looked == 10*count || len(taken)+len(gone) == count {
				next = idOf(id)
				break
			}
			looked++
			p := g.pending[id]
			if _, exists := m.entries[id]; !exists {
				delete(g.pending, id)
				gone = append(gone, idOf(id))
			} else if m.now-p.delivered >= idle {
				g.pending[id] = modelPending{consumer, m.now, p.count + 1}
				taken = append(taken, m.entry(id))
			}
		}
		return argv, reply.Array(next, reply.Array(taken...), reply.Array(gone...))
	},
	func(t *rapid.T, m *modelStream) ([]string, reply.Value) { // XPENDING
		name, g := m.group(t)
		if g == nil {
			return []string{"XPENDING", "s", name, "-", "+", "99"}, noModelGroup(name, "")
		}
		consumer, found := draw(t, "consumer", "ann", "bob"), []reply.Value{}
		for _, id := range slices.Sorted(maps.Keys(g.pending)) {
			if p := g.pending[id]; p.consumer == consumer {
				found = append(found, reply.Array(idOf(id), reply.Bulk(consumer), reply.Int(m.now-p.delivered), reply.Int(p.count)))
			}
		}
		return []string{"XPENDING", "s", name, "-", "+", "999", consumer}, reply.Array(found...)
	},
}

func noModelGroup(name, where string) reply.Value {
	return reply.Error("NOGROUP No such key 's' or consumer group '" + name + "'" + where)
}

func readNew(t *rapid.T, m *modelStream) ([]string, reply.Value) {
	name, g := m.group(t)
	consumer, count, ack := draw(t, "consumer", "ann", "bob"), rapid.IntRange(1, 9).Draw(t, "count"), rapid.IntRange(0, 3).Draw(t, "ack") > 0
	argv := []string{"XREADGROUP", "GROUP", name, consumer, "COUNT", fmt.Sprint(count)}
	if !ack {
		argv = append(argv, "NOACK")
	}
	argv = append(argv, "STREAMS", "s", ">")
	if g == nil {
		return argv, noModelGroup(name, " in XREADGROUP with GROUP option")
	}
	var found []reply.Value
	for _, id := range m.ids() {
		if id <= g.last || len(found) == count {
			continue
		}
		g.last = id
		found = append(found, m.entry(id))
		if ack {
			g.pending[id] = modelPending{consumer, m.now, 1}
		}
	}
	if found == nil {
		return argv, reply.NilArray()
	}
	return argv, reply.Keyed(reply.Bulk("s"), reply.Array(found...))
}

func claimSome(t *rapid.T, m *modelStream) ([]string, reply.Value) {
	name, g := m.group(t)
	consumer, idle := draw(t, "consumer", "ann", "bob"), rapid.Int64Range(0, 20).Draw(t, "idle")
	force, justID := rapid.Bool().Draw(t, "force"), rapid.Bool().Draw(t, "just ID")
	argv, found := []string{"XCLAIM", "s", name, consumer, fmt.Sprint(idle)}, []reply.Value{}
	for range rapid.IntRange(1, 4).Draw(t, "ids") {
		id := drawNumber(t, m)
		argv = append(argv, fmt.Sprint("1-", id))
		if g == nil {
			continue
		}
		p, pending := g.pending[id]
		_, exists := m.entries[id]
		switch {
		case !exists:
			delete(g.pending, id)
			continue
		case !pending && !force, pending && m.now-p.delivered < idle:
			continue
		case !pending:
			p.count = 1
		}
		if !justID {
			p.count++
			found = append(found, m.entry(id))
		} else {
			found = append(found, idOf(id))
		}
		g.pending[id] = modelPending{consumer, m.now, p.count}
	}
	for word, given := range map[string]bool{"FORCE": force, "JUSTID": justID} {
		if given {
			argv = append(argv, word)
		}
	}
	if g == nil {
		return argv, noModelGroup(name, "")
	}
	return argv, reply.Array(found...)
}

// checkLag compares what is told of groups with the model: a lag that is known must be
// the number of entries that the group was not given.
func checkLag(t *rapid.T, tx *command.Tx, m *modelStream) {
	v := tx.Exec([][]byte{[]byte("XINFO"), []byte("GROUPS"), []byte("s")})
	if v.IsError() {
		if !strings.Contains(v.Text(), "no such key") {
			t.Fatal(v.Text())
		}
		return
	}
	for _, group := range v.Elems() {
		told := map[string]reply.Value{}
		for i := 0; i < len(group.Elems()); i += 2 {
			told[group.Elems()[i].Text()] = group.Elems()[i+1]
		}
		g := m.groups[told["name"].Text()]
		ahead := int64(0)
		for id := range m.entries {
			if id > g.last {
				ahead++
			}
		}
		if told["pending"].Int() != int64(len(g.pending)) || told["lag"].Kind() == reply.KindInt && told["lag"].Int() != ahead {
			t.Fatalf("%s\nwant %d pending, lag %d", scripttest.Print(group), len(g.pending), ahead)
		}
	}
}

// TestStreamsAgainstModel runs random commands with time passing, forks and restores
// between them, and compares every reply with a simple model's.
func TestStreamsAgainstModel(t *testing.T) {
	table := command.NewTable()
	rapid.Check(t, func(t *rapid.T) {
		m := &modelStream{now: 1000, entries: map[int]string{}, groups: map[string]*modelGroup{}}
		tx := &command.Tx{DB: keyspace.New(), User: acl.Default, Table: table}
		for i := range rapid.IntRange(1, 120).Draw(t, "commands") {
			m.now += rapid.SampledFrom([]int64{0, 0, 1, 7}).Draw(t, "pause")
			tx.Env = env.New(uint64(i+1), m.now, env.Latest, [16]byte{byte(i)}, 0)
			switch rapid.IntRange(0, 15).Draw(t, "turn") {
			case 1:
				tx.DB = tx.DB.Fork()
			case 2:
				tx.DB = restored(t, tx.DB)
			}
			move := streamMoves[0]
			if m.next > 0 && rapid.IntRange(0, 2).Draw(t, "add") > 0 {
				move = rapid.SampledFrom(streamMoves).Draw(t, "move")
			}
			words, want := move(t, m)
			argv := make([][]byte, len(words))
			for j, w := range words {
				argv[j] = []byte(w)
			}
			if got := scripttest.Print(tx.Exec(argv)); got != scripttest.Print(want) {
				t.Fatalf("%q:\ngot:\n%s\nwant:\n%s", words, got, scripttest.Print(want))
			}
			checkLag(t, tx, m)
		}
	})
}
