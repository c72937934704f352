package command_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/fsm/command/commandtest"
	"trireme/fsm/command/scripttest"
	"trireme/fsm/glob"
)

// difference is a place where we differ from one version of Redis on purpose.
type difference struct {
	line    int
	command string // the one command it covers
	args    string // pattern of the words behind it
	version string // of the Redis that differs, such as 7.0
	reason  string
	example []scripttest.Step // the last one differs
	used    bool
}

// readDifferences reads testdata/differences.txt: rows of command, pattern, version,
// reason and example, separated by bars; the commands of an example by semicolons.
func readDifferences(t *testing.T) (all []*difference) {
	t.Helper()
	text, err := os.ReadFile("testdata/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, " | ")
		if len(f) != 5 || f[3] == "" {
			t.Fatalf("differences.txt:%d: %d fields", i+1, len(f))
		}
		lines := strings.Split(f[4], "; ")
		for j, l := range lines {
			if !strings.HasPrefix(l, "advance ") {
				lines[j] = "> " + l
			}
		}
		steps, err := scripttest.Parse(strings.Join(lines, "\n"))
		if err != nil {
			t.Fatalf("differences.txt:%d: %v", i+1, err)
		}
		all = append(all, &difference{line: i + 1, command: f[0], args: f[1], version: f[2], reason: f[3], example: steps})
	}
	return all
}

// covers tells whether the row explains a difference of the step.
func (d *difference) covers(version string, s *scripttest.Step) bool {
	name, args, _ := strings.Cut(s.Text, " ")
	return strings.EqualFold(name, d.command) && d.version == version && glob.Match(d.args, args)
}

// older tells whether version a is older than b.
func older(a, b string) bool {
	number := func(v string) (n int) {
		major, minor, _ := strings.Cut(v, ".")
		minor, _, _ = strings.Cut(minor, ".")
		x, _ := strconv.Atoi(major) // absent counts as 0
		y, _ := strconv.Atoi(minor)
		return 1000*x + y
	}
	return number(a) < number(b)
}

// comparable tells whether a real server of the version can be asked the step.
func comparable(version string, s *scripttest.Step) bool {
	return s.As == acl.Trusted(acl.DefaultName) && s.Door == command.RESP && !older(version, s.Redis)
}

// TestFidelity runs every script against a real redis-server with a clock of ours,
// and compares the replies. What differs must be explained by a row of
// differences.txt, and every row must still show its difference.
func TestFidelity(t *testing.T) {
	r := startRedis(t)
	differences := readDifferences(t)
	compared := 0
	for _, path := range scriptFiles(t) {
		now := int64(scripttest.Start)
		r.setClock(now)
		r.empty()
		for _, s := range readScript(t, path) {
			now += s.After
			if !comparable(r.version, &s) {
				continue
			}
			r.setClock(now)
			compared++
			if got := s.Shown(r.do(s.Argv...)); got != strings.ReplaceAll(s.Want, "(nil array)", "(nil)") && !explained(differences, r.version, &s) {
				t.Errorf("%s:%d: %s\nRedis %s:\n%s\nwe:\n%s", path, s.Line, s.Text, r.version, got, s.Want)
			}
		}
	}
	t.Logf("compared %d replies with Redis %s", compared, r.version)
	for _, d := range differences {
		if d.version == r.version {
			d.check(t, r)
		}
	}
}

func explained(differences []*difference, version string, s *scripttest.Step) bool {
	for _, d := range differences {
		if d.covers(version, s) {
			d.used = true
			return true
		}
	}
	return false
}

// randomCommands is how many random commands are compared.
const randomCommands = 20_000

// TestFidelityOfRandomCommands feeds the same random commands to both sides.
func TestFidelityOfRandomCommands(t *testing.T) {
	r, ours, now := startRedis(t), newReplica(t), int64(scripttest.Start)
	differences := readDifferences(t)
	r.trimExactly()
	random := rand.New(rand.NewPCG(7, 11))
	for i := range randomCommands {
		if random.IntN(20) == 0 {
			now = passDeadlines(ours, now+random.Int64N(2000))
		}
		r.setClock(now)
		s := randomStep(random)
		if !sameEverywhere(r.version, s) {
			continue
		}
		reply := ours.run(now, s)
		r.makeConsumer(s, reply)
		we := strings.ReplaceAll(s.Shown(comparedInfo(r.version, s, reply)), "(nil array)", "(nil)")
		they := s.Shown(comparedInfo(r.version, s, r.do(s.Argv...)))
		if we != they && !explained(differences, r.version, s) {
			t.Fatalf("command %d: %s\nRedis %s:\n%s\nwe:\n%s", i, s.Text, r.version, they, we)
		}
	}
}

func randomStep(random *rand.Rand) *scripttest.Step {
	s := &scripttest.Step{Argv: commandtest.Random(random), Door: command.RESP, As: acl.Trusted(acl.DefaultName)}
	s.Unordered = !strings.ContainsRune("LZX", rune(s.Argv[0][0])) && !strings.HasPrefix(string(s.Argv[0]), "GEO") // the order of lists and sorted sets matters
	words := make([]string, len(s.Argv))
	for i, w := range s.Argv {
		if words[i] = string(w); words[i] == "" || scripttest.Quote(words[i]) != `"`+words[i]+`"` {
			words[i] = scripttest.Quote(words[i])
		}
	}
	s.Text = strings.Join(words, " ")
	return s
}

var rows = command.NewTable()

// sameEverywhere tells whether a command has one right answer, which that version
// of Redis can give.
func sameEverywhere(version string, s *scripttest.Step) bool {
	if strings.HasPrefix(string(s.Argv[0]), "JSON.") { // a module of its own before 8.0
		return !older(version, "8.0")
	}
	switch string(s.Argv[0]) {
	case "RANDOMKEY", "SCAN", "DBSIZE", "SSCAN", "HSCAN", "ZSCAN", "SPOP", "SRANDMEMBER", "HRANDFIELD", "ZRANDMEMBER":
		return false
	}
	if !sameBits(version, s) || !sameStreams(version, s) {
		return false
	}
	if c := rows.Find(s.Argv); c != nil && (c.Flags&command.Blocking != 0 && c.Waits == nil || older(version, c.Version)) {
		return false
	}
	return !older(version, "8.4") || !strings.Contains(s.Text, " IF")
}

// sameBits is sameEverywhere of bitmaps: old versions don't know some operations, and
// judge the numbers of a range only once they have found the key.
func sameBits(version string, s *scripttest.Step) bool {
	switch name := string(s.Argv[0]); {
	case name == "BITOP" && len(s.Argv) > 1 && (string(s.Argv[1]) == "DIFF" || string(s.Argv[1]) == "ONE"):
		return !older(version, "8.2")
	case (name == "BITCOUNT" || name == "BITPOS") && older(version, "7.2"):
		words, unit := s.Argv[min(2, len(s.Argv)):], 2
		if name == "BITPOS" {
			unit = 3
		}
		for i, word := range words {
			_, number := command.ParseInt(word)
			if i == unit && string(word) != "BIT" && string(word) != "BYTE" || i != unit && !number {
				return false
			}
		}
	}
	return true
}

// passDeadlines moves time on while it stands exactly on a deadline, where old
// versions of Redis still show the key.
func passDeadlines(r *replica, now int64) int64 {
	for {
		due := false
		for i := range 1000 {
			s := scripttest.Step{Argv: [][]byte{[]byte("PTTL"), fmt.Append(nil, "key:", i)}, As: acl.Trusted(acl.DefaultName), Door: command.RESP}
			due = due || r.view(now-1, &s).Int() == 1
		}
		if !due {
			return now
		}
		now++
	}
}

// check runs the row's example on both sides: its last reply, and no other, must
// differ.
func (d *difference) check(t *testing.T, r *realRedis) {
	t.Helper()
	if !d.used {
		t.Errorf("differences.txt:%d: no script shows it", d.line)
	}
	ours, now := newReplica(t), int64(scripttest.Start)
	r.setClock(now)
	r.empty()
	for i := range d.example {
		s := &d.example[i]
		now += s.After
		r.setClock(now)
		we, they := s.Shown(ours.run(now, s)), s.Shown(r.do(s.Argv...))
		last := i == len(d.example)-1
		if (we != they) != last || last && !d.covers(r.version, s) {
			t.Errorf("differences.txt:%d: %s: we answer %s, Redis %s %s", d.line, s.Text, we, r.version, they)
		}
	}
}
