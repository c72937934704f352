package command_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/resp/protocol"
)

// eventEar is a second connection to a real server, which hears its keyspace events.
type eventEar struct {
	r   *realRedis // gives the commands
	sub *realRedis
}

func startEar(t *testing.T) *eventEar {
	t.Helper()
	r := startRedis(t)
	ear := &eventEar{r: r, sub: r.another()}
	for _, pattern := range []string{"__keyevent@0__:*", "mark"} {
		if v := ear.sub.do([]byte("PSUBSCRIBE"), []byte(pattern)); v.IsError() {
			t.Fatal(v.Text())
		}
	}
	return ear
}

// reset empties the server and turns events of the classes on.
func (ee *eventEar) reset(classes string) {
	ee.r.do([]byte("FLUSHALL"))
	ee.r.do([]byte("CONFIG"), []byte("SET"), []byte("notify-keyspace-events"), []byte(classes))
	ee.since()
}

// since returns the server's notifications since the last call: "name key" of each event.
func (ee *eventEar) since() (events []string) {
	ee.r.t.Helper()
	ee.r.do([]byte("PUBLISH"), []byte("mark"), nil)
	for {
		v, err := protocol.ReadReply(ee.sub.in)
		if err != nil {
			ee.r.t.Fatal(err)
		}
		to := v.Elems()[2].Text()
		if to == "mark" {
			return events
		}
		events = append(events, strings.TrimPrefix(to, "__keyevent@0__:")+" "+v.Elems()[3].Text())
	}
}

// timeless are the events without those of keys that time removes: when Redis looks for
// them is its own affair. They are counted in gone.
func timeless(events []string, gone map[string]int, by int) []string {
	return slices.DeleteFunc(slices.Clone(events), func(e string) bool {
		if strings.HasPrefix(e, "expired ") {
			gone[e] += by
			return true
		}
		return false
	})
}

// changes are the events without misses: how far a refused command has looked is its own
// affair.
func changes(events []string) []string {
	return slices.DeleteFunc(events, func(e string) bool { return strings.HasPrefix(e, "keymiss ") })
}

// settle moves both sides to a time, and has them remove what has expired until then. Between commands none may be left: when
// Redis finds it by itself depends on how busy the machine is, and a command that replaces a key without a look at it
// (FLUSHALL, RESTORE, a STORE of nothing) tells no expiry of one that was not found before.
func (ee *eventEar) settle(now int64, ours *replica, events *[]string, gone map[string]int) {
	ee.r.setClock(now)
	for more := true; more; {
		s := scripttest.Step{Origin: command.RESP, As: trusted}
		ours.apply(now, &s, fsm.Single, line("PING"))
		more = len(*events) > 0
		ee.follow(now, *events, gone)
		timeless(*events, gone, 1)
		*events = nil
	}
}

// follow has the server find what has expired here, also in the entry of a command that stored a key past its deadline.
func (ee *eventEar) follow(now int64, events []string, gone map[string]int) {
	found := false
	for _, e := range events {
		if key, expired := strings.CutPrefix(e, "expired "); expired {
			found = true
			ee.remove(now, key, gone)
		}
	}
	if found {
		timeless(ee.since(), gone, -1)
	}
}

// remove has the server find that a key has expired. An old one keeps it for the millisecond of its deadline, and loses it here.
func (ee *eventEar) remove(now int64, key string, gone map[string]int) {
	if ee.r.do([]byte("TOUCH"), []byte(key)).Int() == 0 {
		return
	}
	if at := ee.r.do([]byte("PEXPIRETIME"), []byte(key)).Int(); at == now {
		ee.r.do([]byte("DEL"), []byte(key))
		gone["expired "+key]--
	}
}

// TestFidelityOfEvents runs every script, those of the events too, on a real server and
// here, and compares the keyspace events of every command.
func TestFidelityOfEvents(t *testing.T) {
	ear, differences := startEar(t), readDifferences(t)
	paths := eventFiles(t)
	for _, path := range scriptFiles(t) {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	compared := 0
	for _, path := range paths {
		ours, now, gone := newReplica(t), int64(scripttest.Start), map[string]int{}
		ear.r.setClock(now)
		ear.reset("EAmn")
		events := ours.listen("EAmn")
		for _, s := range readScript(t, path) {
			now += s.After
			if !comparable(ear.r.version, &s) || !known(ear.r.version, &s) {
				continue
			}
			ear.settle(now, ours, events, gone)
			v := ours.apply(now, &s, fsm.Single, s.Argv)[0]
			ear.r.makeConsumer(&s, v)
			theirs := ear.r.do(s.Argv...)
			we, they := timeless(*events, gone, 1), timeless(ear.since(), gone, -1)
			ear.follow(now, *events, gone)
			*events = nil
			if v.IsError() {
				we, they = changes(we), changes(they)
			}
			if compared++; !slices.Equal(we, they) && !explained(differences, ear.r.version, &s) {
				t.Errorf("%s:%d: %s: %s\nRedis %s: %s\n%s\nwe:\n%s", path, s.Line, s.Text, scripttest.Print(v), ear.r.version, scripttest.Print(theirs), strings.Join(they, "\n"), strings.Join(we, "\n"))
			}
		}
	}
	t.Logf("compared the events of %d commands", compared)
}

// known reports whether a real server of the version knows the step's command.
func known(version string, s *scripttest.Step) bool {
	c := rows.Find(s.Argv)
	switch {
	case c == nil || c.Group() == "json" && older(version, "8.0"):
		return false
	case c.Name == "config set" || c.Flags&(command.NoMulti|command.Blocking) == command.NoMulti:
		return false
	}
	return !older(version, c.Version)
}

// TestFidelityOfRandomEvents compares the events of random commands, of scripts and of what is
// around commands too.
func TestFidelityOfRandomEvents(t *testing.T) {
	ear, ours, now := startEar(t), newReplica(t), int64(scripttest.Start)
	c := &comparison{t: t, r: ear.r, origin: "none", differences: readDifferences(t)}
	gone := map[string]int{}
	ear.r.setClock(now)
	ear.reset("EAmn")
	ear.r.trimExactly()
	ours.run(now, stepOf(inWords(exactTrims)))
	events := ours.listen("EAmn")
	random := rand.New(rand.NewPCG(*fidelitySeed, 5))
	n := randomCommands
	if *fidelityCommands > 0 {
		n = *fidelityCommands
	}
	for i := 0; c.compared < n && c.told < tooMany; i++ {
		if random.IntN(20) == 0 {
			now = passDeadlines(ours.m, now+random.Int64N(2000))
		}
		ear.settle(now, ours, events, gone)
		s := c.draw(random)
		if s == nil || command.EqualFold(s.Argv[0], "CONFIG") { // which turns events off
			continue
		}
		c.compared++
		v := ours.apply(now, s, fsm.Single, s.Argv)[0]
		ear.r.makeConsumer(s, v)
		theirs := ear.r.do(s.Argv...)
		we, they := timeless(*events, gone, 1), timeless(ear.since(), gone, -1)
		ear.follow(now, *events, gone)
		*events = nil
		if v.IsError() {
			we, they = changes(we), changes(they)
		}
		if !slices.Equal(we, they) && !explained(c.differences, ear.r.version, s) {
			c.tell(i, s.Text, scripttest.Print(theirs)+"\n"+strings.Join(they, "\n"), scripttest.Print(v)+"\n"+strings.Join(we, "\n"))
		}
	}
	ear.settle(passDeadlines(ours.m, now+1), ours, events, gone) // also what was too late when it was stored
	for e, n := range gone {
		if n != 0 {
			t.Errorf("%s: told %d times more here", e, n)
		}
	}
	t.Logf("seed %d: compared the events of %d random commands", *fidelitySeed, c.compared)
}
