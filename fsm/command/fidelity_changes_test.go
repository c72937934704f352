package command_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var unsavedChanges = regexp.MustCompile(`rdb_changes_since_last_save:(\d+)`)

// otherCounts are commands of which Redis may count more changes, how many, and why.
var otherCounts = map[string]struct {
	more   int
	reason string
}{
	"xclaim": {1, "counts a consumer that it makes"}, "xautoclaim": {1, "counts a consumer that it makes"},
	"flushall": {2, "counts keys past their deadline, which have been removed here"}, "swapdb": {1, "there is one database, so nothing is swapped"},
}

// TestFidelityOfChangeCounts runs every script on both sides and compares as how many changes since the last save each command
// counts.
func TestFidelityOfChangeCounts(t *testing.T) {
	r, differences := startRedis(t), readDifferences(t)
	compared, commands := 0, map[string]bool{}
	for _, path := range scriptFiles(t) {
		ours, now := newReplica(t), int64(scripttest.Start)
		ours.m.SetHost(&command.Host{})
		r.setClock(now)
		r.empty()
		info := stepOf(inWords("INFO persistence"))
		count := func(v reply.Value) int {
			n, err := strconv.Atoi(unsavedChanges.FindStringSubmatch(v.Text())[1])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		for _, s := range readScript(t, path) {
			now += s.After
			if !comparable(r.version, &s) || !known(r.version, &s) {
				continue
			}
			r.setClock(now)
			row := rows.Find(s.Argv)
			before, theirsBefore := count(ours.run(now, info)), count(r.do(info.Argv...))
			v := ours.run(now, &s)
			theirs := r.do(s.Argv...)
			we, they := count(ours.run(now, info))-before, count(r.do(info.Argv...))-theirsBefore
			if row.Flags&command.Write == 0 || s.Shown(v) != s.Shown(theirs) || explained(differences, r.version, &s) {
				continue
			}
			compared++
			commands[row.Name] = true
			if other := otherCounts[row.Name]; we != they && (other.more == 0 || they-we != other.more) {
				t.Errorf("%s:%d: %s: %s: %d changes, Redis %s: %d", path, s.Line, s.Text, strings.ReplaceAll(scripttest.Print(v), "\n", " "), we, r.version, they)
			}
		}
	}
	t.Logf("compared the changes of %d calls of %d commands", compared, len(commands))
}
