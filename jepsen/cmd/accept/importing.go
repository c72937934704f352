package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/cli/importer/redisproc"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// importing is rdb-import: a redis-server writes a file of a million keys of all types;
// it is imported through one of three nodes; every value is dumped by one of the nodes
// and restored in another redis-server; the digests of the two must be equal.
func importing(ctx context.Context, s *session) error {
	s.env = append(s.env, "TRIREME_DISK_STALL_TIMEOUT=1m") // two redis-servers write to the same disk
	c, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	first, dir, err := s.redis("written")
	if err != nil {
		return err
	}
	defer first.Close()
	second, _, err := s.redis("carried")
	if err != nil {
		return err
	}
	defer second.Close()
	keys, began := s.count(millionKeys), time.Now()
	if err := fillRedis(first, keys); err != nil {
		return err
	}
	if v, err := first.Do("SAVE"); err != nil || v.IsError() {
		return fmt.Errorf("SAVE: %s, %w", v.Text(), err)
	}
	s.printf("%d keys written by redis-server in %v", keys, time.Since(began).Round(time.Millisecond))
	if err := s.bring(ctx, c, filepath.Join(dir, "dump.rdb")); err != nil {
		return err
	}
	began = time.Now()
	if err := carryBack(ctx, c, second, keys); err != nil {
		return err
	}
	s.printf("carried to another redis-server in %v", time.Since(began).Round(time.Millisecond))
	if err := sameDigest(s, first, second); err != nil {
		return err
	}
	return s.takeOut(ctx, c, first)
}

// takeOut exports the database by the product's own command, and has a redis-server load the file.
func (s *session) takeOut(ctx context.Context, c *testcluster.Cluster, first *redisproc.Server) error {
	binary, err := s.product()
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "data", s.line, "exported")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	began := time.Now()
	cmd := exec.CommandContext(ctx, binary, "export", "--rdb", filepath.Join(dir, "dump.rdb"))
	cmd.Env = append(os.Environ(), "TRIREME_URL=http://"+c.Nodes[1].HTTP, "TRIREME_ADMIN_TOKEN="+testcluster.AdminToken)
	cmd.Stdout, cmd.Stderr = s.out, s.out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	s.printf("exported in %v", time.Since(began).Round(time.Millisecond))
	third, err := redisproc.Start(dir, "--enable-debug-command", "local")
	if err != nil {
		return err
	}
	defer third.Close()
	return sameDigest(s, first, third)
}

// redis starts a redis-server with a folder of its own.
func (s *session) redis(name string) (*redisproc.Server, string, error) {
	dir := filepath.Join(s.dir, "data", s.line, name)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return nil, "", err
	}
	r, err := redisproc.Start(dir, "--enable-debug-command", "local")
	return r, dir, err
}

// bring imports the file by the product's own command.
func (s *session) bring(ctx context.Context, c *testcluster.Cluster, file string) error {
	binary, err := s.product()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, binary, "import", "--quiet", file)
	cmd.Env = append(os.Environ(), "TRIREME_URL=http://"+c.Nodes[0].HTTP, "TRIREME_TOKEN="+testcluster.Token)
	cmd.Stdout, cmd.Stderr = s.out, s.out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return nil
}

// inFlight is the number of commands that are sent before their replies are read.
const inFlight = 1000

// fillRedis makes n keys of all types.
func fillRedis(r *redisproc.Server, n int) error {
	sent := 0
	flush := func() error {
		err := r.Flush()
		for ; sent > 0 && err == nil; sent-- {
			var v reply.Value
			if v, err = r.Receive(); err == nil && v.IsError() {
				err = errors.New(v.Text())
			}
		}
		return err
	}
	for i := range n {
		for _, words := range keyCommands(i) {
			if err := r.Send(words...); err != nil {
				return err
			}
			sent++
		}
		if sent >= inFlight {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// keyCommands make key number i: every tenth of another type, one in a thousand large,
// one in twenty with a deadline.
func keyCommands(i int) (all [][]string) {
	key, size := fmt.Sprint("key:", i), 1+i%7
	if i%1000 < 10 {
		size = 700
	}
	add := func(verb string, element func(j int) []string) {
		words := []string{verb, key}
		for j := range size {
			words = append(words, element(j)...)
		}
		all = append(all, words)
	}
	text := func(j int) string {
		return [...]string{strconv.Itoa(i * j), fmt.Sprintf("element %d of %d", j, i), strings.Repeat("again ", j%40), string([]byte{byte(i), byte(j), 0, 0xff})}[(i/10+j)%4]
	}
	switch i % 10 {
	case 0, 1, 2:
		all = append(all, []string{"SET", key, strings.Repeat(text(size), 1+i%5)})
	case 3:
		add("RPUSH", func(j int) []string { return []string{text(j)} })
	case 4:
		add("SADD", func(j int) []string { return []string{text(j)} })
	case 5:
		add("SADD", func(j int) []string { return []string{strconv.Itoa(i * j)} })
	case 6:
		add("HSET", func(j int) []string { return []string{fmt.Sprint("f", j), text(j)} })
	case 7:
		add("ZADD", func(j int) []string { return []string{fmt.Sprint(float64(i*j) / 8), fmt.Sprint("member ", j)} })
	case 8:
		all = streamCommands(key, min(size, 150))
	case 9:
		add("PFADD", func(j int) []string { return []string{text(j)} })
	}
	if i%20 < 10 && i%200 < 10 {
		all = append(all, []string{"PEXPIREAT", key, strconv.Itoa(4_102_444_800_000 + i)})
	}
	return all
}

func streamCommands(key string, entries int) (all [][]string) {
	for j := range entries {
		all = append(all, []string{"XADD", key, fmt.Sprint(1000+j, "-1"), "field", fmt.Sprint(j), "other", "x"})
	}
	return append(all, []string{"XGROUP", "CREATE", key, "readers", "0"}, []string{"XREADGROUP", "GROUP", "readers", "one", "COUNT", "2", "STREAMS", key, ">"},
		[]string{"XDEL", key, "1001-1"})
}

// carryBack dumps every key by one of the nodes and restores it in a redis-server.
func carryBack(ctx context.Context, c *testcluster.Cluster, to *redisproc.Server, keys int) error {
	const rows = 500
	for from := 0; from < keys; from += rows {
		body := make([][]string, 0, 2*rows)
		for i := range min(rows, keys-from) {
			key := fmt.Sprint("key:", from+i)
			body = append(body, []string{"DUMP", key}, []string{"PEXPIRETIME", key})
		}
		answers, err := binaryPipeline(ctx, c.Nodes[from/rows%c.Size()].HTTP, body)
		if err != nil {
			return err
		}
		if err := restoreAll(to, body, answers); err != nil {
			return err
		}
	}
	return nil
}

// restoreAll restores what the nodes have dumped.
func restoreAll(to *redisproc.Server, asked [][]string, answers []testcluster.Row) error {
	for i := 0; i < len(answers); i += 2 {
		var text string
		if err := json.Unmarshal(answers[i].Result, &text); err != nil {
			return fmt.Errorf("%s: %s %s", asked[i], answers[i].Result, answers[i].Error)
		}
		payload, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return fmt.Errorf("%s: %w", asked[i], err)
		}
		at := max("0", strings.TrimPrefix(string(answers[i+1].Result), "-1"))
		if err := to.Send("RESTORE", asked[i][1], at, string(payload), "ABSTTL"); err != nil {
			return err
		}
	}
	if err := to.Flush(); err != nil {
		return err
	}
	for i := 0; i < len(answers); i += 2 {
		if v, err := to.Receive(); err != nil || v.IsError() {
			return fmt.Errorf("RESTORE of %s: %s, %w", asked[i][1], v.Text(), err)
		}
	}
	return nil
}

// binaryPipeline asks a node for replies in base64.
func binaryPipeline(ctx context.Context, addr string, rows [][]string) (answers []testcluster.Row, err error) {
	body, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/pipeline", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+testcluster.Token)
	req.Header.Set("Svc-Encoding", "base64")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &answers); err != nil || len(answers) != len(rows) {
		return nil, fmt.Errorf("a pipeline of %d rows was answered %d: %.200s", len(rows), resp.StatusCode, text)
	}
	return answers, nil
}

// sameDigest compares what two servers hold.
func sameDigest(s *session, a, b *redisproc.Server) error {
	for _, words := range [][]string{{"DBSIZE"}, {"DEBUG", "DIGEST"}} {
		first, err := a.Do(words...)
		second, err2 := b.Do(words...)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if first.IsError() || !first.Equal(second) {
			return fmt.Errorf("%s: %s before, %s after", words, scripttest.Print(first), scripttest.Print(second))
		}
		s.printf("%s: %s on both sides", strings.Join(words, " "), scripttest.Print(first))
	}
	return nil
}
