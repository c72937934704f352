package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	damageRounds = 60
	damageKeys   = 2000
	damageBodies = 700              // of messages that wait, in files; their events make a volume
	damageSample = 7                // of so many bodies one is read
	damageLarge  = 100              // strings that nobody reads, in files
	damageLimit  = 20 * time.Second // for a damaged node to refuse or to be ready
	damageReads  = 2 * time.Minute  // for it to answer everything, with what it fetches from the others
)

// damageRound is one damage done to the files of one stopped node.
type damageRound struct {
	Damage  string
	Verdict string // refused, right, or what was wrong
	Line    string // the last line of a node that refused
}

const (
	refused = "refused"
	right   = "right data"
)

// damagedNodes corrupts one file of a stopped node in a running cluster. The node
// must then refuse to start with a line that says why, or serve right data.
func damagedNodes(ctx context.Context, s *session) error {
	rounds, err := repeat(s.progress, "damage", s.count(damageRounds), func(i int) (damageRound, error) {
		return damage(ctx, s, i)
	})
	if err != nil {
		return err
	}
	verdicts := map[string]int{}
	var wrong []error
	for _, r := range rounds {
		if verdicts[r.Verdict]++; r.Verdict != refused && r.Verdict != right {
			wrong = append(wrong, fmt.Errorf("%s: %s", r.Damage, r.Verdict))
		}
	}
	s.printf("%d damaged nodes: %v", len(rounds), verdicts)
	return errors.Join(wrong...)
}

// damage starts all nodes from their good files, but the third with one of them corrupted, and judges. All of them go back, because a
// node alone would run on an older copy of its files than the others have seen, which they refuse.
func damage(ctx context.Context, s *session, i int) (r damageRound, err error) {
	c, err := s.prepared(ctx)
	if err != nil {
		return r, err
	}
	if err := putBack(c); err != nil {
		return r, err
	}
	n := c.Nodes[2]
	rng := rand.New(rand.NewPCG(uint64(i), 7))
	if r.Damage, err = corruptRound(n.DataDir, rng, i); err != nil {
		return r, err
	}
	before := len(n.Tail(1 << 20))
	if err := c.Start(); err != nil {
		return r, err
	}
	r.Verdict, r.Line = judgeDamaged(ctx, c, n, before, s.damaged)
	s.printf("round %d: %s: %s %s", i+1, r.Damage, r.Verdict, r.Line)
	if err := putBack(c); err != nil {
		return r, err
	}
	return r, errors.Join(c.Start(), waitReady(ctx, c, 30*time.Second))
}

// putBack ends all nodes and gives them the files that keepFiles kept.
func putBack(c *testcluster.Cluster) error {
	for _, n := range c.Nodes {
		if err := n.Kill(); err != nil && !errors.Is(err, testcluster.ErrDown) {
			return err
		}
		c.Forgive(n)
		if err := errors.Join(os.RemoveAll(n.DataDir), os.CopyFS(n.DataDir, os.DirFS(n.DataDir+".good"))); err != nil {
			return err
		}
	}
	return nil
}

// keepFiles ends all nodes and keeps a copy of the files of each.
func keepFiles(c *testcluster.Cluster) error {
	for _, n := range c.Nodes {
		if err := n.Kill(); err != nil {
			return err
		}
	}
	for _, n := range c.Nodes {
		good := n.DataDir + ".good"
		if err := errors.Join(os.RemoveAll(good), os.CopyFS(good, os.DirFS(n.DataDir))); err != nil {
			return err
		}
	}
	return nil
}

// prepared is the cluster with some keys in it, of which the third node has half in
// a snapshot and half in its log only.
func (s *session) prepared(ctx context.Context) (*testcluster.Cluster, error) {
	if s.cluster != nil {
		return s.cluster, nil
	}
	s.flags = append(slices.Clone(deliveryFlags), "--cold-after", "1s") // the bodies have destinations on loopback
	c, err := s.nodes(ctx)
	if err != nil {
		return nil, err
	}
	if err := loadDamageKeys(ctx, c, 0, damageKeys/2); err != nil {
		return nil, err
	}
	bodies := &waitingRun{c: c, count: damageBodies, body: waitingBody, ids: map[int]string{}, sample: damageSample}
	if err := bodies.publish(ctx, 0, damageBodies); err != nil {
		return nil, err
	}
	s.damaged = bodies
	if err := moveToDisk(ctx, c); err != nil {
		return nil, err
	}
	if status, body, err := c.Nodes[2].Admin().Post(ctx, "/admin/snapshot"); err != nil || status != http.StatusOK {
		return nil, fmt.Errorf("take a snapshot: status %d: %s: %w", status, body, err)
	}
	if err := loadDamageKeys(ctx, c, damageKeys/2, damageKeys); err != nil {
		return nil, err
	}
	if err := n3Again(ctx, c); err != nil {
		return nil, err
	}
	return c, keepFiles(c)
}

// moveToDisk writes large strings and waits until the third node has them on its disk, and a volume of old events.
func moveToDisk(ctx context.Context, c *testcluster.Cluster) error {
	for i := range damageLarge {
		if r := c.Nodes[0].Client().Do(ctx, "SET", largeKey(i), waitingBodyOf(i, 2<<10)); r.Outcome != history.OK {
			return fmt.Errorf("load large strings: %s: %s", r.Outcome, r.Error)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	n := c.Nodes[2]
	return testcluster.Poll(ctx, time.Second, func() error {
		_, body, err := n.Admin().Get(ctx, "/metrics")
		if want := fmt.Sprintf("\ntrireme_cold_values %d\n", damageLarge); err != nil || !strings.Contains(string(body), want) {
			return fmt.Errorf("%s has not %d strings on its disk: %w", n.ID, damageLarge, err)
		}
		if r := c.Nodes[0].Client().Do(ctx, "SET", damageKey(0), damageValue(0)); r.Outcome != history.OK {
			return fmt.Errorf("a write: %s", r.Error)
		}
		files, err := filepath.Glob(filepath.Join(n.DataDir, "payloads/*.pay"))
		for _, file := range files {
			var b []byte
			if b, err = os.ReadFile(file); len(headsOf(b)) > damageBodies+damageLarge { // each has a place of its own
				return nil
			}
		}
		return fmt.Errorf("%s has no volume of events: %w", n.ID, err)
	})
}

func largeKey(i int) string { return fmt.Sprintf("damage:large:%d", i) }

// headsOf are the places of the heads of payloads in a segment.
func headsOf(b []byte) (heads []int) {
	for at := 0; ; {
		next := bytes.Index(b[at:], []byte("TPH1"))
		if next < 0 {
			return heads
		}
		at += next + 4
		heads = append(heads, at-4)
	}
}

// n3Again restarts the third node, so that its segments of payloads end with a list.
func n3Again(ctx context.Context, c *testcluster.Cluster) error {
	n := c.Nodes[2]
	if err := errors.Join(n.Kill(), n.Start()); err != nil {
		return err
	}
	return c.WaitNodeReady(ctx, n)
}

func loadDamageKeys(ctx context.Context, c *testcluster.Cluster, from, to int) error {
	for ; from < to; from += 100 {
		var rows [][]string
		for i := from; i < from+100; i++ {
			rows = append(rows, []string{"SET", damageKey(i), damageValue(i)})
		}
		if _, r := c.Nodes[0].Client().Pipeline(ctx, rows); r.Outcome != history.OK {
			return fmt.Errorf("load keys: %s: %s", r.Outcome, r.Error)
		}
	}
	return nil
}

func damageKey(i int) string   { return fmt.Sprintf("damage:%d", i) }
func damageValue(i int) string { return strings.Repeat(strconv.Itoa(i)+".", 20) }

// corruptRound damages a file. Every second round it is a certain part of a file of payloads, or of the snapshot that names them.
func corruptRound(dir string, rng *rand.Rand, i int) (string, error) {
	parts := []string{"salt", "head", "bytes", "list", "snapshot"}
	if i%2 == 0 {
		return corruptFile(dir, rng)
	}
	part := parts[i/2%len(parts)]
	pattern := "payloads/*.pay"
	if part == "snapshot" {
		pattern = "snapshots/*/state.bin"
	}
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("no file %s: %w", pattern, err)
	}
	path := found[rng.IntN(len(found))]
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	at, err := partOf(b, part, rng)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	bit := rng.IntN(8)
	return fmt.Sprintf("%s of %d bytes: bit %d of byte %d flipped, in the %s", filepath.Base(path), len(b), bit, at, part), flip(path, at, bit)
}

// partOf chooses a byte in a part of a segment of payloads (cluster/payloads/format.go), or anywhere in a snapshot.
func partOf(b []byte, part string, rng *rand.Rand) (int64, error) {
	const salts, head, item, listEnd = 40, 48, 40, 16
	heads := headsOf(b)
	if part != "snapshot" && (len(heads) == 0 || !bytes.HasSuffix(b, []byte("TPLIST01"))) {
		return 0, errors.New("a segment without payloads, or without a list")
	}
	switch part {
	case "salt":
		return rng.Int64N(salts), nil
	case "head":
		return int64(heads[rng.IntN(len(heads))] + rng.IntN(head)), nil
	case "bytes":
		return int64(heads[rng.IntN(len(heads))] + head + rng.IntN(1<<10)), nil
	case "list":
		n := int(binary.LittleEndian.Uint32(b[len(b)-listEnd:]))*item + listEnd
		return int64(len(b) - 1 - rng.IntN(n)), nil
	}
	return rng.Int64N(int64(len(b))), nil
}

// corruptFile flips one bit of a random file of the node, cuts the file short, or
// empties it, and says what it did. Larger files are hit more often.
func corruptFile(dir string, rng *rand.Rand) (string, error) {
	path, size, err := pickFile(dir, rng)
	if err != nil {
		return "", err
	}
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return "", err
	}
	switch draw := rng.IntN(10); {
	case draw < 7:
		at, bit := rng.Int64N(size), rng.IntN(8)
		return fmt.Sprintf("%s of %d bytes: bit %d of byte %d flipped", name, size, bit, at), flip(path, at, bit)
	case draw < 9:
		to := rng.Int64N(size)
		return fmt.Sprintf("%s of %d bytes: cut to %d", name, size, to), os.Truncate(path, to)
	default:
		return fmt.Sprintf("%s of %d bytes: emptied", name, size), os.Truncate(path, 0)
	}
}

// pickFile chooses a file that is not empty: half the time any, half the time by
// size. A file that holds nothing but reserved space is left out.
func pickFile(dir string, rng *rand.Rand) (path string, size int64, err error) {
	type file struct {
		path string
		size int64
	}
	var files []file
	var sum int64
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(d.Name(), "reserve") {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 0 {
			files = append(files, file{path, info.Size()})
			sum += info.Size()
		}
		return err
	})
	if err != nil || len(files) == 0 {
		return "", 0, fmt.Errorf("no file to corrupt in %s: %w", dir, err)
	}
	if rng.IntN(2) == 0 {
		f := files[rng.IntN(len(files))]
		return f.path, f.size, nil
	}
	at := rng.Int64N(sum)
	for _, f := range files {
		if at -= f.size; at < 0 {
			return f.path, f.size, nil
		}
	}
	panic("unreachable: at is below the sum of all sizes")
}

func flip(path string, at int64, bit int) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	var b [1]byte
	if _, err := file.ReadAt(b[:], at); err != nil {
		return err
	}
	b[0] ^= 1 << bit
	if _, err := file.WriteAt(b[:], at); err != nil {
		return err
	}
	return file.Sync()
}

// judgeDamaged waits until the node has ended or is ready, and then compares all
// keys. A node that is neither in time is judged as hanging.
func judgeDamaged(ctx context.Context, c *testcluster.Cluster, n *testcluster.Node, before int, bodies *waitingRun) (verdict, line string) {
	starting, cancel := context.WithTimeout(ctx, damageLimit)
	defer cancel()
	err := testcluster.Poll(starting, 10*time.Millisecond, func() error {
		if n.Pid() == 0 || n.Ready(starting) {
			return nil
		}
		return errors.New("neither")
	})
	if err != nil {
		return "neither ready nor refused after " + damageLimit.String(), n.Tail(1)
	}
	ctx, cancel = context.WithTimeout(ctx, damageReads)
	defer cancel()
	if n.Pid() != 0 {
		for _, compare := range []func(context.Context, *testcluster.Node) string{compareDamaged, compareLarge, compareEvents} {
			if verdict := compare(ctx, n); verdict != right {
				return verdict, n.Tail(1)
			}
		}
		return bodies.compareDamaged(ctx, n)
	}
	said := n.Tail(1 << 20)[before:]
	if strings.Contains(said, "panic:") || strings.Contains(said, "SIGBUS") || strings.Contains(said, "fatal error:") {
		return "crashed instead of refusing", n.Tail(3)
	}
	return refused, n.Tail(1)
}

// compareDamaged reads everything from the node itself. Only wrong data counts;
// a node that ends or refuses meanwhile has noticed.
func compareDamaged(ctx context.Context, n *testcluster.Node) string {
	for from := 0; from < damageKeys; from += 100 {
		args := []string{"MGET"}
		for i := from; i < from+100; i++ {
			args = append(args, damageKey(i))
		}
		r := n.Client().Do(ctx, args...)
		if r.Outcome != history.OK {
			if n.Pid() == 0 {
				return refused
			}
			return "ready, but a read failed: " + r.Error
		}
		var values []*string
		if err := json.Unmarshal(r.Result, &values); err != nil || len(values) != 100 {
			return fmt.Sprintf("ready, but MGET answered %.100s", r.Result)
		}
		for i, v := range values {
			if v == nil || *v != damageValue(from+i) {
				return fmt.Sprintf("WRONG DATA in %s", damageKey(from+i))
			}
		}
	}
	return right
}

// compareLarge reads the large strings from the node itself, which fetches what it has lost from the others.
func compareLarge(ctx context.Context, n *testcluster.Node) string {
	for i := range damageLarge {
		r := n.Client().Do(ctx, "GET", largeKey(i))
		if r.Outcome != history.OK {
			if n.Pid() == 0 {
				return refused
			}
			return "ready, but a read of a large string failed: " + r.Error
		}
		var value *string
		if err := json.Unmarshal(r.Result, &value); err != nil || value == nil || *value != waitingBodyOf(i, 2<<10) {
			return "WRONG DATA in " + largeKey(i)
		}
	}
	return right
}

// compareEvents counts the events of the bodies at the node itself: most of them are in a volume.
func compareEvents(ctx context.Context, n *testcluster.Node) string {
	created := map[string]bool{}
	for cursor := ""; ; {
		status, _, body, err := n.Messages().Call(ctx, http.MethodGet, "/v2/events?state=CREATED&count=1000&cursor="+url.QueryEscape(cursor), nil, nil)
		var page struct {
			Cursor string
			Events []struct{ MessageID string }
		}
		if err == nil && status == http.StatusOK {
			err = json.Unmarshal(body, &page)
		}
		switch {
		case n.Pid() == 0:
			return refused
		case err != nil || status != http.StatusOK:
			return fmt.Sprintf("ready, but a list of events failed: status %d: %.200s: %v", status, body, err)
		}
		for _, e := range page.Events {
			created[e.MessageID] = true
		}
		if cursor = page.Cursor; cursor == "" {
			break
		}
	}
	if len(created) != damageBodies {
		return fmt.Sprintf("WRONG DATA: %d messages have events, not %d", len(created), damageBodies)
	}
	return right
}

// compareDamaged reads every body of the sample from the node itself, which fetches what it has lost from the others.
func (r *waitingRun) compareDamaged(ctx context.Context, n *testcluster.Node) (verdict, line string) {
	err := r.verify(ctx, n)
	switch {
	case err == nil:
		return right, ""
	case n.Pid() == 0:
		return refused, n.Tail(1)
	}
	return "ready, but a body is not right: " + err.Error(), n.Tail(1)
}
