package command_test

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// sameStreams is sameEverywhere of streams: old versions don't know what becomes of
// references nor the last entry as a place to read from, and let the last ID go below a deleted one.
func sameStreams(version string, s *scripttest.Step) bool {
	switch name := string(s.Argv[0]); {
	case name == "XSETID":
		return !older(version, "7.2") || len(s.Argv) < 3 || string(s.Argv[2]) == "99999999999999-0"
	case strings.HasPrefix(name, "XREAD") && strings.HasSuffix(s.Text, " +"):
		return !older(version, "7.4")
	}
	text := strings.ToUpper(s.Text)
	return !older(version, "8.2") || text[0] != 'X' || !strings.Contains(text, " DELREF") && !strings.Contains(text, " ACKED")
}

// trimExactly gives every entry a node of its own: then approximate trimming is exact
// there too.
func (r *realRedis) trimExactly() { r.do(inWords(exactTrims)...) }

const exactTrims = "CONFIG SET stream-node-max-entries 1"

// makeConsumer makes the consumer that a step names on a server which, before 7.2, made
// it only if it was given something.
func (r *realRedis) makeConsumer(s *scripttest.Step, we reply.Value) {
	if !older(r.version, "7.2") || we.IsError() {
		return
	}
	switch string(s.Argv[0]) {
	case "XCLAIM", "XAUTOCLAIM":
		r.do([]byte("XGROUP"), []byte("CREATECONSUMER"), s.Argv[1], s.Argv[2], s.Argv[3])
	case "XREADGROUP":
		for _, i := range rows.Find(s.Argv).Keys.Positions(s.Argv) {
			r.do([]byte("XGROUP"), []byte("CREATECONSUMER"), s.Argv[i], s.Argv[2], s.Argv[3])
		}
	}
}

// comparedInfo is the reply of XINFO without what a version has other rules for: the
// nodes of its trees, before 7.2 the times of consumers, and before 7.4 the progress of
// groups, which it got wrong where a stream was trimmed or a count was set by hand.
func comparedInfo(version string, s *scripttest.Step, v reply.Value) reply.Value {
	if strings.EqualFold(string(s.Argv[0]), "COMMAND") {
		return withoutOwnCategory(v)
	}
	if string(s.Argv[0]) != "XINFO" {
		return v
	}
	left := []string{"radix-tree-keys", "radix-tree-nodes"}
	if older(version, "7.2") {
		left = append(left, "idle", "inactive", "seen-time", "active-time")
	}
	if older(version, "7.4") {
		left = append(left, "entries-read", "lag")
	}
	return without(v, left)
}

// withoutOwnCategory is v without the category that the Read Only token opens, which a real server does not have. Over HTTP
// its name is a bulk string.
func withoutOwnCategory(v reply.Value) reply.Value {
	if v.Kind() != reply.KindArray && v.Kind() != reply.KindSet {
		return v
	}
	var kept []reply.Value
	for _, e := range v.Elems() {
		if e.Kind() != reply.KindStatus && e.Kind() != reply.KindBulk || e.Text() != "@readonly" {
			kept = append(kept, withoutOwnCategory(e))
		}
	}
	if v.Kind() == reply.KindSet {
		return reply.Set(kept...)
	}
	return reply.Array(kept...)
}

// without is v with the pairs of these names taken out of its maps, which RESP2 has as
// arrays.
func without(v reply.Value, names []string) reply.Value {
	if v.Kind() != reply.KindMap && v.Kind() != reply.KindArray {
		return v
	}
	var kept []reply.Value
	elems := v.Elems()
	for i := 0; i < len(elems); i++ {
		if i%2 == 0 && elems[i].Kind() == reply.KindBulk && slices.Contains(names, elems[i].Text()) {
			i++
			continue
		}
		kept = append(kept, without(elems[i], names))
	}
	if v.Kind() == reply.KindMap {
		return reply.Map(kept...)
	}
	return reply.Array(kept...)
}
