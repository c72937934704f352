package stats

import "github.com/trireme-dev/trireme/fsm/command"

// Sum adds up the calls of all databases, and how many took up to 2^i nanoseconds.
func (n *Node) Sum() (calls int64, histogram [command.Buckets]int64) {
	n.dbs.Range(func(_, v any) bool {
		d := v.(*Database)
		for i := range d.rows {
			r := &d.rows[i]
			ran := r.calls.Load()
			if ran == 0 {
				continue
			}
			calls += ran
			for b := range r.histogram {
				histogram[b] += r.histogram[b].Load()
			}
		}
		return true
	})
	return calls, histogram
}
