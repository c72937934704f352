package command_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// difference is a place where we differ from one version of Redis on purpose.
type difference struct {
	line    int
	command string // the one command it covers
	args    string // pattern of the words behind it
	version string // of the Redis that differs, such as 7.0
	reason  string
	example []scripttest.Step // the last one differs
	// ours and theirs are the example's last replies, once it has run.
	ours, theirs *reply.Value
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
			if !strings.HasPrefix(l, "advance ") && !strings.HasPrefix(l, "origin ") {
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

// overHTTP reports whether the row's difference shows over HTTP only.
func (d *difference) overHTTP() bool { return d.example[len(d.example)-1].Origin == command.OriginHTTP }

// covers reports whether the row explains a difference of the step. {1} in its pattern is
// the first word behind the command; subcommands are compared in upper case.
func (d *difference) covers(version string, s *scripttest.Step) bool {
	name, args, _ := strings.Cut(s.Text, " ")
	first, _, _ := strings.Cut(args, " ")
	if row := rows.Find(s.Argv); row != nil && strings.Contains(row.Name, " ") {
		args = strings.ToUpper(first) + args[len(first):]
	}
	return strings.EqualFold(name, d.command) && d.version == version && (!d.overHTTP() || s.Origin == command.OriginHTTP) && glob.Match(strings.ReplaceAll(d.args, "{1}", first), args)
}

// coversReplies is covers of a step that was answered: an error, on either side, must be
// the one of the example, as far as the words in it go.
func (d *difference) coversReplies(version string, s *scripttest.Step, ours, theirs reply.Value) bool {
	return d.covers(version, s) && d.ours != nil && alike(*d.ours, ours) && alike(*d.theirs, theirs)
}

// varying matches the parts of an error that repeat the command.
var varying = regexp.MustCompile(`'.*'|[0-9a-f]{40}|-?[0-9]+`)

func alike(example, v reply.Value) bool {
	if !example.IsError() {
		return true
	}
	return v.IsError() && varying.ReplaceAllString(v.Text(), "#") == varying.ReplaceAllString(example.Text(), "#")
}

// prove runs the examples of the version's rows, so that they can be compared with.
func prove(t *testing.T, r *realRedis, all []*difference) {
	t.Helper()
	for _, d := range all {
		if d.version == r.version {
			d.check(t, r)
		}
	}
}

// older reports whether version a is older than b. What is not of Redis is younger than every version.
func older(a, b string) bool {
	if b == "extension" {
		return true
	}
	number := func(v string) (n int) {
		major, minor, _ := strings.Cut(v, ".")
		minor, _, _ = strings.Cut(minor, ".")
		x, _ := strconv.Atoi(major) // absent counts as 0
		y, _ := strconv.Atoi(minor)
		return 1000*x + y
	}
	return number(a) < number(b)
}

// comparable reports whether a real server of the version can be asked the step.
func comparable(version string, s *scripttest.Step) bool {
	return s.As == acl.Trusted(acl.DefaultName) && s.Origin == command.RESP && !older(version, s.Redis)
}

// TestFidelity runs every script against a real redis-server with a clock of ours,
// and compares the replies. What differs must be explained by a row of
// differences.txt, and every row must still show its difference. Commands that the server
// does not know are left out, and so is the rest of a script after such a write.
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
			if row := rows.Find(s.Argv); row != nil && older(r.version, row.Version) {
				if row.Flags&command.Write != 0 {
					break // the keys are not the same any more
				}
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
	prove(t, r, differences)
}

func explained(differences []*difference, version string, s *scripttest.Step) bool {
	for _, d := range differences {
		if d.covers(version, s) {
			return true
		}
	}
	return false
}

var rows = command.NewTable()

// sameEverywhere reports whether a command has one right answer, which that version
// of Redis can give.
func sameEverywhere(version string, s *scripttest.Step) bool {
	if strings.HasPrefix(string(s.Argv[0]), "JSON.") { // a module of its own before 8.0
		return !older(version, "8.0")
	}
	if command.EqualFold(s.Argv[0], "OBJECT") && len(s.Argv) > 2 && command.EqualFold(s.Argv[1], "REFCOUNT") {
		return false // a copy of a small number is not shared in a real server's memory
	}
	switch string(s.Argv[0]) {
	case "RANDOMKEY", "SCAN", "DBSIZE", "SSCAN", "HSCAN", "ZSCAN", "SPOP", "SRANDMEMBER", "HRANDFIELD", "ZRANDMEMBER":
		return false
	}
	if !sameBits(version, s) || !sameStreams(version, s) || cutSubcommand(s) {
		return false
	}
	if c := rows.Find(s.Argv); c != nil && (c.Flags&command.Blocking != 0 && c.Waits == nil || older(version, c.Version)) {
		return false
	}
	return !older(version, "8.4") || !strings.Contains(strings.ToUpper(s.Text), " IF")
}

// cutSubcommand reports whether the name of a subcommand holds a zero byte. Redis finds it by a
// hash of all its bytes, whose seed is random, but compares it as a C string, up to the zero:
// CONFIG "get\x00" is CONFIG GET whenever both happen to be in one bucket.
func cutSubcommand(s *scripttest.Step) bool {
	if len(s.Argv) < 2 || bytes.IndexByte(s.Argv[1], 0) < 0 {
		return false
	}
	container := strings.ToLower(string(s.Argv[0])) + " "
	return slices.ContainsFunc(rows.Rows(), func(c *command.Command) bool { return strings.HasPrefix(c.Name, container) })
}

// sameBits is sameEverywhere of bitmaps: old versions don't know some operations, and
// judge the numbers of a range only once they have found the key.
func sameBits(version string, s *scripttest.Step) bool {
	switch name := string(s.Argv[0]); {
	case name == "BITOP" && len(s.Argv) > 1 && (command.EqualFold(s.Argv[1], "DIFF") || command.EqualFold(s.Argv[1], "ONE")):
		return !older(version, "8.2")
	case (name == "BITCOUNT" || name == "BITPOS") && older(version, "7.2"):
		words, unit := s.Argv[min(2, len(s.Argv)):], 2
		if name == "BITPOS" {
			unit = 3
		}
		if len(words) > unit+1 || name == "BITCOUNT" && len(words) == 1 {
			return false
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
func passDeadlines(m *fsm.Machine, now int64) int64 {
	deadlines := map[int64]bool{}
	m.View(now-1, [16]byte{}, func(v *fsm.View) {
		as := acl.Trusted(acl.DefaultName)
		for _, key := range v.Exec(as, command.RESP, inWords("KEYS *")).Elems() {
			deadlines[v.Exec(as, command.RESP, [][]byte{[]byte("PEXPIRETIME"), []byte(key.Text())}).Int()] = true
		}
	})
	for deadlines[now] {
		now++
	}
	return now
}

// check runs the row's example on both sides: its last reply, and no other, must
// differ.
func (d *difference) check(t *testing.T, r *realRedis) {
	t.Helper()
	ours, now := newReplica(t), int64(scripttest.Start)
	r.setClock(now)
	r.empty()
	for i := range d.example {
		s := &d.example[i]
		now += s.After
		r.setClock(now)
		v, theirs := ours.run(now, s), r.do(s.Argv...)
		we, they := s.Shown(v), s.Shown(theirs)
		last := i == len(d.example)-1
		if (we != they) != last || last && !d.covers(r.version, s) {
			t.Errorf("differences.txt:%d: %s: we answer %s, Redis %s %s", d.line, s.Text, we, r.version, they)
		}
		d.ours, d.theirs = &v, &theirs
	}
}
