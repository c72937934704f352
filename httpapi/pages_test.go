package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// TestListsByNameHavePages: lists that are answered as an array are whole without parameters, however long, and come in pages with
// count or cursor; all pages together are the whole.
func TestListsByNameHavePages(t *testing.T) {
	m := startMail(t)
	const many = 2500
	var want []string
	for i := range many {
		name := fmt.Sprintf("q%04d", i)
		want = append(want, name)
		if _, err := fsm.Do(t.Context(), m.nodes.Nodes[0], fsm.ChangeQueue, queue.QueueChange{Name: name, Act: queue.ActPut, Parallelism: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := fsm.Do(t.Context(), m.nodes.Nodes[0], fsm.ChangeFlowControl, queue.FlowControlChange{Key: name, Act: queue.ActPin, Parallelism: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for path, field := range map[string]string{"/v2/queues?": "name", "/v2/flowControl?search=q&": "flowControlKey"} {
		names := func(body string) (list []string) {
			var all []map[string]any
			if err := json.Unmarshal([]byte(body), &all); err != nil {
				t.Fatal(path, err)
			}
			for _, one := range all {
				list = append(list, one[field].(string))
			}
			return list
		}
		if got := names(m.want(200, "", "GET", path, "")); !slices.Equal(got, want) || m.header.Get("Svc-Cursor") != "" {
			t.Errorf("%s: %d of %d", path, len(got), many)
		}
		var got []string
		for target := path + "count=999"; ; {
			got = append(got, names(m.want(200, "", "GET", target, ""))...)
			cursor := m.header.Get("Svc-Cursor")
			if other := m.header.Get("Upstash-Cursor"); cursor != other {
				t.Fatalf("%s: the cursor is %q and %q", path, cursor, other)
			}
			if cursor == "" {
				break
			}
			target = path + "count=999&cursor=" + cursor
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: pages have %d of %d", path, len(got), many)
		}
		m.want(400, "", "GET", path+"cursor=!", "")
		m.want(400, "", "GET", path+"count=0", "")
	}
}
