package fsm_test

import (
	"bytes"
	"encoding/binary"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/dedup"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// declaredSections are the codes of the sections of snapshots, by their names in the source.
func declaredSections(t *testing.T) map[string]byte {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "snapshot.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]byte{}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 || !strings.HasPrefix(v.Names[0].Name, "section") {
			return true
		}
		code, err := strconv.ParseUint(v.Values[0].(*ast.BasicLit).Value, 10, 8)
		if err != nil {
			t.Fatal(err)
		}
		all[v.Names[0].Name] = byte(code)
		return true
	})
	return all
}

// recordsOf counts the bytes of each section of a snapshot.
func recordsOf(t *testing.T, snapshot []byte) map[byte]int {
	t.Helper()
	n := map[byte]int{}
	for b := snapshot[len("TRIREME\n"):]; len(b) > 0; {
		size := int(binary.LittleEndian.Uint32(b[1:]))
		n[b[0]] += size
		b = b[9+size:]
	}
	return n
}

// TestEverySectionIsWritten fills the state part by part. Each change has to show in the digest, in the section of a snapshot that
// is declared for it, and in the machine that is restored from that.
func TestEverySectionIsWritten(t *testing.T) {
	c := newTenants(t, 71)
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	trusted := func(words ...string) func() {
		return func() {
			var argv [][]byte
			for _, w := range words {
				argv = append(argv, []byte(w))
			}
			b := fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{argv}}
			if words[0] == "INCR" {
				b.Retry = fsm.Idempotency{ID: "id", Hash: dedup.Digest{1}}
			}
			out, err := propose(c.deliverer, fsm.Exec, b)
			if must(nil, err); out.Values[0].IsError() {
				t.Fatal(words, out.Values[0].Text())
			}
		}
	}
	changes := map[string]func(){
		"sectionMeta": func() {
			must(propose(c.deliverer, fsm.Configure, fsm.Settings{MaxMemory: 1 << 40, DailyLimit: 1 << 40}))
		},
		"sectionSessions": func() {
			must(propose(c.deliverer, fsm.Register, fsm.Registration{Node: "n9", Disk: "d9", Boot: 1}))
		},
		"sectionDatabase": func() { c.create("c") },
		"sectionUsers":    trusted("ACL", "SETUSER", "someone", "on", ">secret"),
		"sectionKeys":     trusted("SET", "k", "v"),
		"sectionScripts":  trusted("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)"),
		"sectionNodes":    func() { must(propose(c.deliverer, fsm.AdmitNode, fsm.NodeRecord{Node: "n9", Disk: "d9"})) },
		"sectionRetries":  trusted("INCR", "n"),
		"sectionChannels": func() {
			must(propose(c.deliverer, fsm.Subscribe, fsm.Subscribers{Hub: 1, Serial: 1, Counts: []fsm.SubscriberCount{{Ref: channel.Ref{DB: "default", Name: "news"}, Count: 2}}}))
		},
		"sectionMessages":  func() { c.publish("", url("default")) },
		"sectionWorkflows": func() { must(propose(c.deliverer, fsm.Submit, oneRun())) },
		"sectionTenant":    func() { c.create("d") },
		"sectionTenantMessages": func() {
			p := queue.Publication{URL: "http://a.test"}
			p.Delay, p.Given = 1000, queue.GivenDelay
			c.publish("a", p)
		},
		"sectionTenantWorkflows": func() { must(proposeIn(c, "a", c.number("a"), fsm.Submit, oneRun())) },
		"sectionSearch":          trusted("SEARCH.CREATE", "i", "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA", "t", "TEXT"),
		"sectionEnded": func() {
			must(propose(c.deliverer, fsm.EndSession, fsm.EndedSession{ID: "signed-out", Until: c.l.now + 3_600_000}))
		},
		"sectionFragments": func() {
			e, err := fsm.DecodeEntry(c.l.entry(c.l.request(c.l.batch())))
			must(nil, err)
			first, _ := inFragments(e, c.l.term)
			c.apply(first)
		},
		"sectionQuarantine": func() {
			for _, m := range []*fsm.Machine{c.a, c.b} {
				if !m.Isolate(fsm.QuarantineOrder{Database: "b", Number: c.number("b"), Index: 1}) {
					t.Fatal("there is no database b")
				}
			}
		},
		"sectionStage":      nil, // into an empty state alone: below
		"sectionReferences": nil, // only where payloads are in files: TestReferencesBelongToRecords
	}
	for name, code := range declaredSections(t) { // unordered: each change is compared with the state before it
		if name == "sectionHeader" || name == "sectionEnd" {
			continue
		}
		change, known := changes[name]
		if !known {
			t.Errorf("%s is declared, and no change is known that it is written for", name)
		}
		if change == nil {
			continue
		}
		before := saved(t, c.a)
		digest := c.a.Fork().Digest()
		change()
		after := saved(t, c.a)
		if recordsOf(t, after)[code] <= recordsOf(t, before)[code] {
			t.Errorf("%s is of %d bytes, before the change of %d", name, recordsOf(t, after)[code], recordsOf(t, before)[code])
		}
		again := restored(t, c.a)
		if d := c.a.Fork().Digest(); d == digest || again.Fork().Digest() != d {
			t.Errorf("%s: the digest does not show the change, or is another one in the state of the snapshot", name)
		}
		if !bytes.Equal(saved(t, again), after) {
			t.Errorf("%s: the snapshot of the restored state is another one", name)
		}
	}
	restored(t, c.a).View(c.l.now, [16]byte{}, func(v *fsm.View) {
		if !v.SessionEnded("signed-out") || v.SessionEnded("another") {
			t.Error("a snapshot forgets which sessions of the console were signed out")
		}
	})

	// What is read may not alias the memory that the next frame is read into: an early frame is so large that all later ones are read into
	// its memory, and the last one overwrites what was read before.
	trusted("SET", "large", strings.Repeat("a", 64<<10))()
	last := fsm.Fragment{Term: c.l.term, Total: 1 << 20, Bytes: bytes.Repeat([]byte{0xff}, 60<<10)}
	c.l.index++
	c.apply(last.Encode())
	if again := restored(t, c.a); !bytes.Equal(saved(t, again), saved(t, c.a)) {
		t.Error("what was read of a snapshot changes with its later frames")
	}

	staging := empty(t, 72)
	before := recordsOf(t, saved(t, staging.a))
	staging.bring("r1", []byte("the first part"), 100)
	if code := declaredSections(t)["sectionStage"]; recordsOf(t, saved(t, staging.a))[code] <= before[code] {
		t.Error("a backup that is coming in is not in the snapshot")
	}
	if restored(t, staging.a).Fork().Digest() != staging.same() {
		t.Error("a backup that is coming in is another one in the state of the snapshot")
	}
}

// saved is the machine's snapshot.
func saved(t *testing.T, m *fsm.Machine) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Fork().Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
