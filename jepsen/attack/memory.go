package attack

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/rdb"
)

const (
	largeRows    = 200
	largeClients = 4
	// mostReplies bounds the memory of one node for the replies to all attackers: the budget of bodies and replies under way
	// (1 GiB), those over RESP, and as much garbage.
	mostReplies = 5 << 29
	// mostReply is --max-reply-size, and errors of rows beyond it.
	mostReply = 256<<20 + 1<<20
	// overshoots commands of overshootBytes each are more than the cluster's memory. One is nearly what a database's budget
	// of work lets it do.
	overshoots, overshootBytes = 20, 30 << 20
	// mostBomb bounds the memory for consecutive requests that claim to unpack to 4 GiB: the memory of a script, and as much
	// garbage.
	mostBomb = 1 << 30
)

// largeReplies asks for 1.6 GB by one request, four times at once, and reads nothing of it for a while.
func largeReplies(ctx context.Context, t *Target) (string, error) {
	end := t.peaks()
	rows := slices.Repeat([][]string{{"GET", "row"}}, largeRows)
	results := make(chan error, 2*largeClients)
	statuses := make(chan int, largeClients)
	for range largeClients {
		go func() {
			status, size, err := t.measure(ctx, "/db/"+Attacker+"/pipeline", words(rows))
			statuses <- status
			if size > mostReply {
				err = fmt.Errorf("a reply of %s, %v", mebibytes(size), err)
			} else {
				err = nil // however it was cut
			}
			results <- err
		}()
		go func() { results <- t.unread() }()
	}
	var failed error
	for range 2 * largeClients {
		if err := <-results; err != nil && failed == nil {
			failed = err
		}
	}
	grown, err := end()
	if failed != nil {
		return "", failed
	}
	if err != nil || grown > mostReplies {
		return "", fmt.Errorf("a node grew by %s, %v", mebibytes(grown), err)
	}
	var seen []string
	for range largeClients {
		seen = append(seen, strconv.Itoa(<-statuses))
	}
	return fmt.Sprintf("a node grew by %s; statuses %s", mebibytes(grown), strings.Join(seen, ", ")), nil
}

// measure posts a request as the attacker and returns how long the reply is, which it doesn't keep.
func (t *Target) measure(ctx context.Context, path string, body []byte) (status int, size int64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+t.Nodes[0].HTTP+path, bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Authorization", "Bearer "+t.AttackerToken)
	res, err := t.client.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer res.Body.Close()
	size, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, size, err
}

// unread pipelines the rows over RESP and reads none of the replies for a while.
func (t *Target) unread() error {
	c, err := t.dialRESP(0)
	if err != nil {
		return err
	}
	defer c.Close()
	if line, err := c.first("AUTH", Attacker+"/default", t.AttackerToken); err != nil || line != "+OK\r\n" {
		return fmt.Errorf("AUTH: %q, %v", line, err)
	}
	if _, err := c.Write([]byte(strings.Repeat(string(respCommand("GET", "row")), largeRows))); err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // what a client does that doesn't read
	return nil
}

// overshoot fills the memory of the cluster by large steps: the last one that fits is done, the next refused.
func overshoot(ctx context.Context, t *Target) (string, error) {
	remove := []string{"DEL"}
	for i := range overshoots {
		remove = append(remove, fmt.Sprint("o", i))
	}
	defer t.own(context.WithoutCancel(ctx), remove...)
	done := 0
	for i := range overshoots {
		r := t.own(ctx, "SETRANGE", fmt.Sprint("o", i), strconv.Itoa(overshootBytes-1), "x")
		if r.status == http.StatusOK {
			done++
			continue
		}
		if !r.says(http.StatusBadRequest, "maxMemory") {
			return "", fmt.Errorf("beyond --max-memory: %s", r)
		}
	}
	databases := t.admin(ctx, http.MethodGet, "/admin/databases", nil)
	used, err := sumOf(databases.body, `"bytes":`)
	if err != nil || done == overshoots || used > MaxMemory+MaxMemory/100 {
		return "", fmt.Errorf("%d of %d commands were done, %s used of %s, %v", done, overshoots, mebibytes(used), mebibytes(MaxMemory), err)
	}
	return fmt.Sprintf("%d of %d commands were done, %s used of %s", done, overshoots, mebibytes(used), mebibytes(MaxMemory)), nil
}

// sumOf adds the numbers that follow a name in JSON.
func sumOf(text []byte, name string) (sum int64, err error) {
	for _, rest := range strings.Split(string(text), name)[1:] {
		end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		n, err := strconv.ParseInt(rest[:max(end, 0)], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// payload is a value as DUMP writes it, with a right checksum.
func payload(value string) string {
	b := binary.LittleEndian.AppendUint16([]byte(value), 11)
	return string(binary.LittleEndian.AppendUint64(b, rdb.Checksum(0, b)))
}

// length is a length of 32 or 64 bits.
func length(n uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{0x81}, n))
}

// hostilePayloads say that they hold gigabytes.
func hostilePayloads() map[string]string {
	long, short := length(1<<32), length(16)
	run := "\x01aa" + strings.Repeat("\xe0\xff\x00", 1<<20) // every three bytes repeat 264
	return map[string]string{
		"a string":            payload("\x00" + long + "x"),
		"a compressed string": payload("\x00\xc3" + short + long + strings.Repeat("a", 16)),
		"a string of runs":    payload("\x00\xc3" + length(uint64(len(run))) + length(2+264<<20) + run),
		"a list":              payload("\x12" + long),
		"a set":               payload("\x02" + long),
		"a hash":              payload("\x04" + long),
		"a sorted set":        payload("\x05" + long),
		"a stream":            payload("\x15" + long),
	}
}

// bombs are small requests that say they are large, or would become so.
func bombs(ctx context.Context, t *Target) (string, error) {
	end := t.peaks()
	count := 0
	for name, value := range hostilePayloads() {
		body := words([]string{"RESTORE", "bomb", "0", base64.StdEncoding.EncodeToString([]byte(value))})
		r := t.send(ctx, t.client, 0, http.MethodPost, "/db/"+Attacker, t.AttackerToken, http.Header{"Svc-Encoding": {"base64"}}, body)
		if r.err != nil || r.status != http.StatusBadRequest {
			return "", fmt.Errorf("RESTORE of %s: %s", name, r)
		}
		line, err := t.once(0, []string{"AUTH", Attacker + "/default", t.AttackerToken}, []string{"RESTORE", "bomb", "0", value})
		if err != nil || !strings.HasPrefix(line, "-") {
			return "", fmt.Errorf("RESTORE of %s over RESP: %q, %v", name, line, err)
		}
		count += 2
	}
	for _, script := range []string{
		`return cmsgpack.unpack('\221\255\255\255\255')`, `return cmsgpack.unpack('\223\255\255\255\255')`, `return cmsgpack.unpack('\219\255\255\255\255')`,
		`return cmsgpack.unpack(string.rep('\145', 100000))`, `local s = string.rep('\221\0\1\0\0', 1000) return cmsgpack.unpack(s)`,
		`return string.rep('x', 1e10)`, `return cjson.decode(string.rep('[', 100000))`, `local s = 'x' while true do s = s .. s end`,
		`return cmsgpack.pack(string.rep('x', 1e9))`, `return struct.pack('>c1000000000', 'x')`,
	} {
		if r := t.own(ctx, "EVAL", script, "0"); !r.says(http.StatusBadRequest, "ERR") {
			return "", fmt.Errorf("%s: %s", script, r)
		}
		count++
	}
	deep := strings.Repeat("[", 1<<20)
	if r := t.ask(ctx, 0, http.MethodPost, "/db/"+Attacker, t.AttackerToken, []byte(deep)); r.status != http.StatusBadRequest {
		return "", fmt.Errorf("a body of brackets: %s", r)
	}
	grown, err := end()
	if err != nil || grown > mostBomb {
		return "", fmt.Errorf("a node grew by %s, %v", mebibytes(grown), err)
	}
	return fmt.Sprintf("%d requests refused, a node grew by %s", count+1, mebibytes(grown)), nil
}
