package samples

import "slices"

// Named are the columns of one node.
type Named struct {
	Node    string
	Columns Columns
}

// Missing is a node whose columns could not be had, and why.
type Missing struct {
	Node string `json:"node"`
	Why  string `json:"why"`
}

// Cluster adds up the histories of Nodes. It has nothing of those in Missing.
type Cluster struct {
	Columns
	Nodes   []string  `json:"nodes"`
	Missing []Missing `json:"missing"`
}

// how says what a column is for several nodes.
type how int

const (
	sum     how = iota // each node has its part
	most               // of the node that has most: all have the same, or the worst counts
	fullest            // of the node that has least
)

// column is one of Columns, with its figure in a sample.
type column struct {
	of     *[]float64
	figure *float64
	how    how
}

// all are the columns, with the figures of a sample.
func (c *Columns) all(s *Sample) []column {
	return []column{
		{&c.Commands, &s.Commands, sum}, {&c.Requests, &s.Requests, sum}, {&c.Delivered, &s.Delivered, sum}, {&c.Failed, &s.Failed, sum},
		{&c.P50, &s.P50, most}, {&c.P99, &s.P99, most}, {&c.Messages, &s.Messages, most}, {&c.Dead, &s.Dead, most}, {&c.Runs, &s.Runs, most},
		{&c.Overdue, &s.Overdue, most}, {&c.Memory, &s.Memory, most}, {&c.Resident, &s.Resident, most}, {&c.DiskFree, &s.DiskFree, fullest},
	}
}

// Merge makes one history of those of several nodes. Its times are those of the node that has seen most; of each other node the
// sample counts that is nearest in time, if it is no further away than one is from the next.
func Merge(all []Named, missing []Missing) Cluster {
	out := Cluster{Nodes: []string{}, Missing: append([]Missing{}, missing...), Columns: Columns{Time: []int64{}}}
	if len(all) > 0 {
		longest := slices.MaxFunc(all, func(a, b Named) int { return len(a.Columns.Time) - len(b.Columns.Time) }).Columns
		out.Time, out.EverySeconds = longest.Time, longest.EverySeconds
	}
	columns := out.all(&Sample{})
	for _, c := range columns {
		*c.of = make([]float64, len(out.Time))
	}
	seen := make([]int, len(out.Time)) // nodes that count at a time
	for _, one := range all {
		out.Nodes = append(out.Nodes, one.Node)
		from := one.Columns.all(&Sample{})
		for i, at := range out.Time {
			j := one.Columns.at(at, out.EverySeconds)
			if j < 0 {
				continue
			}
			for k, c := range columns {
				if j < len(*from[k].of) {
					to := &(*c.of)[i]
					*to = c.how.of(*to, (*from[k].of)[j], seen[i] == 0)
				}
			}
			seen[i]++
		}
	}
	out.Databases = mergeDatabases(out.Time, out.EverySeconds, all)
	return out
}

func (h how) of(before, v float64, first bool) float64 {
	switch {
	case first:
		return v
	case h == sum:
		return before + v
	case h == most:
		return max(before, v)
	}
	return min(before, v)
}

// fold takes the figure of the nth sample of a span into that of the samples before it: the mean of rates, of the others the worst.
func (c column) fold(next float64, n int) {
	switch c.how {
	case sum:
		*c.figure += (next - *c.figure) / float64(n)
	case most:
		*c.figure = max(*c.figure, next)
	default:
		*c.figure = min(*c.figure, next)
	}
}

// at is the index of the sample that is nearest to a time, -1 if there is none within so many seconds.
func (c *Columns) at(time int64, seconds int) int {
	j := nearest(c.Time, time)
	if j < 0 || abs(c.Time[j]-time) > int64(seconds)*1000 {
		return -1
	}
	return j
}

// nearest is the index of the time that is nearest to one, -1 without any. The times ascend.
func nearest(times []int64, at int64) int {
	i, _ := slices.BinarySearch(times, at)
	if i == len(times) || i > 0 && at-times[i-1] < times[i]-at {
		i--
	}
	return i
}

func abs(n int64) int64 { return max(n, -n) }
