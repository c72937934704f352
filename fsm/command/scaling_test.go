package command

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/internal/testcpu"
)

// scaled are the words of a line of a recipe for a size. A line is the words of a command, with spaces between them:
//
//	%n      the size
//	%x      a text of 64 bytes for each of the size
//	%lib    a library with so many functions; %longlib one with a function that is so long
//	%dump   what DUMP v replies before the call; %functions what FUNCTION DUMP does
//	%ints   a JSON array of so many numbers; %strs of texts, %rows of objects, %obj a JSON object, %nest arrays in each other
//	(* *)   the words between them so many times; # in them is the number of the time
//	%n* at the beginning: the line so many times
func scaled(line string, n int) (lines [][][]byte) {
	if rest, many := strings.CutPrefix(line, "%n*"); many {
		for i := range n {
			lines = append(lines, scaled(strings.ReplaceAll(rest, "#", strconv.Itoa(i)), n)...)
		}
		return lines
	}
	var argv [][]byte
	put := func(word string) {
		for name, text := range scaledTexts {
			if strings.Contains(word, name) {
				word = strings.ReplaceAll(word, name, text(n))
			}
		}
		argv = append(argv, []byte(word))
	}
	list := strings.Fields(line)
	for i := 0; i < len(list); i++ {
		if list[i] != "(*" {
			put(list[i])
			continue
		}
		end := i + slices.Index(list[i:], "*)")
		for k := range n {
			for _, word := range list[i+1 : end] {
				put(strings.ReplaceAll(word, "#", strconv.Itoa(k)))
			}
		}
		i = end
	}
	return [][][]byte{argv}
}

var scaledTexts = map[string]func(n int) string{
	"%n":       strconv.Itoa,
	"%x":       func(n int) string { return strings.Repeat("x", bytesPerWork*n) },
	"%_":       func(int) string { return " " },
	"%ints":    func(n int) string { return jsonOf("[", "%d", "]", n) },
	"%strs":    func(n int) string { return jsonOf("[", `"text%d"`, "]", n) },
	"%rows":    func(n int) string { return jsonOf("[", `{"a":%d,"b":[1]}`, "]", n) },
	"%obj":     func(n int) string { return jsonOf("{", `"k%[1]d":%[1]d`, "}", n) },
	"%lib":     func(n int) string { return libraryOf(n, 1) },
	"%longlib": func(n int) string { return libraryOf(1, n) },
	"%ever":    func(n int) string { return strings.Repeat("e", n) },
}

// libraryOf is the source of a library with functions of so many statements each.
func libraryOf(functions, statements int) string {
	var b strings.Builder
	b.WriteString("#!lua name=l\n")
	for i := range functions {
		fmt.Fprintf(&b, "redis.register_function{function_name='f%d', flags={'no-writes'}, callback=function(keys, args) local x = 0\n%sreturn x end}\n",
			i, strings.Repeat("x = x + 1\n", statements))
	}
	return b.String()
}

// dumps are the words of a call that stand for what another replies.
var dumps = map[string][][]byte{"%dump": {[]byte("DUMP"), []byte("v")}, "%functions": {[]byte("FUNCTION"), []byte("DUMP")}}

func jsonOf(open, element, end string, n int) string {
	var b strings.Builder
	b.WriteString(open)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, element, i)
	}
	return b.String() + end
}

// scaling runs recipes.
type scaling struct {
	t      *testing.T
	table  *Table
	engine *script.Engine
}

// tx is the transaction of an empty database without limits.
func (s *scaling) tx() *Tx {
	e := env.New(1, 1_790_000_000_000, env.Latest, [16]byte{}, 0)
	tx := s.txOf(e)
	tx.Limits = Limits{MaxWork: Unlimited, MaxScript: Unlimited}
	return tx
}

// trial holds the figures of one call of a recipe.
type trial struct {
	charged float64 // steps
	real    float64 // by what it has allocated, which does not depend on what else the machine does
	took    time.Duration
}

// prepared is a database in which a recipe's call can be run, and the call.
func (s *scaling) prepared(lines []string, n int) (*Tx, [][]byte) {
	s.t.Helper()
	tx := s.tx()
	for _, line := range lines[:len(lines)-1] {
		for _, argv := range scaled(line, n) {
			if v := tx.Exec(argv); v.IsError() {
				s.t.Fatalf("%.100s: %.200s", line, v.Text())
			}
		}
	}
	call := scaled(lines[len(lines)-1], n)[0]
	for i, word := range call {
		if dump := dumps[string(word)]; dump != nil {
			call[i] = []byte(tx.Exec(dump).Text())
		}
	}
	return tx, call
}

// charge runs a call and returns what it was charged.
func (tx *Tx) chargeOf(argv [][]byte) (reply.Value, float64) {
	tx.work = work{}
	tx.before = -tx.Spent()
	v := tx.Exec(argv)
	tx.Replied(&v)
	return v, float64(tx.Worked())
}

// try measures one call.
func (s *scaling) try(c *Command, lines []string, n int) trial {
	s.t.Helper()
	tx, argv := s.prepared(lines, n)
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	began := testcpu.Used(s.t)
	v, charged := tx.chargeOf(argv)
	took := testcpu.Used(s.t) - began
	runtime.ReadMemStats(&b)
	if v.IsError() && !strings.HasPrefix(v.Text(), "NOTFOUND") {
		s.t.Fatalf("%.100s: %.200s", lines[len(lines)-1], v.Text())
	}
	d := trial{charged: charged, real: float64(b.Mallocs-a.Mallocs) + float64(b.TotalAlloc-a.TotalAlloc)/256, took: took}
	if c.Flags&Write == 0 { // can be called again
		for range 3 {
			d.took = min(d.took, s.average(func() { tx.chargeOf(argv) }))
		}
	}
	return d
}

// average is the processor time of a call that can be made again and again.
func (s *scaling) average(do func()) time.Duration {
	for batch := 1; ; batch *= 4 {
		began := testcpu.Used(s.t)
		for range batch {
			do()
		}
		if took := testcpu.Used(s.t) - began; took >= 100*time.Microsecond {
			return took / time.Duration(batch)
		}
	}
}

// What a call may take beside what it is charged: as long for a step as so many steps of GET, and something that does not
// grow. A processor that others use is slow now and then, so a recipe is tried so often.
const (
	mostTimesGet = 5
	unpaid       = 20 * time.Microsecond
	scalingTries = 25
)

// TestCommandsPayForWhatTheyDo calls every row of the table with n and 4n of everything that a client can make many of. What
// it is charged grows as what it does, by its allocations and by the processor time that it takes, and a write that needs more
// than its budget is refused before it changes anything. A row without a recipe or a reason fails.
func TestCommandsPayForWhatTheyDo(t *testing.T) {
	s := &scaling{t: t, table: NewTable(), engine: script.NewEngine()}
	recipes, apart := commandRecipes(), rowsApart()
	for _, c := range s.table.Rows() {
		list := recipes[c.Name]
		if (len(list) == 0) == (apart[c.Name] == "") {
			t.Errorf("%s: it needs either a recipe or a reason", c.Name)
		}
		delete(recipes, c.Name)
		delete(apart, c.Name)
		for _, r := range list {
			lines := strings.Split(r, "; ")
			if verdict := s.check(c, lines, s.mostOf(lines)); verdict != "" {
				t.Errorf("%s: %s", r, verdict)
			}
		}
	}
	if len(recipes)+len(apart) > 0 {
		t.Errorf("there are no such rows: %v %v", recipes, apart)
	}
}

// scaledSize is the size of recipes in make test.
const scaledSize = 500

// mostOf is the size for a recipe: the scaled one, or as much of it as limits leave four times of.
func (s *scaling) mostOf(lines []string) int {
	n := testcpu.Scale(scaledSize)
	for n > scaledSize && s.refused(lines, 4*n) {
		n /= 2
	}
	return n
}

// refused reports whether a line of a recipe, or its call, replies an error.
func (s *scaling) refused(lines []string, n int) bool {
	tx := s.tx()
	for _, line := range lines {
		for _, argv := range scaled(line, n) {
			for i, word := range argv {
				if dump := dumps[string(word)]; dump != nil {
					argv[i] = []byte(tx.Exec(dump).Text())
				}
			}
			if v := tx.Exec(argv); v.IsError() && !strings.HasPrefix(v.Text(), "NOTFOUND") {
				return true
			}
		}
	}
	return false
}

// get returns how many nanoseconds a step of GET takes now.
func (s *scaling) get() float64 {
	return float64(s.try(s.table.Row("get"), []string{"SET k v", "GET k"}, 1).took) / 3
}

// check says what is wrong with the price of a call, at best of some tries.
func (s *scaling) check(c *Command, lines []string, n int) (verdict string) {
	one, four := s.try(c, lines, n), s.try(c, lines, 4*n)
	step := s.get()
	for try := 1; ; try++ {
		verdict = judge(one, four, step)
		if verdict == "" || try == scalingTries {
			break
		}
		step = max(step, s.get())
		one.least(s.try(c, lines, n))
		four.least(s.try(c, lines, 4*n))
	}
	if verdict != "" {
		return verdict + fmt.Sprintf(" (%d, %d and %d are charged %.0f, %.0f and %.0f steps)", n, 2*n, 4*n, one.charged, s.try(c, lines, 2*n).charged, four.charged)
	}
	grown := func() bool { return four.charged > 1.5*one.charged && four.took-one.took > unpaid }
	if !grown() {
		return ""
	}
	if verdict = s.overrun(c, lines, 4*n, int64(four.charged*0.15)); verdict == "" {
		return ""
	}
	for try := 1; grown() && try < scalingTries; try++ { // it may be the machine that was slow
		one.least(s.try(c, lines, n))
		four.least(s.try(c, lines, 4*n))
	}
	if !grown() {
		return ""
	}
	return verdict
}

// overrun says what a write does that needs more than its budget, unless it is refused and changes nothing.
func (s *scaling) overrun(c *Command, lines []string, n int, budget int64) string {
	tx, argv := s.prepared(lines, n)
	// Scripts have a budget of their own (max-script-steps), which is used up as they run, and then they are undone.
	if c.OnlyReads(argv) || c.Group() == "scripting" {
		return ""
	}
	tx.Limits.MaxWork = budget
	tx.work = work{}
	before := tx.DB.Changes()
	v := tx.Exec(argv)
	refused := strings.Contains(v.Text(), "max request work exceeded") || strings.Contains(v.Text(), "too many values")
	if refused && tx.DB.Changes() == before {
		return ""
	}
	return fmt.Sprintf("with a budget of %d steps, it is answered %.100q, after %d changes", budget, v.Text(), tx.DB.Changes()-before)
}

// least keeps what a trial has done and taken, if that is less.
func (t *trial) least(o trial) { t.real, t.took = min(t.real, o.real), min(t.took, o.took) }

// judge says what is wrong with a price, by two trials of which the second has four times as much, and what a step of GET takes
// in nanoseconds. A tree that is a level higher takes half as long again, at most.
func judge(one, four trial, step float64) string {
	real, charged := four.real/max(one.real, 20), four.charged/one.charged
	switch took, most := four.took-one.took, mostTimesGet*step*max(four.charged-one.charged, four.charged/2)+float64(unpaid); {
	case real > 2 && charged < 0.6*real && real < 8:
		return fmt.Sprintf("with four times as much it allocates %.1f times as much, and is charged %.1f times as much", real, charged)
	case real >= 8 && charged < 0.6*real:
		return fmt.Sprintf("with four times as much it allocates %.1f times as much", real)
	case float64(took) > most:
		return fmt.Sprintf("with four times as much it takes %v longer, and is charged for %v", took, time.Duration(most))
	}
	return ""
}

func (s *scaling) txOf(e *env.Env) *Tx {
	table, engine := s.table, s.engine
	tx := &Tx{Env: e, DB: keyspace.New(), Users: acl.NewStore(table.Catalog(), 0), Table: table, Origin: RESP, Config: new(Config)}
	tx.User = tx.Users.User("default")
	tx.Messages, tx.Workflows = queue.New(), workflow.New()
	tx.Messages.SetRoom(queue.Unlimited)
	tx.Scripts, tx.Engine = script.NewStore(), engine
	return tx
}
