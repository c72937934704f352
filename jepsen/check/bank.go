package check

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// The banks of the workload, by the beginning of their keys, and what each account holds
// at first.
const (
	Transacted = "account"
	Guarded    = "guarded"
	Opening    = 100
)

// Bank checks that money moves and never comes or goes: every read of all accounts of a
// bank, also one from the past, adds up to what they
// were opened with; in the guarded bank no
// account is ever below zero.
func Bank(ops []history.Op) Report {
	report := Report{Ops: len(ops), Anomalies: malformed(ops)}
	reads := map[string]int{}
	for _, op := range ops {
		if op.Kind != history.Balances || !op.Known() {
			continue
		}
		reads[op.Key]++
		sum := int64(0)
		for _, text := range op.List {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				report.Anomalies = append(report.Anomalies, Anomaly{Kind: "malformed value", Key: op.Key, Detail: fmt.Sprintf("%q is no number", text), Witness: []history.Op{op}})
			}
			if n < 0 && op.Key == Guarded {
				report.Anomalies = append(report.Anomalies, Anomaly{Kind: "overdrawn", Key: op.Key, Detail: fmt.Sprintf("an account holds %d", n), Witness: []history.Op{op}})
			}
			sum += n
		}
		if total := int64(Opening * len(op.List)); sum != total {
			report.Anomalies = append(report.Anomalies, Anomaly{Kind: "wrong total", Key: op.Key, Detail: fmt.Sprintf("the accounts hold %d, not %d", sum, total), Witness: []history.Op{op}})
		}
	}
	report.Keys = len(reads)
	if len(reads) == 0 && slices.ContainsFunc(ops, func(op history.Op) bool { return op.Known() && op.Writes() }) {
		report.Anomalies = append(report.Anomalies, Anomaly{Kind: "unchecked", Key: "bank", Detail: "money was moved and nobody read the accounts"})
	}
	return report
}
