package command_test

import (
	"slices"
	"strings"

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
	row := rows.Find(s.Argv)
	connection := row != nil && (row.Group == "connection" || row.Group == "transactions") || strings.HasPrefix(text, "CLIENT ")
	return !connection || origin == "resp" || string(s.Argv[0]) == "ECHO" || string(s.Argv[0]) == "PING"
}

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
