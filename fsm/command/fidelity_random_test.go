package command_test

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/commandtest"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// randomCommands is the number of random commands that are compared.
const randomCommands = 20_000

// The long form of TestFidelityOfRandomCommands runs blocks of it, one origin and seed at
// a time.
var (
	fidelityCommands = flag.Int("fidelity.commands", 0, "how many random commands are compared; 0 means a short run")
	fidelitySeed     = flag.Uint64("fidelity.seed", 7, "the seed of the random commands")
	fidelityOrigin   = flag.String("fidelity.origin", "", "the one origin they go through: none, resp or http")
)

// tooMany is the largest number of differences that one run reports.
const tooMany = 25

// side is us: a machine that is asked without an origin or through one.
type side interface {
	machine() *fsm.Machine
	run(now int64, s *scripttest.Step) reply.Value
}

func (r *replica) machine() *fsm.Machine { return r.m }

// origins are the ways to a machine, how many commands a short run sends through each, and
// the protocol in which Redis answers the same.
var origins = []struct {
	name     string
	commands int
	protocol string
	open     func(*testing.T) side
}{
	{"none", randomCommands, "3", func(t *testing.T) side { return newReplica(t) }},
	{"resp", randomCommands / 4, "3", openRESP},
	{"http", randomCommands / 4, "2", openHTTP},
}

// TestFidelityOfRandomCommands feeds the same random commands to both sides, through
// each origin.
func TestFidelityOfRandomCommands(t *testing.T) {
	for _, d := range origins {
		if *fidelityOrigin != "" && *fidelityOrigin != d.name {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			n := d.commands
			if *fidelityCommands > 0 {
				n = *fidelityCommands
			}
			r := startRedis(t)
			c := &comparison{t: t, r: r, us: d.open(t), origin: d.name, differences: readDifferences(t), judge: newReplica(t)}
			prove(t, r, c.differences)
			r.empty()
			r.do([]byte("HELLO"), []byte(d.protocol))
			if d.name != "http" { // where the parameter can't be set, and only scripts trim as Redis does
				r.trimExactly()
				c.us.run(scripttest.Start, stepOf(inWords(exactTrims)))
			}
			c.run(rand.New(rand.NewPCG(*fidelitySeed, 11)), n)
			t.Logf("seed %d: compared %d random commands with Redis %s", *fidelitySeed, c.compared, r.version)
		})
	}
}

// comparison is a run of commands on both sides.
type comparison struct {
	t           *testing.T
	r           *realRedis
	us          side
	origin      string
	differences []*difference
	judge       *replica // where the payloads of DUMP are unpacked
	compared    int
	told        int
}

// run compares n commands; those that have no one right answer aren't counted.
func (c *comparison) run(random *rand.Rand, n int) {
	now := int64(scripttest.Start)
	for i := 0; c.compared < n && c.told < tooMany; i++ {
		if random.IntN(20) == 0 {
			now = passDeadlines(c.us.machine(), now+random.Int64N(2000))
		}
		if random.IntN(60) == 0 {
			c.transaction(i, now, random)
			continue
		}
		if s := c.draw(random); s != nil {
			c.step(i, now, s)
		}
	}
}

// draw is a step that can be compared, nil if this one can't.
func (c *comparison) draw(random *rand.Rand) *scripttest.Step {
	source := commandtest.Source{Rand: random, Fits: func(argv [][]byte) bool {
		return sameWithin(c.r.version, stepOf(argv)) && !explained(c.differences, c.r.version, stepOf(argv))
	}}
	s := stepOf(source.Next())
	if !c.fits(s) || !sameEverywhere(c.r.version, s) || !sameAround(c.origin, s) || !c.sameCalled(s) {
		return nil
	}
	return s
}

// sameCalled reports whether what the step has a script call can be compared, also after a word
// of it was corrupted.
func (c *comparison) sameCalled(s *scripttest.Step) bool {
	argv := called(s.Argv)
	if argv == nil || rows.Find(argv) == nil {
		return argv == nil || !cutSubcommand(stepOf(argv))
	}
	argv[0] = bytes.ToUpper(argv[0])
	if string(argv[0]) == "PFCOUNT" && (string(s.Argv[0]) != "EVAL" || strings.Contains(string(s.Argv[1]), "no-writes")) {
		return false // only rows of differences.txt compare it in scripts that read
	}
	inner := stepOf(argv)
	return sameWithin(c.r.version, inner) && !explained(c.differences, c.r.version, inner)
}

// called is the command that stands in the arguments of a script, nil if none does.
func called(argv [][]byte) [][]byte {
	if !strings.HasPrefix(string(argv[0]), "EVAL") || len(argv) < 4 || string(argv[2]) != "0" {
		return nil
	}
	return slices.Clone(argv[3:])
}

// fits reports whether the step can go through the origin, and makes its words fit: JSON
// holds text only.
func (c *comparison) fits(s *scripttest.Step) bool {
	if c.origin != "http" {
		return true
	}
	for i, w := range s.Argv {
		if !utf8.Valid(w) {
			s.Argv[i] = []byte(strings.ToValidUTF8(string(w), "?"))
		}
	}
	s.Origin, s.Text = command.OriginHTTP, textOf(s.Argv)
	if otherState(s) {
		return false
	}
	row := rows.Find(s.Argv)
	if row == nil && (len(s.Argv[0]) == 0 || strings.Trim(string(s.Argv[0]), letters) != "") {
		return false // one row of differences.txt shows how names are told that nobody knows
	}
	return row == nil || row.Flags&command.NoHTTP == 0
}

// otherState reports whether the step does something else over HTTP, which all that follows would tell: a row of
// differences.txt compares it.
func otherState(s *scripttest.Step) bool {
	text := strings.ToUpper(s.Text)
	switch string(s.Argv[0]) {
	case "XREADGROUP":
		return strings.Contains(text, " NOACK ")
	case "XADD", "XTRIM":
		return strings.Contains(text, " ~ ")
	case "ZRANGESTORE":
		return strings.Contains(text, " LIMIT ") && !strings.Contains(text, " BYSCORE") && !strings.Contains(text, " BYLEX")
	}
	return false
}

// letters are those of the names of commands.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._"

// step sends one command to both sides. After a difference both begin anew, because
// what follows may differ for the same reason.
func (c *comparison) step(i int, now int64, s *scripttest.Step) {
	c.compared++
	c.r.setClock(now)
	v := c.us.run(now, s)
	c.r.makeConsumer(s, v)
	theirs := c.r.do(s.Argv...)
	if strings.HasPrefix(string(s.Argv[0]), "SORT") && theirs.Text() == notNumbers {
		c.r.do([]byte("INCRBYFLOAT"), []byte("a key that is not there"), []byte("x")) // sets errno to 0 and fails
		theirs = c.r.do(s.Argv...)
	}
	they, we := c.shown(s, theirs), c.shown(s, v)
	if we == they || c.explains(s, v, theirs) {
		return
	}
	c.tell(i, s.Text, they, we)
	c.anew(now, s)
}

// notNumbers is the error of a real server's SORT for elements that aren't numbers, and now and
// then for some that are: it reads errno, in which an earlier call may have left ERANGE. A second
// call fails only if the elements aren't numbers.
const notNumbers = "ERR One or more scores can't be converted into double"

// explains reports whether a row of differences.txt covers what differs.
func (c *comparison) explains(s *scripttest.Step, ours, theirs reply.Value) bool {
	return slices.ContainsFunc(c.differences, func(d *difference) bool { return d.coversReplies(c.r.version, s, ours, theirs) })
}

func (c *comparison) tell(i int, what, they, we string) {
	c.told++
	c.t.Errorf("seed %d, command %d: %s\nRedis %s:\n%s\nwe:\n%s", *fidelitySeed, i, what, c.r.version, they, we)
}

// anew removes all that commands can make, on both sides.
func (c *comparison) anew(now int64, s *scripttest.Step) {
	for _, line := range []string{"FLUSHALL", "SCRIPT FLUSH", "FUNCTION FLUSH", "ACL DELUSER ann bob cy"} {
		flush := scripttest.Step{Argv: inWords(line), Origin: s.Origin, As: s.As}
		c.us.run(now, &flush)
		c.r.do(flush.Argv...)
	}
}

// shown is a reply in the form that is compared.
func (c *comparison) shown(s *scripttest.Step, v reply.Value) string {
	if string(s.Argv[0]) == "DUMP" && v.Kind() == reply.KindBulk {
		return c.judge.unpacked(v.Text())
	}
	v = comparedAround(s, comparedInfo(c.r.version, s, v))
	if number := comparedNumber(s); c.origin == "http" || number != nil && v.Kind() != reply.KindError {
		v = plain(v, number)
	}
	if s.Unordered && called(s.Argv) != nil {
		v = inOrder(v) // a list within a list too
	}
	return strings.ReplaceAll(s.Shown(v), "(nil array)", "(nil)")
}

// comparedNumber returns the function by which numbers in a reply are compared by value, nil if they are compared as
// text: over HTTP those of sorted sets, also out of scripts, which have fewer digits there.
// Before 7.2 Redis printed a coordinate with 17 decimals, which are not all digits of one near
// zero.
func comparedNumber(s *scripttest.Step) func(float64) float64 {
	if s.Origin != command.OriginHTTP {
		return nil
	}
	name, text := string(s.Argv[0]), ""
	if strings.HasPrefix(name, "EVAL") || strings.HasPrefix(name, "FCALL") {
		text = s.Text
	}
	switch {
	case strings.HasPrefix(name, "GEO") || strings.Contains(text, " GEO"):
		return func(f float64) float64 {
			rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', 17, 64), 64)
			if err != nil {
				return f
			}
			return rounded
		}
	case strings.HasPrefix(name, "Z") || strings.Contains(text, " Z") || strings.Contains(text, "'Z"):
		return func(f float64) float64 { return f }
	}
	return nil
}

// unpacked is the value in a payload of DUMP, read back command by command: how a text was
// packed, and in which parts a container was written, is free.
func (r *replica) unpacked(payload string) string {
	if v := r.ask([]byte("RESTORE"), []byte("k"), []byte("0"), []byte(payload), []byte("REPLACE")); v.IsError() {
		return v.Text()
	}
	return told(r.ask(inWords("TYPE k")...).Text(), r.ask)
}

// stepOf is a command as a step.
func stepOf(argv [][]byte) *scripttest.Step {
	s := &scripttest.Step{Argv: argv, Origin: command.RESP, As: acl.Trusted(acl.DefaultName)}
	s.Unordered = !ordered(argv)
	s.Text = textOf(argv)
	return s
}

// ordered reports whether the order of a reply matters: that of lists and sorted sets does.
func ordered(argv [][]byte) bool {
	if inner := called(argv); inner != nil {
		argv = inner
	}
	name := strings.ToUpper(string(argv[0]))
	return name != "" && strings.ContainsRune("LZX", rune(name[0])) || strings.HasPrefix(name, "GEO")
}

// textOf is a command as a script has it.
func textOf(argv [][]byte) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		if words[i] = string(w); words[i] == "" || scripttest.Quote(words[i]) != `"`+words[i]+`"` {
			words[i] = scripttest.Quote(words[i])
		}
	}
	return strings.Join(words, " ")
}
