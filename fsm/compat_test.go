package fsm_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

var writeCompat = flag.Bool("compat.write", false, "write testdata/compat for this binary's feature level anew")

// compatDir holds what earlier versions have written, one set a feature level
// (docs/upgrading.md has the recipe).
var compatDir = filepath.Join("testdata", "compat")

// compatFacts describe the state that a log led to when it was recorded.
type compatFacts struct {
	Level   env.Level `json:"level"`
	Entries int       `json:"entries"`
	// Middle is the index of the snapshot; the digests are those there and at the end.
	Middle       uint64 `json:"middle"`
	MiddleDigest string `json:"middleDigest"`
	Digest       string `json:"digest"`
}

// TestCompatibility: what earlier versions have written is followed to the same state: the
// log from its beginning, and a snapshot with the rest of the log.
func TestCompatibility(t *testing.T) {
	if *writeCompat {
		record(t)
	}
	refusedLog(t)
	files, err := filepath.Glob(filepath.Join(compatDir, "level-*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing of earlier versions: %v, %v", files, err)
	}
	for _, f := range files {
		if base := strings.TrimSuffix(f, ".json"); filepath.Base(base) != formerFixture {
			t.Run(filepath.Base(f), func(t *testing.T) { followed(t, base) })
		}
	}
}

// formerFixture names the files of version 0.1.0, whose level is below env.Base.
const formerFixture = "level-1"

// refusedLog: what version 0.1.0 has written, its log from the beginning and a snapshot, is refused by the sentence that names the
// ways to this version.
func refusedLog(t *testing.T) {
	base := filepath.Join(compatDir, formerFixture)
	if err := fsm.NewMachine().Restore(bytes.NewReader(unzip(t, base+".snapshot.gz"))); !errors.Is(err, fsm.ErrFormerLevel) {
		t.Errorf("a snapshot of level 1: got %v, want %v", err, fsm.ErrFormerLevel)
	}
	m := fsm.NewMachine()
	for _, e := range readEntries(t, base+".log.gz") {
		if _, err := m.Apply(e.index, e.term, e.data); err != nil {
			if level, founds := fsm.FoundedAt(e.data); !errors.Is(err, fsm.ErrFormerLevel) || !founds || level >= env.Base {
				t.Errorf("entry %d of level 1: got %v, want %v for the entry that founds the cluster", e.index, err, fsm.ErrFormerLevel)
			}
			m.View(0, [16]byte{}, func(v *fsm.View) {
				if id := v.ClusterID(); id != "" {
					t.Errorf("the refused entry has founded the cluster %s", id)
				}
			})
			return
		}
	}
	t.Error("a log of level 1 is applied")
}

func followed(t *testing.T, base string) {
	var facts compatFacts
	text, err := os.ReadFile(base + ".json")
	if err == nil {
		err = json.Unmarshal(text, &facts)
	}
	if err != nil {
		t.Fatal(err)
	}
	entries := readEntries(t, base+".log.gz")
	snapshot := unzip(t, base+".snapshot.gz")
	if level, err := fsm.SnapshotLevel(bytes.NewReader(snapshot)); err != nil || level != facts.Level {
		t.Errorf("the snapshot is of level %d, %v", level, err)
	}
	whole, half := fsm.NewMachine(), fsm.NewMachine()
	if err := half.Restore(bytes.NewReader(snapshot)); err != nil {
		t.Fatalf("a snapshot of an earlier version can't be read: %v", err)
	}
	if got := half.Fork().Digest(); got != facts.MiddleDigest {
		t.Errorf("a snapshot of an earlier version is read as another state: %s, want %s", got, facts.MiddleDigest)
	}
	const advice = "what old entries do has changed: tie the change to a new feature level (docs/upgrading.md), or, as long as no release has this level, record anew with -compat.write"
	for i, e := range entries {
		if _, err := whole.Apply(e.index, e.term, e.data); err != nil {
			t.Fatalf("entry %d of an earlier version: %v", e.index, err)
		}
		if e.index == facts.Middle {
			if got := whole.Fork().Digest(); got != facts.MiddleDigest {
				t.Fatalf("the digest at entry %d is %s, was %s; %s", e.index, got, facts.MiddleDigest, advice)
			}
		}
		if e.index <= facts.Middle {
			continue
		}
		if _, err := half.Apply(e.index, e.term, e.data); err != nil {
			t.Fatalf("entry %d behind a snapshot of an earlier version: %v", entries[i].index, err)
		}
	}
	for name, m := range map[string]*fsm.Machine{"from the log": whole, "from the snapshot": half} { // unordered: each by itself
		if got := m.Fork().Digest(); got != facts.Digest || len(entries) != facts.Entries {
			t.Errorf("%s the digest after %d entries is %s, was %s after %d; %s", name, len(entries), got, facts.Digest, facts.Entries, advice)
		}
	}
}

type entry struct {
	index, term uint64
	data        []byte
}

func readEntries(t *testing.T, path string) (all []entry) {
	b := unzip(t, path)
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatalf("%s is cut short", path)
		}
		b = b[n:]
		return v
	}
	for len(b) > 0 {
		e := entry{index: next(), term: next()}
		size := next()
		if size > uint64(len(b)) {
			t.Fatalf("%s is cut short", path)
		}
		e.data, b = b[:size], b[size:]
		all = append(all, e)
	}
	return all
}

func unzip(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// record writes the fixtures of this binary's level: a log in which every operation and
// command stands, with the state that it led to.
func record(t *testing.T) {
	if fsm.MaxLevel > env.Latest {
		t.Fatal("this build knows a level that no source has")
	}
	c := newDeliverer(t, 20260)
	var log, snapshot bytes.Buffer
	facts := compatFacts{Level: fsm.MaxLevel}
	c.record = func(data []byte) {
		b := binary.AppendUvarint(nil, c.l.index)
		b = binary.AppendUvarint(b, c.l.term)
		b = binary.AppendUvarint(b, uint64(len(data)))
		log.Write(append(b, data...))
		facts.Entries++
	}
	// The deliverer has opened its session before it recorded.
	c.l, c.a, c.b = newLog(20260), fsm.NewMachine(), fsm.NewMachine()
	c.l.open(func(data []byte) []fsm.Outcome { return c.apply(data) })
	tell(c)
	facts.Middle, facts.MiddleDigest = c.l.index, c.a.Fork().Digest()
	if err := c.a.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	tell(c)
	facts.Digest = c.a.Fork().Digest()
	base := filepath.Join(compatDir, fmt.Sprintf("level-%d", facts.Level))
	text, err := json.MarshalIndent(facts, "", "\t")
	err = errors.Join(err, os.MkdirAll(compatDir, 0o755), os.WriteFile(base+".json", append(text, '\n'), 0o644),
		zip(base+".log.gz", log.Bytes()), zip(base+".snapshot.gz", snapshot.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
}

func zip(path string, b []byte) error {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = z.Write(b)
	return errors.Join(err, z.Close(), os.WriteFile(path, out.Bytes(), fs.FileMode(0o644)))
}

// asked proposes an operation whose refusal is as good as its success: both stand in the
// log, and both have to be the same for ever.
func asked[A, R any](c *deliverer, op *fsm.Operation[A, R], arg A) (r R) {
	r, _ = propose(c, op, arg)
	return r
}

// tell proposes every operation, and commands of every family.
func tell(c *deliverer) {
	administered(c)
	for range 300 {
		requests := []fsm.Request{c.l.request(c.l.batch()), c.l.request(c.l.batch())}
		if c.l.r.IntN(10) == 0 {
			requests = append(requests, c.l.administer())
		}
		c.apply(c.l.entry(requests...))
	}
	delivered(c)
	flowed(c)
	owned(c)
	for _, words := range []string{
		"SET big " + strings.Repeat("x", 5000), "JSON.SET doc $ {\"a\":[1,2,{\"b\":null}]}", "ZADD z 1.5 a -inf b", "XADD s 1-1 f v", "HSET h f v g w",
		"PFADD p a b c", "GEOADD g 13.361389 38.115556 Palermo", "SETBIT bits 100 1", "LPUSH l 1 2 3", "SADD u a b c", "PEXPIRE h 100000",
		"ACL SETUSER ann on nopass ~* +@all", "PUBLISH ch hello", "EVAL return(redis.call('incr',KEYS[1])) 1 n", "MSG.PUBLISH https://example.com/ body DELAY 10s",
		"INCREX n", "SDIFFCARD 2 u u", "XCFGSET s", "ARSET arr 0 a b c", "VADD v VALUES 2 1 2 e", "SORT u ALPHA LIMIT 0 2", "LCS big big LEN", "EVAL return(math.sinh(1)) 0",
		"JSON.GET doc $.a[0]", "GETRANGE big 0 3", "SCAN 0 COUNT 100", "ZRANGEBYSCORE z -inf +inf", "DUMP l", "OBJECT ENCODING l", "ACL SETUSER bob on >secret ~a* +get (~b* +set)",
	} {
		b := fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.OriginHTTP}
		var argv [][]byte
		for _, w := range strings.Fields(words) {
			argv = append(argv, []byte(w))
		}
		b.Rows = append(b.Rows, argv)
		c.apply(c.l.entry(c.l.request(b)))
	}
	asked(c, fsm.TakeDigest, fsm.Empty{})
}

// administered proposes what the cluster keeps of itself.
func administered(c *deliverer) {
	asked(c, fsm.NewTerm, fsm.Term{Number: c.l.term, Leader: "n1"})
	asked(c, fsm.BootstrapState, fsm.Bootstrap{ClusterID: "compat", Keys: queue.Keys{Current: "sig_a", Next: "sig_b"}, Settings: fsm.Settings{DailyLimit: 1_000_000}, Level: fsm.MaxLevel})
	asked(c, fsm.SetLevel, fsm.LevelChange{Level: fsm.MaxLevel})
	asked(c, fsm.AdmitNode, fsm.NodeRecord{Node: "n1", Disk: "d1"})
	asked(c, fsm.AdmitNode, fsm.NodeRecord{Node: "n2", Disk: "d2", Replaces: "n9"})
	asked(c, fsm.RemoveNode, fsm.NodeRef{Node: "n2", Leaving: true})
	asked(c, fsm.Configure, fsm.Settings{MaxMemory: 1 << 30, DailyLimit: 2_000_000, Limits: command.Limits{MaxKey: 1 << 15, MaxRecord: 1 << 26}})
	asked(c, fsm.TakeQuota, fsm.QuotaClaim{})
	asked(c, fsm.Subscribe, fsm.Subscribers{})
	asked(c, fsm.ForgetSubscribers, fsm.SessionRef{})
	asked(c, fsm.ReportDigest, fsm.DigestReport{Index: c.l.index, Node: "n1", Digest: "d"})
	asked(c, fsm.CreateDatabase, fsm.DatabaseTokens{Name: "shop", Standard: acl.DigestOf("s"), ReadOnly: acl.DigestOf("r")})
	asked(c, fsm.ResetTokens, fsm.DatabaseTokens{Name: "shop", Standard: acl.DigestOf("t"), ReadOnly: acl.DigestOf("u")})
	asked(c, fsm.DeleteDatabase, fsm.DatabaseName{Name: "none"})
	asked(c, fsm.StageBackup, fsm.BackupPart{})
	asked(c, fsm.RestoreBackup, fsm.BackupRef{})
	asked(c, fsm.ConfigureDatabase, fsm.DatabaseSettings{Name: "shop", MaxMemory: 1 << 28, Changes: fsm.ChangeMemory})
	asked(c, fsm.RotateTokens, fsm.TokenRotation{Database: "shop", Overlap: 1000})
	asked(c, fsm.EndTokenOverlap, fsm.TokenRole{Database: "shop"})
	asked(c, fsm.EndSession, fsm.EndedSession{})
	asked(c, fsm.ImportMessages, fsm.MessageImport{})
	asked(c, fsm.Evict, fsm.Eviction{})
	asked(c, fsm.HoldExpiry, fsm.ExpiryHold{})
	asked(c, fsm.Quarantine, fsm.QuarantineOrder{})
	asked(c, fsm.Release, fsm.DatabaseName{Name: "none"})
}

// owned proposes operations for another database than default.
func owned(c *deliverer) {
	in := func(code uint16, body []byte) {
		asked(c, fsm.InDatabase, fsm.Owned{Database: "shop", Number: 2, Code: code, Body: body})
	}
	in(fsm.ChangeQueue.Code, fsm.ChangeQueue.Body(queue.QueueChange{Name: "q", Parallelism: 3}))
	in(fsm.PutSchedule.Code, fsm.PutSchedule.Body(queue.SchedulePut{ID: "s", Cron: "@every 1m", Every: 60_000, Publish: queue.Publication{URL: "https://a.example/"}}))
	for i := range 12 {
		p := queue.Publication{URL: fmt.Sprintf("https://h%d.example/", i%5), Body: bytes.Repeat([]byte{'x'}, 500*i)}
		p.Given, p.Delay, p.Queue = queue.GivenDelay|queue.GivenQueue, int64(i%3)*100_000, []string{"", "q"}[i%2]
		in(fsm.Publish.Code, fsm.Publish.Body(queue.Publications{Items: []queue.Publication{p}}))
	}
	in(fsm.RunSchedule.Code, fsm.RunSchedule.Body(queue.ScheduleRef{ID: "s"}))
	in(fsm.RunNow.Code, fsm.RunNow.Body(queue.RunNow{}))
	attempts(c, 4)
	in(fsm.BulkCancel.Code, fsm.BulkCancel.Body(queue.BulkCancellation{}))
	in(fsm.BulkCancelRuns.Code, fsm.BulkCancelRuns.Body(workflow.BulkCancellation{}))
}

// delivered proposes what becomes of messages.
func delivered(c *deliverer) {
	asked(c, fsm.ConfigureMessages, queue.DefaultSettings())
	asked(c, fsm.SetParallelism, queue.Parallelism{Max: 100})
	asked(c, fsm.RotateKeys, queue.Rotation{Keys: queue.Keys{Current: "sig_c", Next: "sig_d"}})
	asked(c, fsm.ChangeQueue, queue.QueueChange{Name: "q", Parallelism: 2})
	asked(c, fsm.ChangeGroup, queue.GroupChange{Name: "g", Act: queue.ActAddEndpoints, Endpoints: []queue.Endpoint{{Name: "a", URL: "https://a.example/"}, {URL: "https://b.example/"}}})
	asked(c, fsm.PutSchedule, queue.SchedulePut{ID: "s", Cron: "@every 1m", Every: 60_000, Publish: queue.Publication{URL: "https://a.example/"}})
	asked(c, fsm.ChangeSchedule, queue.ScheduleChange{ID: "s", Act: queue.ActPause})
	for i := range 60 {
		p := queue.Publication{URL: fmt.Sprintf("https://h%d.example/", i%5), Body: fmt.Appendf(nil, `{"n":%d}`, i), DedupID: []string{"", "same"}[i%2]}
		p.Given = queue.GivenRetries | queue.GivenDelay | queue.GivenQueue
		p.Retries, p.Delay, p.Queue = i%3, int64(i%4)*50, []string{"", "q"}[i%2]
		if i%3 == 0 {
			p.Flow = &queue.FlowControl{Key: "k", Rate: 5, Period: 1000, Parallelism: 3}
		}
		if i%4 == 0 {
			p.Given |= queue.GivenCallback | queue.GivenFailure
			p.Callback, p.Failure = &queue.Callback{URL: "https://c.example/"}, &queue.Callback{URL: "https://f.example/"}
		}
		if i%7 == 0 {
			p.URL, p.Group = "", "g"
		}
		asked(c, fsm.Publish, queue.Publications{Items: []queue.Publication{p}})
	}
	asked(c, fsm.ChangeFlowControl, queue.FlowControlChange{Key: "k", Act: queue.ActPin, Parallelism: 9})
	attempts(c, 20)
	asked(c, fsm.CancelMessages, queue.Cancellation{Limit: 3})
	asked(c, fsm.RetryDead, queue.DeadRetry{DeadSelection: queue.DeadSelection{Limit: 2}})
	asked(c, fsm.DeleteDead, queue.DeadSelection{Limit: 2})
}

// attempts claims what is due and hands in results, good ones and bad ones.
func attempts(c *deliverer, rounds int) {
	for range rounds {
		got := asked(c, fsm.Advance, fsm.AdvanceLimit{Sweep: 20, Deliver: true, Term: c.l.term, Claims: 8})
		var results queue.Results
		var running queue.Renewal
		for i, a := range got.Attempts {
			r := queue.Response{Status: []int{200, 500, 0}[i%3], Body: []byte("answer")}
			results.Items = append(results.Items, queue.Result{AttemptRef: a.Ref(), Response: r, RetryDelay: 20, Took: 5})
			running.Running = append(running.Running, a.Ref())
		}
		asked(c, fsm.Renew, running)
		asked(c, fsm.Finish, results)
	}
}

// flowed proposes what becomes of workflow runs.
func flowed(c *deliverer) {
	asked(c, fsm.ConfigureWorkflows, workflow.DefaultSettings())
	const url = "https://app.example/flow"
	for i := range 8 {
		id := fmt.Sprintf("wfr_%d_%d", c.l.index, i)
		n := workflow.Submission{Kind: workflow.InitSubmission, URL: url, RunID: id, Body: []byte(`{"order":7}`)}
		n.Retries, n.Given = 1, queue.GivenRetries
		workflow.CompleteStart(&n)
		asked(c, fsm.Submit, workflow.Submissions{Items: []workflow.Submission{n}})
		attempts(c, 1)
		asked(c, fsm.Submit, workflow.Submissions{Items: []workflow.Submission{{
			Kind: workflow.StepSubmission, URL: url, RunID: id, Body: []byte(`{"stepId":1,"stepName":"a","stepType":"Run","out":"1","concurrent":1}`),
			Step: workflow.Step{ID: 1, Concurrent: 1, Type: workflow.RunStep, Name: "a"}, Features: workflow.TriggerOnConfig,
		}}})
		asked(c, fsm.Await, workflow.Await{
			RunID: id, EventID: "paid", Step: workflow.Step{ID: 2, Concurrent: 1, Type: workflow.Wait, Name: "w"}, Open: []byte(`{"stepId":2,"stepType":"Wait","stepName":"w","concurrent":1`),
			Timeout: 60_000, TimeoutText: "60s", URL: url, TimeoutURL: url,
		})
		if i%2 == 0 {
			asked(c, fsm.NotifyEvent, workflow.Notification{EventID: "paid", RunID: id, Body: []byte(`{"sum":1}`)})
		}
		attempts(c, 3)
		if i%4 == 0 {
			asked(c, fsm.EndRun, workflow.Ending{RunID: id, Result: []byte(`"done"`), HasResult: true})
		}
	}
	attempts(c, 5)
	asked(c, fsm.Revive, workflow.Revival{DeadSelection: workflow.DeadSelection{Limit: 1}, Restart: true})
	asked(c, fsm.Revive, workflow.Revival{DeadSelection: workflow.DeadSelection{Limit: 1}})
	asked(c, fsm.ChangeCallback, workflow.CallbackChange{Cancel: true})
	asked(c, fsm.DeleteDeadRuns, workflow.DeadSelection{Limit: 1})
	asked(c, fsm.CancelRuns, workflow.Cancellation{Limit: 1})
}

// TestUnknownEntriesAreRefused: an operation of a later version, a level beyond this binary's
// and another form of entry are errors that end the process, and change nothing.
func TestUnknownEntriesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		request fsm.Request
		want    error
	}{
		"operation": {fsm.Request{Code: 61}, fsm.ErrUnknownOperation},
		"code":      {fsm.Request{Code: 40_000}, fsm.ErrUnknownOperation},
		"level":     {fsm.Request{Code: fsm.SetLevel.Code, Body: fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel + 1})}, fsm.ErrUnknownLevel},
	} {
		m, l := fsm.NewMachine(), newLog(11)
		l.open(func(data []byte) []fsm.Outcome { o, _ := m.Apply(l.index, l.term, data); return o })
		data := l.entry(c.request)
		if _, err := m.Apply(l.index, l.term, data); !errors.Is(err, c.want) || !strings.Contains(err.Error(), "start the node with the version") {
			t.Errorf("%s: %v", name, err)
		}
	}
	m, l := fsm.NewMachine(), newLog(12)
	data := l.entry(fsm.Request{Code: fsm.Advance.Code})
	data[0]++
	if _, err := m.Apply(l.index, l.term, data); !errors.Is(err, fsm.ErrEntry) {
		t.Errorf("an entry of another form: %v", err)
	}
}

// TestSnapshotLevelOfDamage: whatever is no snapshot has no level.
func TestSnapshotLevelOfDamage(t *testing.T) {
	var whole bytes.Buffer
	if err := fsm.NewMachine().Fork().Write(&whole); err != nil {
		t.Fatal(err)
	}
	const magic, head = 8, 9
	first := magic + head + int(binary.LittleEndian.Uint32(whole.Bytes()[magic+1:]))
	for i := range first {
		broken := bytes.Clone(whole.Bytes())
		broken[i] ^= 4
		if level, err := fsm.SnapshotLevel(bytes.NewReader(broken)); !errors.Is(err, fsm.ErrSnapshot) {
			t.Errorf("with byte %d changed: level %d, %v", i, level, err)
		}
	}
	if _, err := fsm.SnapshotLevel(bytes.NewReader(whole.Bytes()[:12])); !errors.Is(err, fsm.ErrSnapshot) {
		t.Errorf("cut short: %v", err)
	}
}
