package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
)

// MessagesToken opens /v2 of every server of the product that a benchmark starts.
const MessagesToken = "bench-messages-token"

// publishedReply begins the reply to a publication.
const publishedReply = `{"messageId":"msg_`

// Publish publishes one message to a URL with each request. What stands in query
// configures it, such as upstash-delay=1d; empty is a message to be delivered at once.
func Publish(to, query string) load.Spec {
	path := "/v2/publish/" + to
	if query != "" {
		path += "?" + query
	}
	return load.Spec{
		Method: "POST", Bearer: MessagesToken, Type: "text/plain", Targets: []string{path}, Body: "{val}", Value: ValueSize,
		Check: load.Check{Prefix: publishedReply},
	}
}

// PublishMany publishes many messages with each request, all to wait for a day.
func PublishMany(to string) load.Spec {
	return load.Spec{
		Method: "POST", Bearer: MessagesToken, Targets: []string{"/v2/batch"}, Value: ValueSize, Rows: fillRows,
		Body:  `{"destination":"` + to + `","headers":{"Upstash-Delay":"1d"},"body":"{val}"}`,
		Check: load.Check{Prefix: `[` + publishedReply},
	}
}

// PublishOne publishes one message and returns when it is acknowledged.
func (n *Node) PublishOne(ctx context.Context, to string) error {
	reply, err := call(ctx, "POST", n.URL+"/v2/publish/"+to, MessagesToken, strings.NewReader("one"))
	if err == nil && !bytes.HasPrefix(reply, []byte(publishedReply)) {
		err = fmt.Errorf("publish: %.200s", reply)
	}
	return err
}

// LiveHeap has the node collect its garbage and returns the bytes that stay. It needs
// Env.Pprof.
func (n *Node) LiveHeap(ctx context.Context) (float64, error) {
	if n.Pprof == "" {
		return 0, errors.New("node was started without --pprof")
	}
	if _, err := get(ctx, "http://"+n.Pprof+"/debug/pprof/heap?gc=1", ""); err != nil {
		return 0, err
	}
	return n.Figure(ctx, "go_memstats_heap_alloc_bytes")
}

// Figure is the value of one of the node's metrics that has no labels.
func (n *Node) Figure(ctx context.Context, name string) (float64, error) {
	text, err := n.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if value, is := strings.CutPrefix(lines.Text(), name+" "); is {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("the node doesn't tell its %s", name)
}

// Settled returns when no attempt is under way: all that arrived is noted.
func (n *Node) Settled(ctx context.Context) error {
	for {
		reply, err := get(ctx, n.URL+"/v2/globalParallelism", MessagesToken)
		if err != nil {
			return err
		}
		if bytes.Contains(reply, []byte(`"parallelismCount":0`)) {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}
