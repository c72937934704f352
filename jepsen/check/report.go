package check

import (
	"strings"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// Anomaly is one contradiction between a history and what was promised.
type Anomaly struct {
	Kind    string       `json:"kind"` // what was broken, in a word or two
	Key     string       `json:"key"`
	Detail  string       `json:"detail"`
	Witness []history.Op `json:"witness"` // the fewest operations that show it
}

// String renders the anomaly with its witness, one operation a line.
func (a Anomaly) String() string {
	var b strings.Builder
	b.WriteString(a.Kind + " on " + a.Key + ": " + a.Detail)
	for _, op := range a.Witness {
		b.WriteString("\n  " + op.String())
	}
	return b.String()
}

// Report is the verdict on one history.
type Report struct {
	Ops       int       `json:"ops"`  // operations judged
	Keys      int       `json:"keys"` // keys judged
	Anomalies []Anomaly `json:"anomalies"`
}

// malformed reports replies that no command gives.
func malformed(ops []history.Op) []Anomaly {
	var found []Anomaly
	for _, op := range ops {
		if strings.HasPrefix(op.Error, history.Malformed) {
			found = append(found, Anomaly{Kind: "malformed reply", Key: op.Key, Detail: op.Error, Witness: []history.Op{op}})
		}
	}
	return found
}
