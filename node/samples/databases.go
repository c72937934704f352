package samples

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	// KeptDatabases is the number of databases with most commands, and of those with most memory, in a sample.
	KeptDatabases = 16
	// ShownDatabases is their number in what is read of a history.
	ShownDatabases = 8
	// restAfterLook is the time between two looks at what databases take, in times of what the look before took: every database is
	// looked at, and there may be many.
	restAfterLook = 1000
)

// DatabaseFigures holds the figures of one database in one span of time.
type DatabaseFigures struct {
	Name string
	// Commands are per second, as this node has executed them; Memory is logical, in bytes, 0 if others have more.
	Commands, Memory float64
}

// DatabaseColumns holds the figures of one database by column, beside the times of Columns. A figure is 0 also where the database was not among
// the first ones.
type DatabaseColumns struct {
	Name     string    `json:"name"`
	Commands []float64 `json:"commands"`
	Memory   []float64 `json:"memoryBytes"`
}

// foremost are the n of the figures with most commands and the n with most memory, by name.
func foremost(all []DatabaseFigures, n int) []DatabaseFigures {
	list := first(all, n, func(f *DatabaseFigures) float64 { return f.Commands })
	list = append(list, first(all, n, func(f *DatabaseFigures) float64 { return f.Memory })...)
	slices.SortFunc(list, byName)
	return slices.CompactFunc(list, func(a, b DatabaseFigures) bool { return a.Name == b.Name })
}

// first are the n of the figures that have most of something, and any of it, in one pass: there may be many.
func first(all []DatabaseFigures, n int, of func(*DatabaseFigures) float64) (list []DatabaseFigures) {
	for i := range all {
		one := &all[i]
		if of(one) <= 0 || len(list) == n && of(one) < of(&list[n-1]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(list, one, func(a DatabaseFigures, b *DatabaseFigures) int {
			return cmp.Or(cmp.Compare(of(b), of(&a)), strings.Compare(a.Name, b.Name))
		})
		list = slices.Insert(list, at, *one)
		list = list[:min(len(list), n)]
	}
	return list
}

func byName(a, b DatabaseFigures) int { return strings.Compare(a.Name, b.Name) }

// foldDatabases takes the figures of the nth sample of a span into those of the samples before it: the mean of commands, the most
// memory.
func foldDatabases(before, next []DatabaseFigures, n int) []DatabaseFigures {
	all := map[string]DatabaseFigures{}
	for _, f := range before {
		f.Commands -= f.Commands / float64(n)
		all[f.Name] = f
	}
	for _, f := range next {
		was := all[f.Name]
		all[f.Name] = DatabaseFigures{f.Name, was.Commands + f.Commands/float64(n), max(was.Memory, f.Memory)}
	}
	return slices.SortedFunc(maps.Values(all), byName)
}

// busy counts the commands of databases between two samples.
type busy struct {
	last    map[string]int64 // commands, when they were counted last
	since   map[string]int64 // of databases that had any since the sample before
	largest []DatabaseFigures
	looked  time.Time
	took    time.Duration
}

func (b *busy) begin() {
	if b.last == nil {
		b.last = map[string]int64{}
	}
	b.since = map[string]int64{}
}

// count takes in how many commands a database has had.
func (b *busy) count(database string, commands int64) {
	if n := commands - b.last[database]; n != 0 {
		b.last[database] = commands
		if n > 0 { // CONFIG RESETSTAT sets them back
			b.since[database] = n
		}
	}
}

// figures are those of all databases that had commands in the last seconds, and of the largest.
func (b *busy) figures(seconds float64, largest []DatabaseFigures) (all []DatabaseFigures) {
	for _, f := range largest {
		f.Commands = float64(b.since[f.Name]) / seconds
		delete(b.since, f.Name)
		all = append(all, f)
	}
	for name, n := range b.since { // unordered: foremost sorts them
		all = append(all, DatabaseFigures{Name: name, Commands: float64(n) / seconds})
	}
	return all
}

// SetLargest has the history ask for the databases with most memory, so many at most, without their commands.
func (h *History) SetLargest(look func(n int) []DatabaseFigures) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.largest = look
}

// largestDatabases are those with most memory, as they were when they were looked at last.
func (h *History) largestDatabases() []DatabaseFigures {
	h.mu.Lock()
	look, due := h.largest, h.now().Sub(h.busy.looked) >= restAfterLook*h.busy.took
	h.mu.Unlock()
	if look == nil {
		return nil
	}
	var largest []DatabaseFigures
	began := h.now()
	if due {
		largest = look(KeptDatabases)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if due {
		h.busy.largest, h.busy.looked = largest, h.now()
		h.busy.took = h.busy.looked.Sub(began)
	}
	return h.busy.largest
}

// databasesOf are the columns of the n databases with most commands and the n with most memory.
func databasesOf(samples []Sample, n int) (list []DatabaseColumns) {
	of := map[string]*DatabaseColumns{}
	for i := range samples {
		for _, f := range samples[i].Databases {
			columnsFor(of, f.Name, len(samples)).set(i, f.Commands, f.Memory)
		}
	}
	return firstOf(of, n)
}

func columnsFor(of map[string]*DatabaseColumns, name string, n int) *DatabaseColumns {
	c := of[name]
	if c == nil {
		c = &DatabaseColumns{name, make([]float64, n), make([]float64, n)}
		of[name] = c
	}
	return c
}

// set adds commands, and memory if it is more, at a place.
func (c *DatabaseColumns) set(i int, commands, memory float64) {
	c.Commands[i] = math.Round((c.Commands[i]+commands)*1000) / 1000
	c.Memory[i] = max(c.Memory[i], math.Round(memory))
}

// firstOf are the n databases with most commands over all, and the n that have had most memory, by name.
func firstOf(of map[string]*DatabaseColumns, n int) (list []DatabaseColumns) {
	var all []DatabaseFigures
	for name, c := range of { // unordered: foremost sorts them
		f := DatabaseFigures{Name: name}
		for i := range c.Commands {
			f.Commands += c.Commands[i]
			f.Memory = max(f.Memory, c.Memory[i])
		}
		all = append(all, f)
	}
	for _, f := range foremost(all, n) {
		list = append(list, *of[f.Name])
	}
	return list
}

// databasesAt are the figures at a place of columns.
func databasesAt(columns []DatabaseColumns, i int) (all []DatabaseFigures) {
	for _, c := range columns {
		if i < len(c.Commands) && i < len(c.Memory) && (c.Commands[i] > 0 || c.Memory[i] > 0) {
			all = append(all, DatabaseFigures{c.Name, c.Commands[i], c.Memory[i]})
		}
	}
	return all
}

// mergeDatabases adds up the commands of databases on several nodes; of memory, which all nodes have alike, the most counts.
func mergeDatabases(times []int64, everySeconds int, all []Named) []DatabaseColumns {
	of := map[string]*DatabaseColumns{}
	for _, one := range all {
		for i, at := range times {
			j := one.Columns.at(at, everySeconds)
			if j < 0 {
				continue
			}
			for _, f := range databasesAt(one.Columns.Databases, j) {
				columnsFor(of, f.Name, len(times)).set(i, f.Commands, f.Memory)
			}
		}
	}
	return firstOf(of, ShownDatabases)
}
