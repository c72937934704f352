package command_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// ofNodes are commands whose replies are about the node, its clients or its version, or
// about an order that a real server has by chance, as patterns of their words.
var ofNodes = []string{
	"INFO", "LASTSAVE", "ROLE", "LOLWUT", "WAIT", "MEMORY", "CLUSTER", "SLOWLOG", "LATENCY", "DEBUG",
	"COMMAND COUNT", "COMMAND HELP", "ACL GENPASS", "ACL LIST", "ACL USERS", "ACL HELP", "CLIENT HELP", "FUNCTION LIST", "FUNCTION STATS", "FUNCTION DUMP", "CONFIG HELP",
}

// sameAround reports whether a real server can be asked what is not about keys through the
// origin.
func sameAround(origin string, s *scripttest.Step) bool {
	text := strings.ToUpper(s.Text) + " "
	for _, head := range ofNodes {
		if strings.HasPrefix(text, head+" ") && !strings.Contains(text, "LIBRARYNAME") {
			return false
		}
	}
	if text == "COMMAND " || text == "COMMAND INFO " || text == "ACL CAT " {
		return false
	}
	if strings.HasPrefix(text, "COMMAND GETKEYS") && len(s.Argv) < 4 {
		return false // a word too few before 7.2, and many errors since
	}
	if strings.HasPrefix(text, "COMMAND GETKEYSANDFLAGS") && countless(s.Argv[2:]) {
		return false // an old server forgets what is done with keys whose count is no number
	}
	if strings.HasPrefix(text, "OBJECT ENCODING ") && !setWhole.MatchString(text) {
		return false // how a value was made is not told: see OBJECT ENCODING in differences.txt
	}
	row := rows.Find(s.Argv)
	connection := row != nil && (row.Group() == "connection" || row.Group() == "transactions") || strings.HasPrefix(text, "CLIENT ")
	return !connection || origin == "resp" || string(s.Argv[0]) == "ECHO" || string(s.Argv[0]) == "PING"
}

// setWhole are questions for the encoding of keys that random commands never change in place.
var setWhole = regexp.MustCompile("^OBJECT ENCODING (WHOLE|E[HZS]):[0-9]+ $")

// countless reports whether a command that counts its keys has no number where it does.
func countless(argv [][]byte) bool {
	row := rows.Find(argv)
	if row == nil || row.Keys.Find == nil {
		return false
	}
	for _, word := range argv[1:min(3, len(argv))] {
		if _, ok := command.ParseInt(word); ok {
			return false
		}
	}
	return true
}

// comparedAround is a reply without what only rows of differences.txt compare: functions
// have no order in a real server, before 7.2 it tells rules in words of its own, and over HTTP
// no selectors are not told.
func comparedAround(s *scripttest.Step, v reply.Value) reply.Value {
	text := strings.ToUpper(s.Text)
	switch {
	case strings.HasPrefix(text, "FUNCTION LIST"):
		return inOrder(v)
	case strings.HasPrefix(text, "ACL GETUSER"):
		left := []string{"commands"} // ACL DRYRUN tells what they do
		if s.Origin == command.OriginHTTP && unselective(v) {
			left = append(left, "selectors")
		}
		return without(lacking(v, "sanitize-payload", "skip-sanitize-payload"), left)
	}
	return v
}

// unselective reports whether a user, as ACL GETUSER tells of it, has no selectors.
func unselective(user reply.Value) bool {
	about := user.Elems()
	for i := 0; i+1 < len(about); i += 2 {
		if about[i].Text() == "selectors" {
			return len(about[i+1].Elems()) == 0
		}
	}
	return false
}

// inOrder is v with the elements of every array in the order of what they print as.
func inOrder(v reply.Value) reply.Value {
	elems := slices.Clone(v.Elems())
	for i := range elems {
		elems[i] = inOrder(elems[i])
	}
	switch v.Kind() {
	case reply.KindArray:
		slices.SortFunc(elems, func(a, b reply.Value) int { return strings.Compare(scripttest.Print(a), scripttest.Print(b)) })
		return reply.Array(elems...)
	case reply.KindMap:
		return reply.Map(elems...)
	}
	return v
}

// lacking is v without these texts, wherever they stand.
func lacking(v reply.Value, texts ...string) reply.Value {
	var kept []reply.Value
	for _, e := range v.Elems() {
		if e.Kind() != reply.KindBulk && e.Kind() != reply.KindStatus || !slices.Contains(texts, e.Text()) {
			kept = append(kept, lacking(e, texts...))
		}
	}
	switch v.Kind() {
	case reply.KindArray:
		return reply.Array(kept...)
	case reply.KindSet:
		return reply.Set(kept...)
	case reply.KindMap:
		return reply.Map(kept...)
	}
	return v
}

// sameWithin is sameEverywhere of a command within another one. A script's reply hides
// what is left out of the replies of some, and an old server makes no consumers there.
func sameWithin(version string, s *scripttest.Step) bool {
	row := rows.Find(s.Argv)
	if row == nil || !sameEverywhere(version, s) || row.Flags&command.Blocking != 0 {
		return false
	}
	switch strings.ToUpper(string(s.Argv[0])) {
	case "XINFO", "DUMP", "XCLAIM", "XAUTOCLAIM", "XREADGROUP", "TIME", "PFDEBUG":
		return false
	}
	return true
}

// TestFidelityOfCommandTable compares what the entry of every command that both have says of its words and keys and of the
// rights that it takes.
func TestFidelityOfCommandTable(t *testing.T) {
	r := startRedis(t)
	us := openRESP(t)
	r.do([]byte("HELLO"), []byte("3"))
	judged := func(v reply.Value) string {
		entry := v.Elems()[0].Elems()
		entry[6] = withoutOwnCategory(entry[6])
		one := stepOf(inWords("COMMAND INFO"))
		return one.Shown(reply.Array(entry[0], entry[1], entry[3], entry[4], entry[5], entry[6]))
	}
	compared := 0
	for _, name := range r.do([]byte("COMMAND"), []byte("LIST")).Elems() {
		s := stepOf([][]byte{[]byte("COMMAND"), []byte("INFO"), []byte(name.Text())})
		v := us.run(int64(scripttest.Start), s)
		if len(v.Elems()) != 1 || len(v.Elems()[0].Elems()) == 0 || older(r.version, "7.2") && otherEntry[name.Text()] != "" {
			continue
		}
		compared++
		if we, they := judged(v), judged(r.do(s.Argv...)); we != they {
			t.Errorf("%s\nRedis %s:\n%s\nwe:\n%s", s.Text, r.version, they, we)
		}
	}
	if compared < 200 {
		t.Errorf("compared only %d commands", compared)
	}
}

// otherEntry are commands whose entry of 7.0 is another on purpose, with the reason.
var otherEntry = map[string]string{
	"wait": "is @blocking since 7.2", "command|getkeys": since72, "command|getkeysandflags": since72, "zrank": since72, "zrevrank": since72,
}

const since72 = "more words are taken since 7.2"
