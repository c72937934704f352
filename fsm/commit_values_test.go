package fsm_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// data is what the steps of a run have said of it.
func (c *committer) data(run string) (d workflow.Data) {
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		if r := v.Workflows().Find(run, 0); r != nil && r.Data != nil {
			d = *r.Data
		}
	})
	return d
}

// TestRunKeepsValues: a run keeps what its steps' commands have left of the keys that it names, each as it was then, within its limits, and
// nothing of commands that were refused.
func TestRunKeepsValues(t *testing.T) {
	c := newCommitter(t, 1)
	n := workflow.Submission{Kind: workflow.InitSubmission, URL: "http://app/flow", RunID: "r", Body: []byte("{}"), KeepValues: []string{"shop:a*", "shop:gone"}}
	n.CommitAs, n.Given = "shop", queue.GivenCommit
	if r := c.submit(n); r.Refused != nil {
		t.Fatal(r.Refused)
	}
	bring := func(id uint32, commit string) workflow.Receipt { return c.submit(step("r", id, commit)) }
	bring(1, `[["SET","shop:a",1],["SET","shop:b",2],["RPUSH","shop:all","x","y"],["INCR","shop:a"]]`)
	first, list := c.run("DUMP shop:a").Text(), c.run("DUMP shop:all").Text()
	bring(1, `[["SET","shop:a","again"]]`)
	bring(2, `[["SET","shop:a","x"],["IF","shop:a","EQ","y"]]`)
	bring(2, `[["DEL","shop:gone"],["SET","shop:a",7,"EX",100]]`)
	second := c.run("DUMP shop:a").Text()
	bring(3, `[["SET","shop:a","`+strings.Repeat("x", workflow.MaxKeptValue+1)+`"]]`)

	got := c.data("r").Values
	if len(got) != 5 {
		t.Fatalf("%d values: %+v", len(got), got)
	}
	for i, want := range []workflow.KeptValue{
		{Step: 1, Key: "shop:a", Type: "string", Dump: []byte(first), Size: int64(len(first))},
		{Step: 1, Key: "shop:all", Type: "list", Dump: []byte(list), Size: int64(len(list))},
		{Step: 2, Key: "shop:gone"},
		{Step: 2, Key: "shop:a", Type: "string", Dump: []byte(second), Size: int64(len(second))},
		{Step: 3, Key: "shop:a", Type: "string"},
	} {
		v := got[i]
		if i == 3 && v.Expires == 0 || i != 3 && v.Expires != 0 || i == 4 && (v.Size <= workflow.MaxKeptValue || !v.Omitted()) {
			t.Errorf("value %d: %+v", i, v)
		}
		if v.Expires = 0; i == 4 {
			v.Size = 0
		}
		if fmt.Sprintf("%+v", v) != fmt.Sprintf("%+v", want) {
			t.Errorf("value %d is\n%+v, not\n%+v", i, v, want)
		}
	}
	var many []string
	for i := range workflow.MaxKeptValues {
		many = append(many, fmt.Sprintf(`["SET","shop:a%d",%d]`, i, i))
	}
	bring(4, "["+strings.Join(many, ",")+"]")
	if d := c.data("r"); len(d.Values) != workflow.MaxKeptValues || d.ValuesMissed != uint64(len(got)) {
		t.Errorf("%d values are kept, %d were missed", len(d.Values), d.ValuesMissed)
	}
	c.same()
}

// TestKeptValuesHaveABound: the bytes of all values of a run do.
func TestKeptValuesHaveABound(t *testing.T) {
	c := newCommitter(t, 1)
	n := workflow.Submission{Kind: workflow.InitSubmission, URL: "http://app/flow", RunID: "r", Body: []byte("{}"), KeepValues: []string{"*"}}
	n.CommitAs, n.Given = "shop", queue.GivenCommit
	if r := c.submit(n); r.Refused != nil {
		t.Fatal(r.Refused)
	}
	random := make([]byte, 45<<10) // a payload is compressed
	rand.NewChaCha8([32]byte{}).Read(random)
	text := base64.StdEncoding.EncodeToString(random)
	for i := range uint32(20) {
		if r := c.submit(step("r", i+1, fmt.Sprintf(`[["SET","shop:%d","%s"]]`, i, text))); r.Refused != nil {
			t.Fatal(r.Refused)
		}
	}
	kept, omitted := 0, 0
	for _, v := range c.data("r").Values {
		if kept += len(v.Dump); v.Omitted() {
			omitted++
		}
	}
	if kept > workflow.MaxKeptBytes || omitted == 0 || omitted == 20 {
		t.Errorf("%d bytes are kept, %d values are not", kept, omitted)
	}
	c.same()
}
