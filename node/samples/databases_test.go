package samples

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/stats"
)

// callsIn counts commands in a database.
func (n *node) callsIn(database string, count int) {
	for range count {
		n.stats.In(database).Batch(n.table, [][][]byte{{[]byte("PING")}}, []reply.Value{reply.OK()}, time.Microsecond, stats.Caller{})
	}
}

func (c *Columns) database(t *testing.T, name string) DatabaseColumns {
	t.Helper()
	i := slices.IndexFunc(c.Databases, func(d DatabaseColumns) bool { return d.Name == name })
	if i < 0 {
		t.Fatalf("%s is not among %v", name, c.Databases)
	}
	return c.Databases[i]
}

// TestBusyAndLargeDatabases: of forty databases those are told that have most commands or most memory, over all of a time, and only where
// they are asked for.
func TestBusyAndLargeDatabases(t *testing.T) {
	n := newNode()
	n.SetLargest(func(most int) (list []DatabaseFigures) {
		for i := range most {
			list = append(list, DatabaseFigures{Name: fmt.Sprintf("large%02d", i), Memory: float64(1000 - i)})
		}
		return list
	})
	n.after(0)
	for range 3 {
		for i := range 20 {
			n.callsIn(fmt.Sprintf("busy%02d", i), 10*(i+1))
		}
		n.callsIn("large15", 300)
		n.after(Every)
	}
	n.after(Every)
	if c := n.Read(Question{Range: Hours}); c.Databases != nil {
		t.Errorf("not asked for: %v", c.Databases)
	}
	c := n.Read(Question{Range: Hours, Databases: true})
	var names []string
	for _, d := range c.Databases {
		names = append(names, d.Name)
	}
	want := []string{"busy13", "busy14", "busy15", "busy16", "busy17", "busy18", "busy19", "large00", "large01", "large02", "large03", "large04", "large05", "large06", "large07", "large15"}
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if d := c.database(t, "busy19"); !slices.Equal(d.Commands, []float64{20, 20, 20, 0}) || slices.Max(d.Memory) != 0 {
		t.Errorf("%+v", d)
	}
	if d := c.database(t, "large15"); !slices.Equal(d.Commands, []float64{30, 30, 30, 0}) || d.Memory[2] != 985 {
		t.Errorf("%+v", d)
	}
	if at := n.samples[2].Databases; len(at) > 2*KeptDatabases {
		t.Errorf("a sample has %d databases", len(at))
	}
}

// TestDatabasesOfAWeek: five minutes have the mean of commands and the most memory of each database, and outlive the process; nodes are added up.
func TestDatabasesOfAWeek(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.json")
	n := newNode()
	n.now = time.UnixMilli(0)
	size := 100.0
	n.SetLargest(func(int) []DatabaseFigures { return []DatabaseFigures{{Name: "a", Memory: size}} })
	if err := n.Keep(file); err != nil {
		t.Fatal(err)
	}
	n.after(0)
	for i := range 3 * 5 {
		if i%5 == 0 {
			n.callsIn("a", 600)
			n.callsIn("b", 60*i)
		}
		size = float64(100 + i)
		n.after(time.Minute)
	}
	if err := n.save(); err != nil {
		t.Fatal(err)
	}
	again := newNode()
	again.now = n.now
	if err := again.Keep(file); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	again.Run(ended, func(err error) { t.Error(err) })
	week := again.Read(Question{Range: Week, Databases: true})
	if d := week.database(t, "a"); d.Commands[1] != 2 || d.Memory[1] < d.Memory[0] {
		t.Errorf("%+v", d)
	}
	both := Merge([]Named{{Node: "n1", Columns: week}, {Node: "n2", Columns: week}}, nil)
	if d, one := both.database(t, "a"), week.database(t, "a"); d.Commands[1] != 4 || !slices.Equal(d.Memory, one.Memory) {
		t.Errorf("two nodes: %+v, one: %+v", d, one)
	}
	if d := both.database(t, "b"); d.Commands[2] == 0 {
		t.Errorf("%+v", d)
	}
}

// TestQuestions: a question is understood as it was written.
func TestQuestions(t *testing.T) {
	for _, q := range []Question{{Range: Hours}, {Range: Day, Databases: true}, {Range: Week}} {
		if got, err := ParseQuestion(q.String()); err != nil || got != q {
			t.Errorf("%v: %v, %v", q, got, err)
		}
	}
	if _, err := ParseQuestion("1h databases"); err == nil {
		t.Error("a range that is none was taken")
	}
}
