package fsm

import (
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
)

// TestDigestVerdicts: a digest counts as right when more than half of the registered nodes report it, and whoever reports another
// one is named, in whatever order the reports come. Reports of an earlier digest count for nothing, and so do those that are too few.
func TestDigestVerdicts(t *testing.T) {
	table := command.NewTable()
	for name, c := range map[string]struct {
		nodes   []string
		reports [][2]string // node, digest
		want    [][]string  // who is named after each
	}{
		"all agree":            {[]string{"n1", "n2", "n3"}, [][2]string{{"n1", "a"}, {"n2", "a"}, {"n3", "a"}}, [][]string{nil, nil, nil}},
		"the last differs":     {[]string{"n1", "n2", "n3"}, [][2]string{{"n1", "a"}, {"n2", "a"}, {"n3", "b"}}, [][]string{nil, nil, {"n3"}}},
		"the first differs":    {[]string{"n1", "n2", "n3"}, [][2]string{{"n1", "b"}, {"n2", "a"}, {"n3", "a"}}, [][]string{nil, nil, {"n1"}}},
		"all differ":           {[]string{"n1", "n2", "n3"}, [][2]string{{"n1", "a"}, {"n2", "b"}, {"n3", "c"}}, [][]string{nil, nil, nil}},
		"one reports twice":    {[]string{"n1", "n2", "n3"}, [][2]string{{"n1", "a"}, {"n1", "a"}, {"n2", "b"}}, [][]string{nil, nil, nil}},
		"two of five":          {[]string{"n1", "n2", "n3", "n4", "n5"}, [][2]string{{"n1", "a"}, {"n2", "a"}, {"n3", "b"}, {"n4", "b"}, {"n5", "a"}}, [][]string{nil, nil, nil, nil, {"n3", "n4"}}},
		"half is no majority":  {[]string{"n1", "n2", "n3", "n4"}, [][2]string{{"n1", "a"}, {"n2", "a"}, {"n3", "b"}, {"n4", "b"}}, [][]string{nil, nil, nil, nil}},
		"more than half of it": {[]string{"n1", "n2", "n3", "n4"}, [][2]string{{"n4", "b"}, {"n1", "a"}, {"n2", "a"}, {"n3", "a"}}, [][]string{nil, nil, nil, {"n4"}}},
	} {
		m, index := NewMachineWith(table), uint64(0)
		apply := func(code uint16, body []byte) Outcome {
			index++
			out, err := m.Apply(index, 1, levelEntry(1000, code, body))
			if err != nil {
				t.Fatal(err)
			}
			return out[0]
		}
		for _, node := range c.nodes {
			apply(Register.Code, Register.Body(Registration{Node: node, Disk: "disk of " + node, Boot: 1}))
		}
		apply(TakeDigest.Code, TakeDigest.Body(Empty{}))
		former := index
		apply(TakeDigest.Code, TakeDigest.Body(Empty{}))
		taken := index
		for _, node := range c.nodes[1:] { // all but one say the same of the digest before
			if v := apply(ReportDigest.Code, ReportDigest.Body(DigestReport{Index: former, Node: node, Digest: "old"})).Value.(DigestVerdict); len(v.Divergent) > 0 {
				t.Errorf("%s: %v by reports of an earlier digest", name, v.Divergent)
			}
		}
		for i, r := range c.reports {
			v := apply(ReportDigest.Code, ReportDigest.Body(DigestReport{Index: taken, Node: r[0], Digest: r[1]})).Value.(DigestVerdict)
			if !slices.Equal(v.Divergent, c.want[i]) {
				t.Errorf("%s: after %v it names %v, want %v", name, c.reports[:i+1], v.Divergent, c.want[i])
			}
		}
	}
}
